import Cambium

/// Asks a question that an index answers of past moments, and the same in words that none can use.
///
/// After each moment more and more of the records change, so that the index of the present knows
/// less and less of it; reading all records is what the index must not be slower than.
struct PastQueries {
  private static let groups = 100

  let count: Int
  let rounds: Int
  let workspace: Workspace

  init(count: Int, rounds: Int, _ workspace: Workspace) {
    self.count = count
    self.rounds = rounds
    self.workspace = workspace
  }

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let database = try Database(at: directory + "/queries.cambium")
    defer { try? database.close() }
    try load(database)
    var table = Table(["changed since, of \(count)", "index, ms", "scan, ms", "ratio", "plan"])
    var moments: [(changed: Int, moment: SequenceNumber)] = []
    var changed = 0
    for percent in [20, 50, 80, 90, 95, 98, 99, 100] {
      moments.append((changed, try database.head))
      try change(changed..<(count * percent / 100), in: database)
      changed = count * percent / 100
    }
    for (before, moment) in moments.reversed() {
      table.add(try measure(database, moment, changed: changed - before))
    }
    print(table.text)
  }

  private func load(_ database: Database) throws {
    var definition = CollectionDefinition()
    definition.indexes = [IndexDefinition([IndexDefinition.Term("group")])]
    try database.write { tx in try tx.declare("rows", definition) }
    for start in stride(from: 0, to: count, by: 1_000) {
      try database.write { tx in
        for number in start..<min(start + 1_000, count) {
          try tx.set(path(number), to: record(number, step: 0))
        }
      }
    }
  }

  private func change(_ numbers: Range<Int>, in database: Database) throws {
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
      try database.write { tx in
        for number in start..<min(start + 100, numbers.upperBound) {
          try tx.set(path(number), to: record(number, step: 1))
        }
      }
    }
  }

  private func path(_ number: Int) -> NodePath {
    NodePath(keys: ["rows", .integer(Int64(number))])
  }

  private func record(_ number: Int, step: Int) -> Value {
    let group = Int64((number * 7 + step) % Self.groups)
    return ["group": .integer(group), "name": .string("row \(number)"), "size": 42]
  }

  /// One line of the table: medians, and the median of the ratios in each round.
  private func measure(
    _ database: Database, _ moment: SequenceNumber, changed: Int
  ) throws -> [String] {
    let snapshot = try database.snapshot(at: .sequence(moment))
    let indexed = try snapshot.records("rows where group = 14 | count")
    let scanned = try snapshot.records("rows where not (group != 14) | count")
    var times = Measurements()
    for round in 0..<rounds {
      for index in 0..<2 {
        let isIndexed = (round + index) % 2 == 0
        let (seconds, found) = try timed { try (isIndexed ? indexed : scanned).count() }
        var digest = Digest()
        digest.add(UInt64(found))
        times.add(seconds * 1000, digest: digest, to: "query", of: isIndexed ? "index" : "scan")
      }
    }
    let row = times.rows[0]
    if !row.agrees { throw BenchmarkError("index and scan disagree at \(moment)") }
    let plan = "\(try indexed.explain())".split(separator: "\n").first.map(String.init) ?? ""
    return [
      "\(changed)", row.median(of: "index").map(digits) ?? "–",
      row.median(of: "scan").map(digits) ?? "–", shown(row.ratio(of: "index", to: "scan")), plan,
    ]
  }

  private func shown(_ ratio: Double?) -> String { benchmark.times(ratio) }
}
