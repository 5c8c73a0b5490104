import Cambium

/// Measures a bulk load beside a hundred live queries, one of which every transaction concerns,
/// against the same load without any.
///
///     quiet database ──────▶ ten transactions of 1,000 issues ┐
///     followed database ───▶ ten transactions of 1,000 issues ┘ by turns
struct LiveLoad {
  private static let transactions = 10
  private static let perTransaction = 1_000

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
    let (followed, quiet) = (try open("followed"), try open("quiet"))
    defer { for database in [followed, quiet] { try? database.close() } }
    let query = LiveFollower.query(followed)
    let concerned = LiveObserver(query)
    // The new issues are all of the first user.
    let others = (0..<99).map { number in
      LiveObserver(CrowdQueries(followed).issues(of: 2 + number % (data.users - 1)))
    }
    for observer in [concerned] + others { try await observer.begin() }
    var (own, peer) = ([Double](), [Double]())
    for round in 0..<rounds {
      if round % 2 == 0 { peer.append(try load(round, into: quiet)) }
      own.append(try load(round, into: followed))
      // Its work does not reach into the other database's turn.
      try await concerned.reach(try followed.snapshot().sequence)
      if round % 2 == 1 { peer.append(try load(round, into: quiet)) }
    }
    try check(concerned, query, others)
    for observer in [concerned] + others { await observer.end() }
    report(own, peer, diffs: concerned.diffs)
  }

  private func open(_ name: String) throws -> Database {
    let database = try TrackerData.open("\(directory)/\(name).cambium")
    try data.load(into: database)
    return database
  }

  /// Loads one round's issues, which are the newest.
  ///
  /// - Returns: The seconds that it took.
  private func load(_ round: Int, into database: Database) throws -> Double {
    let first = data.issues + 1 + round * Self.transactions * Self.perTransaction
    return try timed {
      for transaction in 0..<Self.transactions {
        let start = first + transaction * Self.perTransaction
        try database.write { tx in
          for key in start..<(start + Self.perTransaction) {
            var issue = data.issue(key)
            issue.author = User.ID(1)
            try tx.insert(issue)
          }
        }
      }
    }.seconds
  }

  private func check(
    _ concerned: LiveObserver<Issue>, _ query: ModelQuery<Issue>, _ others: [LiveObserver<Issue>]
  ) throws {
    if try Optional(query.fetch()) != concerned.elements.map(Array.init) {
      throw BenchmarkError("the live result beside a bulk load is wrong")
    }
    if others.contains(where: { $0.diffs != 1 }) {
      throw BenchmarkError("a bulk load was told to a query that it does not concern")
    }
  }

  private func report(_ own: [Double], _ peer: [Double], diffs: Int) {
    let per = 1_000 / Double(Self.transactions)
    figures.add(
      "1,000 issues in a transaction beside 100 live queries, ms", (median(own) ?? 0) * per,
      beside: ("no query", (median(peer) ?? 0) * per), bar: .ratioAtMost(1.1))
    figures.note(
      "The query that the bulk load concerned was told \(diffs) differences of "
        + "\(own.count * Self.transactions) transactions.")
  }
}
