import Cambium
import FoundationEssentials

/// Measures live queries: what one change costs a query that it concerns, and what it costs a
/// database on which thousands of queries are live that it does not concern.
///
///     write ──▶ refresh: the difference ──▶ digest of the result
///                fetch: the query run again, beside it
struct LiveSuite {
  private let count: Int
  private let rounds: Int
  private let isSmoke: Bool
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    isSmoke = options.isSmoke
    count = options.count ?? (options.isSmoke ? 500 : 10_000)
    rounds = options.rounds ?? (options.isSmoke ? 20 : 2_000)
    self.workspace = workspace
  }

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let database = try Database(at: directory + "/live.cambium")
    defer { try? database.close() }
    try fill(database)
    try viewports(database)
    try bystanders(database)
  }

  private func fill(_ database: Database) throws {
    try database.register(User.self, Issue.self, Comment.self)
    try database.write { tx in for key in 1...1_000 { try tx.insert(User(key: key)) } }
    for start in stride(from: 1, through: count, by: 10_000) {
      let keys = start..<min(start + 10_000, count + 1)
      try database.write { tx in for key in keys { try tx.insert(Issue(key: key)) } }
    }
    for start in stride(from: 1, through: count * 5, by: 10_000) {
      let keys = start..<min(start + 10_000, count * 5 + 1)
      try database.write { tx in
        for key in keys { try tx.insert(Comment(key: key, issues: count)) }
      }
    }
  }

  // MARK: Viewports

  /// One issue's change, by the number of the round.
  private func change(_ round: Int, _ database: Database) throws {
    // Newest first: an issue of the first page is closed, and opened again by the next change.
    let key = count - (round / 2) % 60
    try database.write { tx in
      try tx.update(Issue.ID(key)) {
        $0.isOpen = round % 2 == 1
        $0.priority += 1
      }
    }
  }

  private func viewports(_ database: Database) throws {
    let open = database.query(Issue.self).where { $0.isOpen == true }
      .order(by: \.created.descending)
    let one = database.query(Issue.self).where { $0.id == Issue.ID(count - 1) }
    var table = Table([
      "query, \(count) issues", "first result, µs", "a change, µs", "run again, µs", "diffs",
    ])
    table.add(try measure("newest 50 open", open.limit(50), database))
    table.add(try measure("with author", open.limit(50).with(\.author), database))
    table.add(try measure("one with comments", one.with(\.comments), database))
    table.add(try measure("page 2", open.limit(50, offset: 50), database))
    table.add(try measure("all open", open, database))
    print(table.text)
  }

  private func measure<R: Results>(
    _ name: String, _ query: R, _ database: Database
  ) throws -> [String] where R.Element: Sendable {
    let (first, live) = try timed { try query.live() }
    var (follows, again) = ([Double](), [Double]())
    var told = 0
    for round in 0..<rounds {
      try change(round, database)
      let (seconds, diff) = try timed { try live.refresh() }
      if !diff.isEmpty { told += 1 }
      follows.append(seconds)
      if round % 10 == 0 {
        let (seconds, elements) = try timed { try query.fetch() }
        again.append(seconds)
        if elements.count != live.count { throw BenchmarkError("\(name): another result") }
      }
    }
    return [
      name, digits(first * 1e6), digits(median(follows) * 1e6), digits(median(again) * 1e6),
      "\(told)",
    ]
  }

  private func signed(_ value: Double) -> String {
    value < 0 ? "−\(digits(-value))" : digits(value)
  }

  private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  // MARK: Bystanders

  /// Commits beside live queries of which none, or a few, are concerned.
  private func bystanders(_ database: Database) throws {
    var table = Table(["live queries", "a commit, µs", "more than without, µs"])
    let without = try commits(database)
    table.add(["none", digits(without * 1e6), "–"])
    var live: [LiveResults<ModelQuery<Issue>>] = []
    for number in 0..<(isSmoke ? 100 : 10_000) {
      live.append(try bystander(number, database).live())
    }
    let with = try commits(database)
    table.add(["\(live.count)", digits(with * 1e6), signed((with - without) * 1e6)])
    print(table.text)
    withExtendedLifetime(live) {}
  }

  private func bystander(_ number: Int, _ database: Database) -> ModelQuery<Issue> {
    let issues = database.query(Issue.self)
    switch number % 10 {
    case 8:
      // The older half is where issues are changed.
      let first = count / 2 + number % (count / 2 - 20)
      return issues.where {
        $0.id > Issue.ID(first); $0.id < Issue.ID(first + 10)
      }
    case 9:
      return issues.where { $0.isOpen == true }.order(by: \.created.descending).limit(10)
    default: return issues.where { $0.author == User.ID(2 + number % 900) }
    }
  }

  /// The median time of commits that concern no query.
  private func commits(_ database: Database) throws -> Double {
    var all: [Double] = []
    for round in 0..<rounds {
      // Issues of the first user, old and closed ones among them, whom no query asks for.
      let some = 1_000 * (1 + round % max(1, count / 2_000))
      let issue = Issue.ID(count < 2_000 ? count * 2 / 5 : some)
      all.append(
        try timed {
          try database.write { tx in try tx.update(issue) { $0.priority = round } }
        }.seconds)
    }
    return median(all)
  }
}
