import Cambium

/// A query of which an app shows the result, followed in Cambium, and run again in Cambium and in
/// SQLite, which must give the same.
struct Viewport<Q: Results>: MeasuredViewport where Q.Element: Sendable {
  let name: String
  let cycle: ChangeCycle
  let query: (Database) -> Q
  let peer: (SQLiteTracker) throws -> SQLiteTracker.Query<Q.Element>
  let digest: (Q.Element, inout Digest) -> Void

  func changes(
    _ cycles: Range<Int>, _ database: Database, _ sqlite: SQLiteTracker
  ) throws -> ViewportCosts {
    let live = try query(database).live()
    let peer = try peer(sqlite)
    var costs = ViewportCosts(kinds: cycle.kinds.map(\.name))
    var count = 0
    for number in cycles {
      for (kind, entry) in cycle.kinds.enumerated() {
        let change = entry.change(number)
        try change.make(in: database)
        try sqlite.make(change)
        let (seconds, diff) = try ThreadClock.timed { try live.refresh() }
        if diff.isEmpty { throw BenchmarkError("\(name): \(entry.name) made no difference") }
        costs.steps[kind].append(seconds)
        // The number has no divisor in common with that of the kinds, so that each has its turn.
        if count % 7 == 0 { try runAgain(live, peer, &costs) }
        count += 1
      }
    }
    return costs
  }

  private func runAgain(
    _ live: LiveResults<Q>, _ peer: SQLiteTracker.Query<Q.Element>, _ costs: inout ViewportCosts
  ) throws {
    let (seconds, elements) = try ThreadClock.timed { try live.query.fetch() }
    let (peerSeconds, others) = try ThreadClock.timed(peer)
    costs.again.append(seconds)
    costs.peer.append(peerSeconds)
    let expected = digest(of: others)
    if digest(of: elements) != expected {
      throw BenchmarkError("\(name): SQLite has another result")
    }
    if digest(of: live.elements) != expected {
      throw BenchmarkError("\(name): a wrong live result")
    }
  }

  private func digest(of elements: some Sequence<Q.Element>) -> Digest {
    elements.reduce(into: Digest()) { digest($1, &$0) }
  }

  func first(_ database: Database) throws -> Double {
    try timed { try query(database).live() }.seconds
  }

  func first(_ sqlite: SQLiteTracker) throws -> Double {
    try timed { try peer(sqlite)() }.seconds
  }
}

/// A viewport whatever its elements are.
protocol MeasuredViewport {
  var name: String { get }
  /// Measures what changes cost, each in a transaction of its own.
  func changes(
    _ cycles: Range<Int>, _ database: Database, _ sqlite: SQLiteTracker
  ) throws -> ViewportCosts
  /// The number of kinds of changes.
  var cycle: ChangeCycle { get }
  /// Seconds to the first live result.
  func first(_ database: Database) throws -> Double
  /// Seconds to the first result, with the preparation of the statement.
  func first(_ sqlite: SQLiteTracker) throws -> Double
}

/// Processor time of a viewport's steps, by kind of change, and of running its query again.
struct ViewportCosts {
  let kinds: [String]
  var steps: [[Double]]
  var again: [Double] = []
  var peer: [Double] = []

  init(kinds: [String]) {
    self.kinds = kinds
    steps = kinds.map { _ in [] }
  }

  /// The median of each kind.
  var medians: [Double] { steps.compactMap { median($0) } }

  /// A step: the mean over the kinds of their medians, so that no kind hides behind another.
  var step: Double { medians.reduce(0, +) / Double(medians.count) }

  /// The kinds with their medians in microseconds.
  var words: String {
    zip(kinds, medians).map { "\($0) \(digits($1 * 1e6))" }.joined(separator: ", ")
  }
}
