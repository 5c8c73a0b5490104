import Cambium

/// Measures what the past costs: who set a value, a record's history, and a query of a moment that
/// has an index.
///
/// One record has *count* versions, each of which changes one of ten properties: the first the most
/// often, the last never. SQLite keeps the same changes in a table with the key it needs for each
/// question, as apps do that want to know.
struct PastSuite {
  private static let contenders = ["Cambium", "SQLite"]
  private static let propertyCount = 10

  private let count: Int
  private let rounds: Int
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    count = options.isSmoke ? 300 : options.count ?? 10_000
    rounds = options.isSmoke ? 1 : options.rounds ?? 5
    self.workspace = workspace
  }

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let own = try CambiumPast(directory + "/past.cambium")
    let peer = try SQLitePast(directory + "/past.sqlite")
    try own.load(PastSuite.changes(count))
    try peer.load(PastSuite.changes(count))
    var times = Measurements()
    for round in 0..<rounds {
      for index in 0..<2 {
        if (round + index) % 2 == 0 {
          try measure(own, "Cambium", &times)
        } else {
          try measure(peer, "SQLite", &times)
        }
      }
    }
    var table = Table(["\(count) versions, µs"] + PastSuite.contenders + ["digest"])
    for row in times.rows {
      table.add(
        [row.name] + PastSuite.contenders.map { row.median(of: $0).map(digits) ?? "–" } + [
          row.verdict
        ])
    }
    print(table.text)
    print("")
    try own.close()
    if !times.rows.allSatisfy(\.agrees) { throw BenchmarkError("the contenders disagree") }
    try PastQueries(count: count * 10, rounds: rounds, workspace).run()
  }

  /// The property that each version changes: the next one half as often as the one before, and the
  /// last never.
  private static func changes(_ count: Int) -> [Int] {
    (1...count).map { min($0.trailingZeroBitCount, propertyCount - 2) }
  }

  private func measure(
    _ contender: some PastContender, _ name: String, _ times: inout Measurements
  ) throws {
    var random = SeededGenerator(seed: 5)
    let moments = (0..<200).map { _ in 2 + random.next(below: count) }
    func add(_ row: String, per units: Int, _ body: (inout Digest) throws -> Void) throws {
      var digest = Digest()
      let (seconds, _) = try timed { try body(&digest) }
      times.add(seconds / Double(units) * 1e6, digest: digest, to: row, of: name)
    }
    try add("who set it: a property, now", per: 200 * PastSuite.propertyCount) { digest in
      for _ in 0..<200 { try contender.blame(at: count + 1, &digest) }
    }
    try add("a property, at a past moment", per: 200 * PastSuite.propertyCount) { digest in
      for moment in moments { try contender.blame(at: moment, &digest) }
    }
    try add("history, a version, the oldest first", per: count) {
      try contender.history(isReversed: false, &$0)
    }
    try add("history, a version, the newest first", per: count) {
      try contender.history(isReversed: true, &$0)
    }
  }
}

/// A database that knows a record's past.
protocol PastContender {
  /// Makes the record with transaction 1, and changes one property in each transaction after it.
  func load(_ changes: [Int]) throws
  /// Adds the transactions that set each property, by their numbers, to a digest.
  func blame(at moment: Int, _ digest: inout Digest) throws
  /// Adds each change's transaction and value to a digest.
  func history(isReversed: Bool, _ digest: inout Digest) throws
}

final class CambiumPast: PastContender {
  private static let path = "records/deep" as NodePath
  private let database: Database

  init(_ path: String) throws { database = try Database(at: path) }

  func close() throws { try database.close() }

  func load(_ changes: [Int]) throws {
    let names = (0..<10).map { "p\($0)" }
    try database.write { tx in
      try tx.set(Self.path, to: .map(ValueMap(names.map { ($0, .integer(0)) })))
    }
    for (number, property) in changes.enumerated() {
      let value = Value.integer(Int64(number + 1))
      try database.write { tx in try tx.update(Self.path, [names[property]: value]) }
    }
  }

  func blame(at moment: Int, _ digest: inout Digest) throws {
    for line in try database.blame(Self.path, at: .sequence(SequenceNumber(UInt64(moment)))) {
      guard case .by(let transaction) = line.set else { continue }
      digest.add(transaction.sequence.rawValue)
    }
  }

  func history(isReversed: Bool, _ digest: inout Digest) throws {
    let history = try database.history(of: Self.path)
    try (isReversed ? history.reversed() : history).forEach { step in
      guard case .map(let new)? = step.new, case .map(let old)? = step.old else { return }
      digest.add(step.transaction.sequence.rawValue)
      for (now, before) in zip(new.members, old.members) where now.value != before.value {
        if case .integer(let value) = now.value { digest.add(UInt64(bitPattern: value)) }
      }
    }
  }
}

final class SQLitePast: PastContender {
  private let database: SQLiteDatabase

  init(_ path: String) throws {
    database = try SQLiteDatabase(path: path)
    try database.run("PRAGMA journal_mode = WAL")
    try database.run(
      """
      CREATE TABLE changes (record INTEGER, property INTEGER, number INTEGER, value INTEGER,
        PRIMARY KEY (record, property, number)) WITHOUT ROWID
      """)
    try database.run("CREATE INDEX by_number ON changes (record, number, property, value)")
  }

  func load(_ changes: [Int]) throws {
    let insert = try database.prepare("INSERT INTO changes VALUES (1, ?, ?, ?)")
    try database.transaction {
      for property in 0..<10 { try add(insert, property, 1, 0) }
      for (number, property) in changes.enumerated() {
        try add(insert, property, number + 2, number + 1)
      }
    }
  }

  private func add(_ insert: Statement, _ property: Int, _ number: Int, _ value: Int) throws {
    insert.bind(1, Int64(property))
    insert.bind(2, Int64(number))
    insert.bind(3, Int64(value))
    try insert.runOnce()
  }

  func blame(at moment: Int, _ digest: inout Digest) throws {
    let newest = try database.prepare(
      """
      SELECT number FROM changes WHERE record = 1 AND property = ? AND number <= ?
      ORDER BY number DESC LIMIT 1
      """)
    for property in 0..<10 {
      newest.bind(1, Int64(property))
      newest.bind(2, Int64(moment))
      if try newest.step() { digest.add(UInt64(newest.integer(0))) }
      newest.reset()
    }
  }

  func history(isReversed: Bool, _ digest: inout Digest) throws {
    let all = try database.prepare(
      """
      SELECT number, value FROM changes WHERE record = 1 AND number > 1
      ORDER BY number \(isReversed ? "DESC" : "ASC")
      """)
    while try all.step() {
      digest.add(UInt64(all.integer(0)))
      digest.add(UInt64(all.integer(1)))
    }
  }
}
