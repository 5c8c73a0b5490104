import Cambium

/// Measures what an observer that sleeps after each difference costs a writer of small commits, and
/// what is kept for it meanwhile.
///
///     quiet database ──────▶ commits ┐
///     followed database ───▶ commits ┘ by turns, beside an observer that sleeps
struct LiveSlowObserver {
  private static let rounds = 20

  private let data: TrackerData
  private let count: Int
  private let pause: Duration
  private let figures: LiveFigures
  private let directory: String

  /// Makes a stage of `count` commits to each database.
  init(
    _ count: Int, pause: Duration, issues: Int, _ directory: String, _ figures: LiveFigures
  ) {
    data = TrackerData(issues: issues)
    self.count = count
    self.pause = pause
    self.directory = directory
    self.figures = figures
  }

  func run() async throws {
    let (followed, quiet) = (try open("followed"), try open("quiet"))
    defer { for database in [followed, quiet] { try? database.close() } }
    let query = LiveFollower.query(followed)
    let observer = LiveObserver(query, pause: pause)
    try await observer.begin()
    let held = [try heldMemory()]
    let (own, peer, memory) = try writeByTurns(followed, quiet)
    try await observer.reach(try followed.snapshot().sequence)
    if try Optional(query.fetch()) != observer.elements.map(Array.init) {
      throw BenchmarkError("a slow observer ended with a wrong result")
    }
    await observer.end()
    report(own, peer, held + memory, diffs: observer.diffs)
  }

  private func open(_ name: String) throws -> Database {
    let database = try TrackerData.open("\(directory)/\(name).cambium")
    try data.load(into: database)
    return database
  }

  /// Commits to both databases.
  ///
  /// - Returns: Commits in a second, of each round, and the memory held after it.
  private func writeByTurns(
    _ followed: Database, _ quiet: Database
  ) throws -> (own: [Double], peer: [Double], memory: [HeldMemory]) {
    var (own, peer, memory) = ([Double](), [Double](), [HeldMemory]())
    for round in 0..<Self.rounds {
      if round % 2 == 0 { peer.append(try write(round, to: quiet)) }
      own.append(try write(round, to: followed))
      memory.append(try heldMemory())
      if round % 2 == 1 { peer.append(try write(round, to: quiet)) }
    }
    return (own, peer, memory)
  }

  /// Changes issues that the query shows, one after another.
  private func write(_ round: Int, to database: Database) throws -> Double {
    let (shown, count) = (data.newestOpen(50), count / Self.rounds)
    let seconds = try timed {
      for number in 0..<count {
        try TrackerChange.prioritized(
          issue: shown[number % shown.count], 10 + round * count + number
        ).make(in: database)
      }
    }.seconds
    return Double(count) / seconds
  }

  // MARK: Memory

  /// Megabytes that the process holds itself, of which the heap's in use.
  private typealias HeldMemory = (resident: Double, allocated: Double)

  private func heldMemory() throws -> HeldMemory {
    (Double(Memory.current()?.anonymous ?? 0) / 1e6, Double(Memory.allocated() ?? 0) / 1e6)
  }

  private func report(_ own: [Double], _ peer: [Double], _ memory: [HeldMemory], diffs: Int) {
    let name = "\(count) commits beside a slow observer"
    figures.add(
      "\(name), commits/s", median(own) ?? 0, beside: ("no query", median(peer) ?? 0),
      bar: .ratioAtLeast(0.95))
    let half = memory.prefix(1 + memory.count / 2)
    for (word, path) in [("resident", \HeldMemory.resident), ("allocated", \.allocated)] {
      figures.add(
        "\(name), most MB more \(word)", growth(memory[...], path),
        beside: ("after half of them", growth(half, path)), bar: .atMost(16))
    }
    figures.note("The slow observer was told \(diffs) differences; the last result was right.")
  }

  /// The most memory held above that at the beginning.
  private func growth(
    _ memory: ArraySlice<HeldMemory>, _ path: KeyPath<HeldMemory, Double>
  ) -> Double {
    let values = memory.map { $0[keyPath: path] }
    return (values.max() ?? 0) - (values.first ?? 0)
  }
}
