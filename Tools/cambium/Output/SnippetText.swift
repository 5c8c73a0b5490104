import Cambium

/// A piece of a text on one line, with matches between `**`, and `…` where the text continues.
///
///     … the **white** **whale** swam before him …
struct SnippetText {
  private let snippet: TextSnippet

  init(_ snippet: TextSnippet) { self.snippet = snippet }

  /// As a text, for programs.
  var text: String { parts.map { $0.isFound ? "**\($0.text)**" : $0.text }.joined() }

  /// As a line, for people.
  var line: StyledLine {
    var line = StyledLine()
    for part in parts {
      let text = Terminal.escaped(part.text)
      line.add(part.isFound ? "**\(text)**" : text, part.isFound ? .heading : nil)
    }
    return line
  }

  private var parts: [(text: String, isFound: Bool)] {
    var parts: [(text: String, isFound: Bool)] = []
    func add(_ text: Substring, isFound: Bool) {
      if !text.isEmpty { parts.append((SnippetText.flat(text), isFound)) }
    }
    if snippet.isCutAtStart { parts.append(("… ", false)) }
    var start = snippet.text.startIndex
    for range in snippet.highlights {
      add(snippet.text[start..<range.lowerBound], isFound: false)
      add(snippet.text[range], isFound: true)
      start = range.upperBound
    }
    add(snippet.text[start...], isFound: false)
    if snippet.isCutAtEnd { parts.append((" …", false)) }
    return parts
  }

  /// The text with one space for each stretch of spaces and line ends.
  private static func flat(_ text: Substring) -> String {
    var flat = ""
    for character in text {
      if !character.isWhitespace {
        flat.append(character)
      } else if flat.last != " " {
        flat.append(" ")
      }
    }
    return flat
  }
}
