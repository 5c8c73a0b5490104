import Cambium

/// Measures Rindle's viewport queries at one size of the tracker: what a change costs that concerns
/// the query, beside running the query again, and what its first result costs.
///
///     load ──▶ changes: commit, step, and now and then the query again ──▶ first results
///          ──▶ close, open, first result
final class LiveViewports {
  private let data: TrackerData
  private let rounds: Int
  private let figures: LiveFigures
  private let directory: String
  /// The number of the next cycle of changes.
  private var cycle = 0
  /// The seconds that a change costs each viewport.
  private(set) var steps: [String: Double] = [:]

  init(issues: Int, rounds: Int, _ directory: String, _ figures: LiveFigures) {
    data = TrackerData(issues: issues)
    self.rounds = rounds
    self.directory = directory
    self.figures = figures
  }

  private var viewports: [any MeasuredViewport] { TrackerViewports(data: data).all }

  func run() throws {
    let path = directory + "/tracker.cambium"
    let database = try TrackerData.open(path)
    defer { try? database.close() }
    let sqlite = try SQLiteTracker()
    let loading = try timed { try data.load(into: database) }.seconds
    let peerLoading = try timed { try sqlite.load(data) }.seconds
    figures.add(named("everything", "load, s"), loading, beside: (SQLiteTracker.name, peerLoading))
    try measureNothing(database)
    for viewport in viewports { try measure(viewport, database, sqlite) }
    for viewport in viewports { try measureFirst(viewport, database, sqlite) }
    try database.close()
    try measureOpened(path, sqlite)
  }

  private func named(_ viewport: String, _ figure: String) -> String {
    "\(viewport), \(data.issues) issues: \(figure)"
  }

  // MARK: Changes

  private func measure(
    _ viewport: any MeasuredViewport, _ database: Database, _ sqlite: SQLiteTracker
  ) throws {
    let cycles = max(1, rounds / viewport.cycle.kinds.count)
    let costs = try viewport.changes(cycle..<(cycle + cycles), database, sqlite)
    cycle += cycles
    let name = named(viewport.name, "a change, CPU µs")
    let (again, peer) = ((median(costs.again) ?? 0) * 1e6, (median(costs.peer) ?? 0) * 1e6)
    figures.add(name, costs.step * 1e6, beside: ("run again", again), bar: .atMost(10))
    figures.add(name, costs.step * 1e6, beside: ("run again in \(SQLiteTracker.name)", peer))
    figures.note("\(name), by kind: \(costs.words)")
    steps[viewport.name] = costs.step
  }

  /// A step of a query that the commit before does not concern.
  private func measureNothing(_ database: Database) throws {
    let live = try database.query(Issue.self).where { $0.author == User.ID(2) }.live()
    var (steps, empty) = ([Double](), [Double]())
    for round in 0..<rounds {
      // The first user's oldest issue.
      try TrackerChange.prioritized(issue: data.users, 5 + round).make(in: database)
      let (seconds, diff) = try ThreadClock.timed { try live.refresh() }
      if !diff.isEmpty { throw BenchmarkError("a change that does not concern a query was told") }
      steps.append(seconds)
      empty.append(ThreadClock.timed {}.seconds)
    }
    figures.add(
      named("issues of a user", "a step after another's change, CPU µs"),
      (median(steps) ?? 0) * 1e6, beside: ("empty loop", (median(empty) ?? 0) * 1e6))
  }

  // MARK: First results

  private func measureFirst(
    _ viewport: any MeasuredViewport, _ database: Database, _ sqlite: SQLiteTracker
  ) throws {
    var (own, peer) = ([Double](), [Double]())
    for _ in 0..<20 {
      own.append(try viewport.first(database))
      peer.append(try viewport.first(sqlite))
    }
    addFirst(named(viewport.name, "first result, µs"), own, peer)
  }

  /// The first result as the first thing after opening: of a database whose pages the system may
  /// have in memory, as after any restart of an app.
  private func measureOpened(_ path: String, _ sqlite: SQLiteTracker) throws {
    let file = directory + "/tracker.sqlite"
    try sqlite.copy(to: file)
    for viewport in viewports {
      var (own, peer) = ([Double](), [Double]())
      for _ in 0..<20 {
        let database = try TrackerData.open(path)
        defer { try? database.close() }
        own.append(try viewport.first(database))
        peer.append(try viewport.first(try SQLiteTracker(path: file)))
      }
      addFirst(named(viewport.name, "first result after opening, µs"), own, peer)
    }
  }

  private func addFirst(_ name: String, _ own: [Double], _ peer: [Double]) {
    figures.add(
      name, (median(own) ?? 0) * 1e6, beside: (SQLiteTracker.name, (median(peer) ?? 0) * 1e6),
      bar: .atMost(1_000))
  }
}
