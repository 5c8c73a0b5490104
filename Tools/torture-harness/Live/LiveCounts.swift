import Cambium

/// The numbers of what histories have tried, by the shapes of queries.
final class LiveCounts: CustomStringConvertible {
  /// The numbers of one shape.
  struct Shape {
    var queries = 0
    var steps = 0
    /// Differences that were not empty, and the entries in them.
    var diffs = 0
    var deletions = 0
    var insertions = 0
    var moves = 0
    var updates = 0

    mutating func note<Element>(_ diff: LiveDiff<Element>) {
      diffs += 1
      deletions += diff.deletions.count
      insertions += diff.insertions.count
      moves += diff.moves.count
      updates += diff.updates.count
    }

    fileprivate var numbers: [Int] {
      [queries, steps, diffs, deletions, insertions, moves, updates]
    }
  }

  var commits: UInt64 = 0
  /// Transactions that were refused, and those that another process committed.
  private var refusals = 0
  var others = 0
  private var done: [RandomWriter.Kind: Int] = [:]
  private var shapes: [String: Shape] = [:]

  subscript(shape: String) -> Shape {
    get { shapes[shape] ?? Shape() }
    set { shapes[shape] = newValue }
  }

  /// Adds the transactions of a history.
  func note(_ writer: RandomWriter) {
    refusals += writer.refusals
    done.merge(writer.done, uniquingKeysWith: +)
  }

  var description: String {
    let kinds = RandomWriter.Kind.allCases.map { "\($0) \(done[$0] ?? 0)" }
    let titles = ["queries", "steps", "diffs", "deleted", "inserted", "moved", "updated"]
    var lines = [
      "\(commits) commits, \(others) of them by other processes; \(refusals) were refused",
      kinds.joined(separator: ", "),
      LiveCounts.line("shape", titles),
    ]
    for (name, shape) in shapes.sorted(by: { $0.key < $1.key }) {
      lines.append(LiveCounts.line(name, shape.numbers.map(String.init)))
    }
    return lines.joined(separator: "\n")
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    cells.reduce(name + padding(16, name)) { $0 + padding(10, $1) + $1 }
  }

  private static func padding(_ width: Int, _ text: String) -> String {
    String(repeating: " ", count: max(1, width - text.count))
  }
}
