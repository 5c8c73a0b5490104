import Cambium

/// Measures what reads cost that go through many records: by key, along an index, and through all,
/// for one property and for whole models, against SQLite's prepared statements.
///
/// Both load the same trips once; each round runs every question on both, in turns.
struct ReadSuite {
  private static let count = 200_000

  private let count: Int
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  /// The least ratio to SQLite, by the stage's name.
  private static let bars: [String: Double] = [
    "by key, one property": 1.2, "by key, whole models": 1.6, "scan, one property, walked": 1.0,
    "scan, one property, selected": 1.0, "scan, sum": 1.0, "scan, whole models": 1.2,
    "1 % range, whole models": 1.2, "1 % range, one property": 1.2,
    "count by group, unindexed": 1.0,
  ]

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    count = options.count ?? (options.isSmoke ? 2_000 : Self.count)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
  }

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let trips = (1...count).map { Trip(key: $0, of: count) }
    var readers: [any TripReader] = []
    if options.selects(SQLiteTrips.name) {
      let peer = try SQLiteTrips(directory: directory)
      try peer.insert(trips, perTransaction: 1_000)
      readers.append(try SQLiteReads(peer))
    }
    if options.selects(CambiumTrips.name) {
      let own = try CambiumTrips(directory: directory)
      try own.insert(trips, perTransaction: 1_000)
      readers.append(CambiumReads(own))
    }
    var measurements = Measurements()
    for round in 0..<rounds {
      for reader in round % 2 == 0 ? readers : readers.reversed() {
        try measure(reader, &measurements)
      }
    }
    try report(measurements)
  }

  private func measure(
    _ reader: some TripReader, _ measurements: inout Measurements
  ) throws {
    var random = SeededGenerator(seed: 7)
    let keys = (0..<count).map { _ in 1 + random.next(below: count) }
    let width = max(1, count / 100)
    let ranges = (0..<100).map { _ in
      let start = random.next(below: count - width)
      return start..<(start + width)
    }
    func stage(_ name: String, _ operations: Int, _ body: () throws -> Digest) throws {
      guard options.measures(name) else { return }
      let (time, digest) = try elapsed(body)
      let contender = type(of: reader).name
      measurements.add(time, operations: operations, digest: digest, to: name, of: contender)
    }
    try stage("by key, one property", count) { try reader.numbers(of: keys) }
    try stage("by key, whole models", count) { try reader.trips(of: keys) }
    try stage("scan, one property, walked", count) { try reader.walkNumbers() }
    try stage("scan, one property, selected", count) { try reader.selectNumbers() }
    try stage("scan, sum", count) { try reader.sumNumbers() }
    try stage("scan, whole models", count) { try reader.allTrips() }
    try stage("scan, counted by a condition", count) { try reader.countLate() }
    try stage("scan, the last ten of an order", count) { try reader.longestTrips() }
    try stage("count by group, unindexed", count) { try reader.countByCarrier() }
    try stage("1 % range, whole models", ranges.count * width) { try reader.trips(in: ranges) }
    try stage("1 % range, one property", ranges.count * width) { try reader.delays(in: ranges) }
  }

  private func report(_ measurements: Measurements) throws {
    print("Reads of \(count) models of eight properties, \(rounds) rounds; records per second,")
    print("and the median ratio to SQLite.\n")
    try measurements.report(
      [SQLiteTrips.name, CambiumTrips.name], CambiumTrips.name, to: SQLiteTrips.name,
      suite: "reads", options
    ) {
      Self.bars[$0]
    }
  }
}

/// A database of trips that answers the suite's questions.
protocol TripReader {
  static var name: String { get }

  func numbers(of keys: [Int]) throws -> Digest
  func trips(of keys: [Int]) throws -> Digest
  /// Visits the numbers where they lie, without a query.
  func walkNumbers() throws -> Digest
  func selectNumbers() throws -> Digest
  func sumNumbers() throws -> Digest
  func allTrips() throws -> Digest
  /// Counts the trips with a delay of more than 200.
  func countLate() throws -> Digest
  /// The ten with the greatest distances, of which no index knows.
  func longestTrips() throws -> Digest
  func countByCarrier() throws -> Digest
  /// The trips whose numbers are in ranges.
  func trips(in ranges: [Range<Int>]) throws -> Digest
  /// One property of these, which the index does not have.
  func delays(in ranges: [Range<Int>]) throws -> Digest
}
