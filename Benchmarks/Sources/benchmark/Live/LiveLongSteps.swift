import Cambium

/// Measures how long steps of many records keep their observer's actor from anything else: those
/// that following takes, against the same ones that are called for there.
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

  func run() async throws {
    let database = try TrackerData.open("\(directory)/tracker.cambium")
    defer { try? database.close() }
    try data.load(into: database)
    let (issues, users) = (data.issues / 20, data.users / 2)
    try await measure(
      "\(issues) of \(data.issues) rows change",
      database.query(Issue.self).order(by: \.priority, \.id)
    ) { round in
      try database.write { tx in
        for key in 1...issues { try tx.update(Issue.ID(key * 20)) { $0.priority = 10 + round } }
      }
    }
    try await measure(
      "\(users) authors of \(data.issues) rows change",
      database.query(Issue.self).order(by: \.author.name, \.id)
    ) { round in
      try database.write { tx in
        for key in 1...users { try tx.update(User.ID(key)) { $0.name = "user \(key) \(round)" } }
      }
    }
  }

  private func measure(
    _ name: String, _ query: ModelQuery<Issue>,
    _ change: @escaping @Sendable (_ round: Int) throws -> Void
  ) async throws {
    let (held, called) = try await LiveLongSteps.times(rounds, query, change)
    figures.add(
      "\(name), the actor is held, ms", median(held) ?? 0,
      beside: ("the step called for there", median(called) ?? 0))
  }

  /// The longest times, in milliseconds, that the actor was held by steps that were followed,
  /// and the times of those that were called for.
  @Screen
  private static func times(
    _ rounds: Int, _ query: ModelQuery<Issue>,
    _ change: @escaping @Sendable (_ round: Int) throws -> Void
  ) async throws -> (held: [Double], called: [Double]) {
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
    if try Array(live) != query.fetch() { throw BenchmarkError("long steps lead elsewhere") }
    return (held, called)
  }
}

/// The actor of an observer. The main one is blocked while the suites run.
@globalActor
private actor Screen {
  static let shared = Screen()
}
