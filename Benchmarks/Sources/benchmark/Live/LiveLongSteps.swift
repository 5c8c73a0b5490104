import Cambium

/// Measures how long steps of many records keep an observer's executor, here the main actor's, from
/// anything else: those that following takes, against the same ones that are called for there.
///
///     changed    5,000 rows of a list of all issues
///     fanned     500 authors, through whom the rows of half of all issues are ordered
struct LiveLongSteps {
  private let data: TrackerData
  private let rounds: Int
  private let figures: LiveFigures
  private let directory: String

  init(rounds: Int, issues: Int, _ directory: String, _ figures: LiveFigures) {
    data = TrackerData(issues: issues)
    self.rounds = rounds
    self.directory = directory
    self.figures = figures
  }

  @MainActor
  func run() async throws {
    let database = try TrackerData.open("\(directory)/tracker.cambium")
    defer { try? database.close() }
    try data.load(into: database)
    let (issues, users) = (data.issues / 20, data.users / 2)
    try await measure(
      "\(issues) of \(data.issues) rows change",
      database.query(Issue.self).order(by: \.priority, \.id), database
    ) { round in
      try database.write { tx in
        for key in 1...issues { try tx.update(Issue.ID(key * 20)) { $0.priority = round } }
      }
    }
    try await measure(
      "\(users) authors of \(data.issues) rows change",
      database.query(Issue.self).order(by: \.author.name, \.id), database
    ) { round in
      try database.write { tx in
        for key in 1...users { try tx.update(User.ID(key)) { $0.name = "user \(key) \(round)" } }
      }
    }
  }

  @MainActor
  private func measure(
    _ name: String, _ query: ModelQuery<Issue>, _ database: Database,
    _ change: @escaping @Sendable (_ round: Int) throws -> Void
  ) async throws {
    let live = try query.live()
    let following = Task { try await live.follow() }
    await Task.yield()
    var held: [Double] = []
    for round in 0..<rounds {
      let before = live.sequence
      let writing = Task.detached { try change(round) }
      var (longest, last) = (Duration.zero, ContinuousClock.now)
      while live.sequence == before {
        await Task.yield()
        let now = ContinuousClock.now
        (longest, last) = (max(longest, now - last), now)
      }
      try await writing.value
      held.append(longest / .milliseconds(1))
    }
    following.cancel()
    try await following.value
    var called: [Double] = []
    for round in rounds..<2 * rounds {
      try change(round)
      called.append(try ContinuousClock().measure { try live.refresh() } / .milliseconds(1))
    }
    if try Array(live) != query.fetch() { throw BenchmarkError("\(name): it leads elsewhere") }
    figures.add(
      "\(name), the executor is held, ms", median(held) ?? 0,
      beside: ("the step called for there", median(called) ?? 0))
  }
}
