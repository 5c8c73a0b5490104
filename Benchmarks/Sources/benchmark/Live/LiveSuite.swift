/// Measures live queries: each figure beside that of a peer, or of an empty loop, in the same run.
///
///     viewports    a change that concerns a query, at two sizes; first results
///     crowd        commits beside 10,000 live queries, and what these keep in memory
///     latency      from a commit to an observer's callback, here and in another process
///     load         bulk transactions beside 100 live queries
///     slow         100,000 commits beside an observer that sleeps
///     rankings     the first ten of more groups than memory should hold
///     long         steps of many records, and how long they hold their observer's executor
///     leavings     what is left of 10,000 observers
struct LiveSuite {
  private let options: Options
  private let workspace: Workspace
  private let figures = LiveFigures()
  private let rounds: Int

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    rounds = options.rounds ?? (options.isSmoke ? 24 : 2_000)
  }

  func run() async throws {
    try await stage("viewports") { _ in try await runViewports() }
    try await stage("crowd") { directory in
      let (count, issues) = options.isSmoke ? (200, 1_000) : (10_000, 10_000)
      try LiveCrowd(count, issues: issues, rounds: rounds, directory, figures).run()
    }
    try await stage("latency") { directory in
      let (count, issues) = options.isSmoke ? (50, 300) : (10_000, 10_000)
      try await LiveLatency(count, issues: issues, directory, figures).run()
    }
    try await stage("load") { directory in
      let (rounds, issues) = options.isSmoke ? (2, 300) : (20, 10_000)
      try await LiveLoad(rounds: rounds, issues: issues, directory, figures).run()
    }
    try await stage("slow") { directory in
      let (count, issues) = options.isSmoke ? (200, 300) : (100_000, 10_000)
      let pause = Duration.milliseconds(options.isSmoke ? 10 : 1_000)
      try await LiveSlowObserver(count, pause: pause, issues: issues, directory, figures).run()
    }
    try await stage("rankings") { directory in
      let issues = options.isSmoke ? 300 : 200_000
      try LiveRankings(rounds: rounds, issues: issues, directory, figures).run()
    }
    try await stage("long") { directory in
      let (rounds, issues) = options.isSmoke ? (2, 300) : (15, 100_000)
      try await LiveLongSteps(rounds: rounds, issues: issues, directory, figures).run()
    }
    try await stage("leavings") { directory in
      let (count, issues) = options.isSmoke ? (100, 300) : (10_000, 10_000)
      try await LiveLeavings(count, issues: issues, directory, figures).run()
    }
    figures.finish()
  }

  /// Runs a stage, if it is to be measured, in a directory of its own.
  private func stage(_ name: String, _ body: (String) async throws -> Void) async throws {
    if options.measures(name) { try await inDirectory(body) }
  }

  private func inDirectory<Result>(
    _ body: (String) async throws -> Result
  ) async throws -> Result {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    return try await body(directory)
  }

  private func runViewports() async throws {
    let sizes = options.issues ?? (options.isSmoke ? [300, 900] : [10_000, 1_000_000])
    var steps: [[String: Double]] = []
    for issues in sizes {
      try await inDirectory { directory in
        let viewports = LiveViewports(issues: issues, rounds: rounds, directory, figures)
        try viewports.run()
        steps.append(viewports.steps)
      }
    }
    guard let first = steps.first, let last = steps.last, sizes.count > 1 else { return }
    for (name, seconds) in first.sorted(by: { $0.key < $1.key }) {
      figures.add(
        "\(name), a change at \(sizes[sizes.count - 1]) issues, CPU µs",
        (last[name] ?? 0) * 1e6, beside: ("at \(sizes[0])", seconds * 1e6),
        bar: .ratioAtMost(1.5))
    }
  }
}
