/// The completion of a line by a Tab: it completes the last word as far as all candidates agree, or
/// shows them.
struct LineTab {
  /// The largest number of candidates that are shown.
  static let shownMax = 100

  let completion: LineCompletion
  /// The width of the terminal.
  let columns: Int

  /// Completes the last word of the text before the cursor.
  func completed(_ line: String) -> LineEditor.Completion {
    guard let read = try? LineWords(line) else { return .nothing }
    var (before, last) = read.typed
    // Whoever starts with the tool's name means the same.
    if before.first == "cambium" { before.removeFirst() }
    let count = line.unicodeScalars.count
    let word = last ?? LineWords.Last(start: count, text: "")
    let candidates = completion.candidates(after: before, word.text)
    guard let first = candidates.first else { return .nothing }
    let common = candidates.dropFirst().reduce(first, LineTab.common)
    if candidates.count == 1 {
      let end = first.hasSuffix("/") ? "" : " "
      return .replace(count - word.start, with: LineWords.escaped(first) + end)
    }
    if common.utf8.count > word.text.utf8.count {
      return .replace(count - word.start, with: LineWords.escaped(common))
    }
    return .show(shown(candidates))
  }

  /// The start that two words share.
  private static func common(_ a: String, _ b: String) -> String {
    let pairs = zip(a.unicodeScalars, b.unicodeScalars)
    return String(String.UnicodeScalarView(pairs.prefix { $0 == $1 }.map(\.0)))
  }

  /// The candidates in columns, as `ls` has them; of paths only the last part.
  private func shown(_ candidates: [String]) -> [String] {
    var names = candidates.prefix(LineTab.shownMax).map(LineTab.lastPart)
    if candidates.count > names.count { names.append("…") }
    let width = (names.map(Terminal.displayWidth).max() ?? 0) + 2
    let perLine = max(1, columns / width)
    let lines = (names.count + perLine - 1) / perLine
    return (0..<lines).map { line in
      let parts = stride(from: line, to: names.count, by: lines).map { names[$0] }
      return parts.dropLast().map { Terminal.padded($0, to: width) }.joined() + (parts.last ?? "")
    }
  }

  private static func lastPart(_ candidate: String) -> String {
    let body = candidate.hasSuffix("/") ? candidate.dropLast() : candidate[...]
    guard let slash = body.lastIndex(of: "/") else { return candidate }
    return String(candidate[candidate.index(after: slash)...])
  }
}
