import Cambium
import Simulation

/// Measures the steps of a compaction.
struct CompactionSteps {
  let directory: String
  let operations: Int
  let archives: Bool

  private static let operationsEach = 100
  private static let nodes = 200_000

  /// Fills a database, compacts it while an application writes, and prints a table.
  func measure() throws {
    let times = StepTimes()
    var options = Database.Options()
    options.stepTook = { times.add("step: \($0)", $1) }
    let database = try Database(at: "\(directory)/steps.cambium", options: options)
    try fill(database)
    let head = try database.head
    let (compaction, seconds) = try times.measure(beside: database) {
      try database.compact(upTo: SequenceNumber(head.rawValue - 100), archives: archives)
    }
    System.tell("\(compaction.transactions) transactions of \(operations) operations dropped")
    System.tell("in \(Int(seconds * 1000)) ms")
    times.report()
    try database.close()
  }

  /// Sets nodes in random order, so that most operations leave history; some subtrees go.
  private func fill(_ database: Database) throws {
    var random = SeededGenerator(seed: 3)
    for number in 0..<(operations / CompactionSteps.operationsEach) {
      try database.write { tx in
        for _ in 0..<CompactionSteps.operationsEach {
          let key = random.below(CompactionSteps.nodes)
          let path = NodePath(keys: ["n", .integer(Int64(key % 500)), .integer(Int64(key))])
          try tx.set(path, to: ["number": .integer(Int64(key)), "name": .string("node \(key)")])
        }
        if number % 20 == 19 {
          try tx.remove(NodePath(keys: ["n", .integer(Int64(random.below(500)))]))
        }
      }
    }
  }
}
