/// Measures live queries: each figure beside that of a peer, or of an empty loop, in the same run.
///
///     viewports    a change that concerns a query, at two sizes; first results
///     crowd        commits beside 10,000 live queries, and what these keep in memory
///     latency      from a commit to an observer's callback, here and in another process
///     load         bulk transactions beside 100 live queries
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
    if options.measures("viewports") { try runViewports() }
    if options.measures("crowd") { try runCrowd() }
    if options.measures("latency") { try await runLatency() }
    if options.measures("load") { try await runLoad() }
    figures.finish()
  }

  /// Runs a stage in a directory of its own.
  private func inDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    return try body(directory)
  }

  private func runViewports() throws {
    let sizes = options.issues ?? (options.isSmoke ? [300, 900] : [10_000, 1_000_000])
    let steps = try sizes.map { issues in
      try inDirectory { directory in
        let viewports = LiveViewports(issues: issues, rounds: rounds, directory, figures)
        try viewports.run()
        return viewports.steps
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

  private func runCrowd() throws {
    let (count, issues) = options.isSmoke ? (200, 1_000) : (10_000, 10_000)
    try inDirectory { directory in
      try LiveCrowd(count, issues: issues, rounds: rounds, directory, figures).run()
    }
  }

  private func runLatency() async throws {
    let (count, issues) = options.isSmoke ? (50, 300) : (10_000, 10_000)
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    try await LiveLatency(count, issues: issues, directory, figures).run()
  }

  private func runLoad() async throws {
    let (rounds, issues) = options.isSmoke ? (2, 300) : (20, 10_000)
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    try await LiveLoad(rounds: rounds, issues: issues, directory, figures).run()
  }
}
