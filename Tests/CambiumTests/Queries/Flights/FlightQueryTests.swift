// Goal: the same answers as SQLite, now and as of any moment.
// Method: a week of nycflights13 is written as five related models, and changed ten times at
// random. As of each moment the nodes are exported into tables of SQLite, one by one; each question
// is asked of SQLite, and of Cambium in its query language and in Swift.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A week of flights", .timeLimit(.minutes(15)))
struct FlightQueryTests {
  @Test(
    "answers each question as SQLite does, now and as of ten past moments",
    arguments: SeededGenerator.seeds(1))
  func sameAnswers(seed: UInt64) throws {
    try withDatabase { database in
      try FlightTables.load(database)
      var moments = [try database.head]
      var random = SeededGenerator(seed: seed)
      for _ in 0..<10 {
        try change(database, &random)
        moments.append(try database.head)
      }
      for moment in moments {
        try compare(try database.snapshot(at: .sequence(moment)), "seed \(seed), moment \(moment)")
      }
    }
  }

  private func compare(_ snapshot: Snapshot, _ place: String) throws {
    let sqlite = try FlightTables.export(snapshot)
    for question in FlightQuestions.all {
      let isOrdered = question.isOrdered
      let expected = Self.inOrder(try sqlite.rows(question.sql), isOrdered)
      #expect(!expected.isEmpty, "\(question.query) finds nothing, so that it proves little")
      let answers = [
        "as text": try answer(question.query, snapshot), "in Swift": try question.typed(snapshot),
      ]
      for (face, found) in answers {
        #expect(
          Self.areSame(Self.inOrder(found, isOrdered), expected),
          """
          \(place): \(question.query), \(face)
          found \(found.prefix(5))
          SQLite \(expected.prefix(5))
          """)
      }
    }
  }

  private func answer(_ text: String, _ snapshot: Snapshot) throws -> [[Value]] {
    let query = try QueryDescription(parsing: text)
    let results = try QueryRun(query, on: snapshot)
    if query.outcome == .count { return [[.integer(Int64(try results.count()))]] }
    var rows: [[Value]] = []
    try results.visit { rows.append($0) }
    return rows
  }

  // MARK: Comparing

  private static func areSame(_ a: [[Value]], _ b: [[Value]]) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy { row, other in
        row.count == other.count && zip(row, other).allSatisfy(areSame)
      }
  }

  /// Sums of doubles may differ in their last digits: SQLite's are not exact.
  private static func areSame(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.double(let a), .double(let b)): abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)
    case (.date(let a), .integer(let b)): a.microseconds == b
    default: a == b
    }
  }

  /// Sets are compared by their rows in any order that is always the same.
  private static func inOrder(_ rows: [[Value]], _ isOrdered: Bool) -> [[Value]] {
    if isOrdered { return rows }
    let keyed = rows.map { row in
      (row, (try? row.flatMap { try OrderedBytes.of($0) }) ?? [])
    }
    return keyed.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }

  // MARK: Changing

  /// A transaction of changes of all kinds.
  private func change(_ database: Database, _ random: inout SeededGenerator) throws {
    let seed = random.next()
    try database.write { tx in
      var random = SeededGenerator(seed: seed)
      for _ in 0..<60 { try change(tx, &random) }
    }
  }

  private func change(_ tx: borrowing Database.Transaction, _ random: inout SeededGenerator) throws
  {
    let path = NodePath(keys: ["flights", .integer(Int64(random.below(3200) + 1))])
    switch random.below(12) {
    case 0...3:
      let delay: Value? = random.oneIn(5) ? nil : .integer(Int64(random.below(200)) - 20)
      try? tx.update(path, [(random.oneIn(2) ? "dep_delay" : "arr_delay", delay)])
    case 4: try? tx.increment(path, "distance", by: .integer(Int64(random.below(100))))
    case 5, 6: _ = try tx.remove(path)
    case 7:
      let other = NodePath(keys: ["flights", .integer(Int64(random.below(3000) + 1))])
      if let value = try tx[other].value { try tx.set(path, to: value) }
    case 8:
      let carriers: [Value] = ["UA", "AA", "XX", "9E"]
      try? tx.update(path, [("carrier", carriers[random.below(4)])])
    case 9:
      let airports: [NodePath] = ["airports/JFK", "airports/ORD", "airports/LAX"]
      try? tx.update(airports[random.below(3)], [("name", .string("John \(random.below(9))"))])
    case 10: try? tx.update("airports/MDW", [("name", random.oneIn(2) ? "Chicago II" : nil)])
    default:
      let planes = ["planes/N14228", "planes/N24211", "planes/N619AA"] as [NodePath]
      try? tx.update(planes[random.below(3)], [("seats", .integer(Int64(random.below(500))))])
    }
  }
}
