import Cambium

/// Measures commits beside thousands of live queries: commits that concern none of them, and
/// commits that concern some.
///
///     quiet database ────▶ commit ┐
///                                 ├─ by turns, with the same changes
///     crowded database ──▶ commit ┘──▶ steps of the queries that it concerns
struct LiveCrowd {
  private let data: TrackerData
  private let count: Int
  private let rounds: Int
  private let figures: LiveFigures
  private let directory: String

  init(_ count: Int, issues: Int, rounds: Int, _ directory: String, _ figures: LiveFigures) {
    data = TrackerData(issues: issues)
    self.count = count
    self.rounds = rounds
    self.directory = directory
    self.figures = figures
  }

  func run() throws {
    let (quiet, crowded) = (try open("quiet"), try open("crowded"))
    defer { for database in [quiet, crowded] { try? database.close() } }
    try measureMemory(quiet)
    let targets = [1, 10, 100].enumerated().map { index, count in
      CrowdTarget(author: 2 + index, count: count, data)
    }
    let concerned = try targets.map { try $0.members(crowded) }
    let others = count - concerned.reduce(0) { $0 + $1.count }
    let bystanders = try (0..<others).map { try bystander($0, crowded) }
    try check(bystanders, concerned, targets, crowded)
    try measureNone(quiet, crowded)
    for (target, members) in zip(targets, concerned) {
      try measure(target, members, quiet, crowded)
    }
    withExtendedLifetime(bystanders) {}
  }

  private func open(_ name: String) throws -> Database {
    let database = try TrackerData.open("\(directory)/\(name).cambium")
    try data.load(into: database)
    return database
  }

  // MARK: Queries

  /// One of the queries that no change concerns: of ten, eight ask for an author's issues, one for
  /// those of a stretch of time, and one for the first ten with something beside them.
  private func bystander(_ number: Int, _ database: Database) throws -> CrowdMember {
    let queries = CrowdQueries(database)
    // The authors of the changed issues are the first four; the issues are in the older half.
    let author = 5 + number % (data.users - 4)
    let issue = data.issues / 2 + 1 + number % (data.issues / 2 - 20)
    switch (number % 10, number / 10 % 5) {
    case (0..<8, _): return try CrowdMember(queries.issues(of: author))
    case (8, _): return try CrowdMember(queries.created(from: issue, to: issue + 10))
    case (_, 0), (_, 1): return try CrowdMember(queries.firstWithAuthor(of: author))
    case (_, 2), (_, 3): return try CrowdMember(queries.firstWithCount(of: author))
    default: return try CrowdMember(queries.newestWithAuthor)
    }
  }

  /// An issue that concerns no query.
  private func idle(_ round: Int) -> Int { data.users * (1 + round % 4) }

  /// Holds that each change concerns as many queries as it should, of all that there are.
  private func check(
    _ bystanders: [CrowdMember], _ concerned: [[CrowdMember]], _ targets: [CrowdTarget],
    _ database: Database
  ) throws {
    let all = bystanders + concerned.flatMap { $0 }
    for (issue, expected) in [(idle(0), 0)] + targets.map({ ($0.issue, $0.count) }) {
      try TrackerChange.prioritized(issue: issue, -1).make(in: database)
      var changed = 0
      for member in all where try member.step() { changed += 1 }
      if changed != expected {
        throw BenchmarkError("a change concerned \(changed) queries, not \(expected)")
      }
    }
  }

  // MARK: Commits

  /// The cost of the commits of one round, by wall and processor time.
  private func commit(_ issue: Int, _ round: Int, _ database: Database) throws -> CrowdCosts {
    let (seconds, cpu) = try timed {
      try ThreadClock.timed {
        try TrackerChange.prioritized(issue: issue, round).make(in: database)
      }.seconds
    }
    return CrowdCosts(wall: [seconds], cpu: [cpu])
  }

  /// Commits to both databases, by turns the one or the other first.
  private func commits(
    _ issue: Int, _ round: Int, _ quiet: Database, _ crowded: Database, _ costs: inout CrowdPair
  ) throws {
    let isFirst = round % 2 == 0
    if isFirst { costs.quiet.add(try commit(issue, round, quiet)) }
    costs.crowded.add(try commit(issue, round, crowded))
    if !isFirst { costs.quiet.add(try commit(issue, round, quiet)) }
  }

  private func measureNone(_ quiet: Database, _ crowded: Database) throws {
    var costs = CrowdPair()
    for round in 0..<rounds { try commits(idle(round), round, quiet, crowded, &costs) }
    let name = "\(count) live queries, a commit that concerns none"
    for (unit, path) in [("CPU µs", \CrowdCosts.cpu), ("µs", \CrowdCosts.wall)] {
      figures.add(
        "\(name), \(unit)", costs.crowded.microseconds(path),
        beside: ("no query", costs.quiet.microseconds(path)), bar: .moreAtMost(5))
    }
  }

  /// The share of a query that a commit concerns: in the commit itself, and in its own step.
  private func measure(
    _ target: CrowdTarget, _ members: [CrowdMember], _ quiet: Database, _ crowded: Database
  ) throws {
    var (costs, steps, again) = (CrowdPair(), [Double](), [Double]())
    for round in 0..<max(8, rounds / 4) {
      try commits(target.issue, round, quiet, crowded, &costs)
      steps.append(
        try ThreadClock.timed { for member in members { _ = try member.step() } }.seconds)
      if round % 8 == 0 {
        again.append(try ThreadClock.timed { for member in members { try member.fetch() } }.seconds)
      }
    }
    let per = 1 / Double(members.count)
    let routing = costs.crowded.microseconds(\.cpu) - costs.quiet.microseconds(\.cpu)
    let step = (median(steps) ?? 0) * 1e6
    figures.add(
      "\(count) live queries, a commit that concerns \(members.count), CPU µs for each",
      (routing + step) * per, beside: ("run again", (median(again) ?? 0) * 1e6 * per),
      bar: .atMost(10))
    figures.note(
      "Of a commit that concerns \(members.count), in the commit: \(digits(max(0, routing) * per))"
        + " CPU µs for each; in their steps: \(digits(step * per)).")
  }

  // MARK: Memory

  /// The memory of live queries with fifty issues each, beside the issues alone.
  private func measureMemory(_ database: Database) throws {
    let queries = CrowdQueries(database)
    let most = data.issues / 2
    func query(_ number: Int) -> ModelQuery<Issue> {
      queries.newest(50, before: data.issues - number % most)
    }
    let count = min(1_000, self.count)
    let warm = (try query(0).live(), try query(1).fetch())
    let live = try memory(of: count) { try query($0).live() }
    let plain = try memory(of: count) { try query($0).fetch() }
    withExtendedLifetime(warm) {}
    guard let live, let plain else { return }
    let name = "a live query of 50 issues"
    figures.add(
      "\(name), KB allocated", live.allocated, beside: ("its issues in an array", plain.allocated),
      bar: .atMost(20))
    figures.add(
      "\(name), KB resident", live.resident, beside: ("its issues in an array", plain.resident))
  }

  /// The memory that some objects hold, in KB for each; nil where the system does not tell.
  private func memory<Object>(
    of count: Int, _ make: (Int) throws -> Object
  ) throws -> (allocated: Double, resident: Double)? {
    var objects: [Object] = []
    objects.reserveCapacity(count)
    guard let before = Memory.allocated(), let held = Memory.current() else { return nil }
    for number in 0..<count { objects.append(try make(number)) }
    guard let after = Memory.allocated(), let holds = Memory.current() else { return nil }
    let per = 1 / Double(count) / 1_024
    withExtendedLifetime(objects) {}
    return (
      Double(after - before) * per, Double(max(0, holds.anonymous - held.anonymous)) * per
    )
  }
}

/// Samples of commits: times of day and of the processor.
private struct CrowdCosts {
  var wall: [Double] = []
  var cpu: [Double] = []

  mutating func add(_ other: CrowdCosts) {
    wall += other.wall
    cpu += other.cpu
  }

  func microseconds(_ samples: KeyPath<CrowdCosts, [Double]>) -> Double {
    (median(self[keyPath: samples]) ?? 0) * 1e6
  }
}

/// Samples of the same commits without and with live queries.
private struct CrowdPair {
  var quiet = CrowdCosts()
  var crowded = CrowdCosts()
}
