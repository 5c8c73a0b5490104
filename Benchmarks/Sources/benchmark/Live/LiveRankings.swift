import Cambium

/// Measures the first ten of very many groups, which are maintained beyond memory, against the same
/// query run again.
///
///     commented    by a record's own property: what stays is each group, and each moment
///     active       behind a reference: the share of each record as well
struct LiveRankings {
  private static let shown = "count, max(created)"
  private static let questions = [
    ("commented", "group by issue select \(shown) sort -count, -issue"),
    ("active", "group by issue.title select \(shown) sort -count, `issue.title`"),
  ]

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

  func run() throws {
    let database = try TrackerData.open("\(directory)/tracker.cambium")
    defer { try? database.close() }
    try data.load(into: database)
    var key = data.comments
    for (name, question) in Self.questions {
      try measure("first 10 groups of \(data.comments) records, \(name)", question, database, &key)
    }
  }

  private func measure(
    _ name: String, _ question: String, _ database: Database, _ key: inout Int
  ) throws {
    let query = try database.records("comments | \(question) limit 10")
    _ = try query.fetch()
    let (again, found) = try ThreadClock.timed { try query.fetch() }
    let before = Memory.allocated()
    let (first, live) = try ThreadClock.timed { try query.live() }
    if Array(live.elements) != found { throw BenchmarkError("\(name): another first result") }
    let after = Memory.allocated()
    var steps: [Double] = []
    for round in 0..<rounds {
      key += 1
      let comment = data.comment(key, on: 1 + round &* 7_919 % data.issues)
      try database.write { try $0.insert(comment) }
      steps.append(try ThreadClock.timed { try live.refresh() }.seconds)
    }
    if try Array(live.elements) != query.fetch() {
      throw BenchmarkError("\(name): the changes lead elsewhere")
    }
    figures.add(
      "\(name), first result, CPU ms", first * 1e3, beside: ("the query once", again * 1e3))
    if let before, let after {
      figures.add("\(name), memory, MB", Double(after - before) / 1e6, bar: .atMost(32))
    }
    figures.add(
      "\(name), a change, CPU µs", (median(steps) ?? 0) * 1e6,
      beside: ("the query again", again * 1e6))
  }
}
