import Cambium

/// Measures the typed face against SQLite's prepared statements: the same structs go in and come
/// out, with the same index.
///
///     insert ──▶ read by key ──▶ ranges over an index ──▶ groups, counted and from a view
///     ──▶ single inserts, from one caller and from many tasks
struct ModelSuite {
  private let count: Int
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  /// The least ratio to SQLite, by the start of the stage's name.
  private static let bars: [(stage: String, ratio: Double)] = [
    ("insert, one index", 1.0), ("read", 1.2), ("1 %", 1.0), ("count by group, from", 100),
    ("count by", 0.5),
  ]

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    count = options.count ?? (options.isSmoke ? 2_000 : 200_000)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
  }

  func run() async throws {
    var measurements = Measurements()
    for round in 0..<rounds {
      let directories = [try workspace.directory(), try workspace.directory()]
      defer { for directory in directories { workspace.remove(directory) } }
      let own = try CambiumTrips(directory: directories[0], isSoon: options.isSoon)
      let peer = try SQLiteTrips(directory: directories[1], isSoon: options.isSoon)
      try run(round, own, peer, &measurements)
      try await runSingles(own, peer, &measurements)
    }
    try report(measurements)
  }

  private func run(
    _ round: Int, _ own: CambiumTrips, _ peer: SQLiteTrips, _ measurements: inout Measurements
  ) throws {
    let trips = (1...count).map { Trip(key: $0, of: count) }
    var random = SeededGenerator(seed: 7)
    let keys = (0..<count).map { _ in 1 + random.next(below: count) }
    let width = max(1, count / 100)
    let ranges = (0..<100).map { _ in
      let start = random.next(below: count - width)
      return start..<(start + width)
    }
    let isFirst = round % 2 == 0
    func measure(
      _ stage: String, _ operations: Int, ownOperations: Int? = nil,
      _ ownBody: () throws -> Digest?, _ peerBody: () throws -> Digest?
    ) throws {
      func one(_ name: String, _ operations: Int, _ body: () throws -> Digest?) throws {
        let (time, digest) = try elapsed(body)
        measurements.add(time, operations: operations, digest: digest, to: stage, of: name)
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

  /// Models that are inserted one by one, each durable when the call returns; of many tasks those
  /// that wait at the same time share a flush, which SQLite's one caller cannot.
  private func runSingles(
    _ own: CambiumTrips, _ peer: SQLiteTrips, _ measurements: inout Measurements
  ) async throws {
    let (singles, awaited) = (options.singles, options.isSmoke ? 1_000 : 20_000)
    let last = count + singles + awaited
    let trips = ((count + 1)...last).map { Trip(key: $0, of: last) }
    let stage = "single insert, one caller"
    for (name, body) in [
      (SQLiteTrips.name, { try peer.insert(Array(trips[..<singles]), perTransaction: 1) }),
      (CambiumTrips.name, { try own.insertEach(trips[..<singles]) }),
    ] as [(String, () throws -> Void)] {
      let (time, _) = try elapsed(body)
      measurements.add(time, operations: singles, to: stage, of: name)
    }
    let waiting = "single insert, 64 awaiting tasks; SQLite: one caller"
    let start = ContinuousClock.now
    try await own.insertEach(trips[singles...], tasks: 64)
    let seconds = seconds(since: start)
    let digest = try own.read(trips.map(\.id.key))
    measurements.add(Double(awaited) / seconds, digest: digest, to: waiting, of: CambiumTrips.name)
    measurements.expect(trips.reduce(into: Digest()) { $0.add($1) }, of: waiting)
    measurements.copyLast(of: SQLiteTrips.name, from: stage, to: waiting)
  }

  private func report(_ measurements: Measurements) throws {
    print("Models: \(count) models of eight properties, \(rounds) rounds; operations per second")
    print("(models, or whole questions about groups), and the median ratio to SQLite.\n")
    try measurements.report(
      [SQLiteTrips.name, CambiumTrips.name], CambiumTrips.name, to: SQLiteTrips.name,
      suite: "models", options
    ) { name in
      Self.bars.first { name.hasPrefix($0.stage) }?.ratio
    }
  }
}
