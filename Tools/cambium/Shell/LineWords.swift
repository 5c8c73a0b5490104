/// Takes a line apart into words as a POSIX shell does, without its expansions:
///
///     put users/ada '{"name": "Ada"}'  # who    ->  put, users/ada, {"name": "Ada"}
///
/// Spaces separate words. Within single quotes every character is itself; within double quotes a
/// backslash takes the meaning from `"`, `\`, `$` and `` ` ``; outside of both, from anything. A
/// `#` at the start of a word begins a comment. Other syntax of a shell (pipes, files, several
/// commands) is refused rather than taken as text.
struct LineWords: Equatable {
  /// The words that are complete: a space follows, or the line's end.
  private(set) var words: [String] = []
  /// The last word, where the line ends in it; it is among `words` too.
  private(set) var last: Last?
  /// True if the line ends within quotes, or with a backslash.
  private(set) var isUnfinished = false

  /// A word at the end of a line.
  struct Last: Equatable {
    /// The number of characters of the line before it.
    var start: Int
    /// The word without its quotes and escapes.
    var text: String
  }

  /// Reads a line.
  ///
  /// - Throws: ``Failure`` with exit code 2 for what only a shell of the system understands.
  init(_ line: String) throws(Failure) {
    var reader = Reader(line)
    while let start = reader.nextWord() {
      let text = try reader.word()
      words.append(text)
      last = reader.isAtEnd ? Last(start: start, text: text) : nil
    }
    isUnfinished = reader.isUnfinished
  }

  /// The word that is being written, empty after a space, and those before it.
  var typed: (before: [String], last: Last?) {
    last == nil ? (words, nil) : (Array(words.dropLast()), last)
  }

  /// The form in which a word is read as one: with backslashes, so that more can follow.
  static func escaped(_ word: String) -> String {
    var result = ""
    for scalar in word.unicodeScalars {
      if special.contains(scalar) { result.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  private static let special = Set(" \t\n'\"\\#|&;<>".unicodeScalars)

  private struct Reader {
    let line: String
    let scalars: [Unicode.Scalar]
    var index = 0
    var isUnfinished = false

    init(_ line: String) {
      self.line = line
      scalars = Array(line.unicodeScalars)
    }

    var isAtEnd: Bool { index == scalars.count }

    /// Goes to the next word; nil where there is none.
    mutating func nextWord() -> Int? {
      while !isAtEnd, scalars[index].properties.isWhitespace { index += 1 }
      if isAtEnd || scalars[index] == "#" { return nil }
      return index
    }

    mutating func word() throws(Failure) -> String {
      var text = String.UnicodeScalarView()
      while !isAtEnd, !scalars[index].properties.isWhitespace {
        let scalar = scalars[index]
        switch scalar {
        case "'": quoted(until: "'", escapes: [], &text)
        case "\"": quoted(until: "\"", escapes: ["\"", "\\", "$", "`", "\n"], &text)
        case "\\": escaped(&text)
        case "|", "&", ";", "<", ">": throw refusal(of: scalar)
        default:
          text.append(scalar)
          index += 1
        }
      }
      return String(text)
    }

    private mutating func quoted(
      until end: Unicode.Scalar, escapes: Set<Unicode.Scalar>,
      _ text: inout String.UnicodeScalarView
    ) {
      index += 1
      while !isAtEnd, scalars[index] != end {
        let isEscape = scalars[index] == "\\" && index + 1 < scalars.count
        let isMeant = isEscape && escapes.contains(scalars[index + 1])
        if isMeant { index += 1 }
        // A backslash at the end of a line joins it with the next.
        if !(isMeant && scalars[index] == "\n") { text.append(scalars[index]) }
        index += 1
      }
      if isAtEnd { isUnfinished = true } else { index += 1 }
    }

    private mutating func escaped(_ text: inout String.UnicodeScalarView) {
      index += 1
      if isAtEnd { return isUnfinished = true }
      if scalars[index] != "\n" { text.append(scalars[index]) }
      index += 1
    }

    private func refusal(of scalar: Unicode.Scalar) -> Failure {
      var failure = Failure.usage(
        "“\(scalar)” does nothing here: this is no shell of the system",
        hint: "in quotes it is text; for pipes and files, run cambium from your shell")
      let before = String(String.UnicodeScalarView(scalars[..<index]))
      failure.excerpt = Failure.Excerpt(text: line, offset: before.utf8.count)
      return failure
    }
  }
}
