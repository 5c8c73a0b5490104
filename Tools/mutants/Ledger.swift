import Foundation

/// The file that says what became of each mutant: a line has the columns of its identity, then the
/// verdict and the reason or the finder.
struct Ledger {
  /// The judgement on a mutant.
  enum Verdict: String, CaseIterable {
    case found
    case survived
    /// Written by hand: no caller can see the difference. The detail says why.
    case equivalent
    /// The compiler refuses it, so that it is not drawn.
    case refused
  }

  struct Line {
    let verdict: Verdict
    let detail: String
  }

  private let path: String
  private(set) var lines: [Mutant.Identity: Line] = [:]

  init(path: String) throws {
    self.path = path
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard columns.count == 8, let identity = Mutant.Identity(columns),
        let verdict = Verdict(rawValue: String(columns[6]))
      else { throw Failure(text: "\(path) cannot be read: \(line)") }
      lines[identity] = Line(verdict: verdict, detail: String(columns[7]))
    }
  }

  mutating func note(_ identity: Mutant.Identity, _ line: Line) throws {
    lines[identity] = line
    let sorted = lines.map { ($0.columns + [$1.verdict.rawValue, $1.detail]) }
    let text = sorted.map { $0.joined(separator: "\t") }.sorted().joined(separator: "\n")
    let head = "# file, symbol, kind, before, after, occurrence, verdict, finder or reason\n"
    try (head + text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
  }
}

/// The score of a run.
struct Score {
  private var counts: [String: [Ledger.Verdict?: Int]] = [:]

  /// - Parameters:
  ///   - drawn: The mutants that were drawn.
  ///   - lines: Their lines, as far as they have one.
  init(_ drawn: [Mutant.Identity], _ lines: [Mutant.Identity: Ledger.Line]) {
    for identity in drawn {
      let verdict = lines[identity]?.verdict
      counts[identity.folder, default: [:]][verdict, default: 0] += 1
      counts["all", default: [:]][verdict, default: 0] += 1
    }
  }

  var table: String {
    var text = "| Folder | Drawn | Not run | Equivalent | Found | Survived | Score |\n"
    text += "|---|--:|--:|--:|--:|--:|--:|\n"
    let folders = counts.keys.sorted { ($0 == "all" ? 1 : 0, $0) < ($1 == "all" ? 1 : 0, $1) }
    for folder in folders {
      let count = counts[folder] ?? [:]
      let (found, survived) = (count[.found] ?? 0, count[.survived] ?? 0)
      let judged = found + survived
      let score = judged == 0 ? "" : String(format: "%.1f %%", 100 * Double(found) / Double(judged))
      let columns = [count.values.reduce(0, +), count[nil] ?? 0, count[.equivalent] ?? 0, found]
      text += "| \(folder) | " + columns.map { "\($0)" }.joined(separator: " | ")
      text += " | \(survived) | \(score) |\n"
    }
    return text
  }

  /// True if all were run, and enough of those that differ were found.
  func reaches(_ percent: Int) -> Bool {
    let count = counts["all"] ?? [:]
    let (found, survived) = (count[.found] ?? 0, count[.survived] ?? 0)
    return count[nil] == nil && found * 100 >= percent * (found + survived)
  }
}

struct Failure: Error {
  let text: String
}
