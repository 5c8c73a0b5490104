/// Measures the typed face against SQLite's prepared statements: the same structs go in and come
/// out, with the same index.
///
///     insert ──▶ read by key ──▶ ranges over an index ──▶ groups, counted and from a view
struct ModelSuite {
  private let count: Int
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  /// The least ratio to SQLite, by the start of the stage's name.
  private static let bars: [(stage: String, ratio: Double)] = [
    ("insert", 1.0), ("read", 1.2), ("1 %", 1.0), ("count by group, from", 100), ("count by", 0.5),
  ]

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    count = options.count ?? (options.isSmoke ? 2_000 : 200_000)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
  }

  func run() throws {
    var measurements = Measurements()
    for round in 0..<rounds { try run(round, &measurements) }
    try report(measurements)
  }

  private func run(_ round: Int, _ measurements: inout Measurements) throws {
    let directories = [try workspace.directory(), try workspace.directory()]
    defer { for directory in directories { workspace.remove(directory) } }
    let trips = (1...count).map { Trip(key: $0, of: count) }
    var random = SeededGenerator(seed: 7)
    let keys = (0..<count).map { _ in 1 + random.next(below: count) }
    let width = max(1, count / 100)
    let ranges = (0..<100).map { _ in
      let start = random.next(below: count - width)
      return start..<(start + width)
    }
    let own = try CambiumTrips(directory: directories[0])
    let peer = try SQLiteTrips(directory: directories[1])
    let isFirst = round % 2 == 0
    func measure(
      _ stage: String, _ operations: Int, ownOperations: Int? = nil,
      _ ownBody: () throws -> Digest?, _ peerBody: () throws -> Digest?
    ) throws {
      func one(_ name: String, _ operations: Int, _ body: () throws -> Digest?) throws {
        let (seconds, digest) = try timed(body)
        measurements.add(Double(operations) / seconds, digest: digest, to: stage, of: name)
      }
      if isFirst { try one(CambiumTrips.name, ownOperations ?? operations, ownBody) }
      try one(SQLiteTrips.name, operations, peerBody)
      if !isFirst { try one(CambiumTrips.name, ownOperations ?? operations, ownBody) }
    }
    try measure("insert, one index, 1,000 per transaction", count) {
      try own.insert(trips, perTransaction: 1_000)
      return nil
    } _: {
      try peer.insert(trips, perTransaction: 1_000)
      return nil
    }
    try measure("read a whole model by key", count) {
      try own.read(keys)
    } _: {
      try peer.read(keys)
    }
    try measure("1 % range over an index, whole models", ranges.count * width) {
      try own.readRanges(ranges)
    } _: {
      try peer.readRanges(ranges)
    }
    try measure("count by group, unindexed", 5) {
      try own.countByCarrier(times: 5)
    } _: {
      try peer.countByCarrier(times: 5)
    }
    try own.insertCounted(trips)
    // The view is read a thousand times, so that the clock has something to measure.
    try measure("count by group, from a view", 5, ownOperations: 1_000) {
      _ = try own.readView(times: 995)
      return try own.readView(times: 5)
    } _: {
      try peer.countByCarrier(times: 5)
    }
  }

  private func report(_ measurements: Measurements) throws {
    print("Models: \(count) models of eight properties, \(rounds) rounds; operations per second")
    print("(models, or whole questions about groups), and the median ratio to SQLite.\n")
    var table = Table(
      ["operation", SQLiteTrips.name, CambiumTrips.name, "ratio", "bar", "", "digest"])
    for row in measurements.rows {
      let bar = Self.bars.first { row.name.hasPrefix($0.stage) }?.ratio
      let ratio = row.ratio(of: CambiumTrips.name, to: SQLiteTrips.name)
      table.add([
        row.name, rate(row.median(of: SQLiteTrips.name)), rate(row.median(of: CambiumTrips.name)),
        times(ratio), bar.map { "≥ " + times($0) } ?? "–", Measurements.verdict(ratio, bar),
        row.verdict,
      ])
    }
    print(table.text + "\n")
    if let row = measurements.rows.first(where: { !$0.agrees }) {
      throw BenchmarkError("not all computed the same in: \(row.name)")
    }
  }
}
