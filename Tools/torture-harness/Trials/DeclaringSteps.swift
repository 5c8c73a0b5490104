import Cambium
import Simulation

/// Measures the steps in which indexes and a view are filled, and those in which they are emptied.
struct DeclaringSteps {
  let directory: String
  let records: Int

  private static let recordsEach = 1_000

  /// Fills a database, declares what it has while an application writes, and prints a table.
  func measure() throws {
    let times = StepTimes()
    var options = Database.Options()
    options.stepTook = { times.add("step: \($0)", $1) }
    let database = try Database(at: "\(directory)/steps.cambium", options: options)
    try fill(database)
    try declare("two indexes, one of them unique", database, times) {
      var unique = IndexDefinition([.init("number")])
      unique.isUnique = true
      $0.indexes = [unique, IndexDefinition([.init("name"), .init("group")])]
    }
    try declare("a view of counts and sums", database, times) {
      $0.views = [ViewDefinition(.groups(by: ["group"], [.count, .sum("number")]))]
    }
    try declare("nothing any more", database, times) {
      ($0.indexes, $0.views) = ([], [])
    }
    try database.finishIndexBuilds()
    times.report()
    try database.close()
  }

  private func declare(
    _ what: String, _ database: Database, _ times: StepTimes,
    _ change: (inout CollectionDefinition) -> Void
  ) throws {
    var definition = try database.read { try $0.definition(of: "things") } ?? .init()
    change(&definition)
    let (_, seconds) = try times.measure(beside: database) {
      try database.declare("things", definition)
    }
    System.tell("\(what): declared in \(Int(seconds * 1000)) ms, of \(records) records")
  }

  private func fill(_ database: Database) throws {
    var random = SeededGenerator(seed: 3)
    for start in stride(from: 0, to: records, by: DeclaringSteps.recordsEach) {
      try database.write { tx in
        for number in start..<min(start + DeclaringSteps.recordsEach, records) {
          try tx.set(
            NodePath(keys: ["things", .integer(Int64(number))]),
            to: [
              "number": .integer(Int64(number)), "group": .integer(Int64(random.below(1000))),
              "name": .string("name \(random.below(100_000))"),
            ])
        }
      }
    }
  }
}
