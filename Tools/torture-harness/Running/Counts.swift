/// The counts of what was run and found, as a table.
struct Counts: CustomStringConvertible {
  var cases: [Trial: UInt64] = [:]
  var violations: [Trial: UInt64] = [:]
  var seconds: [Trial: Double] = [:]
  /// Jobs that cannot be run here, and those that could not be run to their end.
  var skipped = 0
  var broken = 0
  /// The number of planted bugs, and the names of those that were not found.
  var controls = 0
  var missed: [String] = []
  /// The measurements of the recovery of a large database, on one line.
  var recovery = ""

  /// True if a promise was broken, or something could not be tried.
  var isBad: Bool { !missed.isEmpty || broken > 0 || violations.values.contains { $0 > 0 } }

  var description: String {
    var lines = ["", Counts.line("trial", ["cases", "violations", "seconds"])]
    for trial in Trial.allCases where cases[trial] != nil {
      let numbers = [cases[trial] ?? 0, violations[trial] ?? 0, UInt64(seconds[trial] ?? 0)]
      lines.append(Counts.line(trial.rawValue, numbers.map { "\($0)" }))
    }
    if skipped > 0 { lines.append("skipped: \(skipped)") }
    if broken > 0 { lines.append("broken off: \(broken)") }
    if controls > 0 {
      lines.append("planted bugs found: \(controls - missed.count) of \(controls)")
    }
    for bug in missed { lines.append("missed: \(bug)") }
    if !recovery.isEmpty { lines.append("recovery of 2,000,000 nodes: \(recovery)") }
    return lines.joined(separator: "\n")
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    let padded = zip(cells, [9, 12, 9]).map { String(repeating: " ", count: $1 - $0.count) + $0 }
    return name + String(repeating: " ", count: 12 - name.count) + padded.joined()
  }
}
