/// The outcomes of damages, as a table.
package struct DamageCounts: CustomStringConvertible {
  /// The outcome of one question to a damaged database.
  package enum Outcome: String, CaseIterable, Sendable {
    case right
    case error
    case wrong
    case signal
    case hang
  }

  private var counts: [String: [Outcome: Int]] = [:]
  /// Descriptions of what was wrong, so that it can be seen again.
  package private(set) var failures: [String] = []

  package init() {}

  package mutating func add(_ kind: String, _ outcome: Outcome, _ what: @autoclosure () -> String) {
    counts[kind, default: [:]][outcome, default: 0] += 1
    if ![.right, .error].contains(outcome) { failures.append("\(outcome): \(what())") }
  }

  package subscript(outcome: Outcome) -> Int {
    counts.values.reduce(0) { $0 + ($1[outcome] ?? 0) }
  }

  package var description: String {
    let names = Outcome.allCases.map(\.rawValue)
    var lines = [DamageCounts.line("damage", names)]
    for (kind, outcomes) in counts.sorted(by: { $0.key < $1.key }) {
      lines.append(DamageCounts.line(kind, Outcome.allCases.map { "\(outcomes[$0] ?? 0)" }))
    }
    lines.append(DamageCounts.line("all", Outcome.allCases.map { "\(self[$0])" }))
    return lines.joined(separator: "\n")
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    let padded = cells.map { String(repeating: " ", count: max(9 - $0.count, 1)) + $0 }
    return name + String(repeating: " ", count: max(18 - name.count, 1)) + padded.joined()
  }
}
