// The text form of a query, by recursive descent:
//
//     any    = all { "OR" all }
//     all    = part { ["AND"] part }
//     part   = ("-" | "NOT") part | property ":" part | "(" any ")" | word ["*"] | "…" ["*"]
//
// A word extends to the next space, quotation mark or parenthesis; a colon in it ends a property's
// name if a letter, a quotation mark or a parenthesis follows.

extension TextQuery {
  /// Reads a query in its text form: `wor* "in a row" -not title:this (one OR other)`.
  ///
  /// - Parameter text: The text of the query.
  /// - Throws: ``TextQueryError``.
  public init(parsing text: String) throws(TextQueryError) {
    var parser = TextQueryParser(text)
    self = try parser.query()
  }
}

private struct TextQueryParser {
  private static let depthMax = 32
  private let characters: [Character]
  private var index = 0
  private var depth = 0

  init(_ text: String) { characters = Array(text) }

  mutating func query() throws(TextQueryError) -> TextQuery {
    let query = try any()
    if peek == ")" { throw error("there is no '(' to this ')'") }
    return query
  }

  private func error(_ reason: String, at place: Int? = nil) -> TextQueryError {
    TextQueryError(column: (place ?? index) + 1, reason: reason)
  }

  private var peek: Character? { index < characters.count ? characters[index] : nil }

  private mutating func skipSpaces() {
    while let next = peek, next.isWhitespace { index += 1 }
  }

  private mutating func any() throws(TextQueryError) -> TextQuery {
    var parts = [try all()]
    while take("OR") { parts.append(try all()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func all() throws(TextQueryError) -> TextQuery {
    var parts = [try part()]
    while true {
      let hasAnd = take("AND")
      skipSpaces()
      guard let next = peek, next != ")", !isNext("OR") else {
        if hasAnd { throw error("something must follow AND") }
        return parts.count == 1 ? parts[0] : .all(parts)
      }
      parts.append(try part())
    }
  }

  private mutating func part() throws(TextQueryError) -> TextQuery {
    skipSpaces()
    depth += 1
    defer { depth -= 1 }
    if depth > TextQueryParser.depthMax { throw error("this is nested too deep") }
    if isNext("OR") || isNext("AND") { throw error("a word is missing before this") }
    if take("NOT") { return .not(try part()) }
    switch peek {
    case nil: throw error("a word is missing here")
    case "-":
      index += 1
      return .not(try part())
    case "(": return try group()
    case ")": throw error("a word is missing before this ')'")
    case "*": throw error("a word is missing before this '*'")
    case "\"": return try phrase()
    default: return try word()
    }
  }

  private mutating func group() throws(TextQueryError) -> TextQuery {
    let start = index
    index += 1
    let query = try any()
    guard peek == ")" else { throw error("there is no ')' to this '('", at: start) }
    index += 1
    return query
  }

  private mutating func phrase() throws(TextQueryError) -> TextQuery {
    let start = index
    index += 1
    guard let end = characters[index...].firstIndex(of: "\"") else {
      throw error("this quotation mark is not closed", at: start)
    }
    let words = String(characters[index..<end])
    if !words.contains(where: { $0.isLetter || $0.isNumber }) {
      throw error("there is no word between these quotation marks", at: start)
    }
    index = end + 1
    return .phrase(words, isPrefix: takeStar())
  }

  private mutating func word() throws(TextQueryError) -> TextQuery {
    let start = index
    var word = ""
    while let next = peek, !next.isWhitespace, !"\"()*".contains(next) {
      if next == ":", !word.isEmpty, isPartNext(after: index) {
        index += 1
        return .within(word, try part())
      }
      word.append(next)
      index += 1
    }
    if !word.contains(where: { $0.isLetter || $0.isNumber }) {
      throw error("'\(word)' has neither letters nor digits", at: start)
    }
    if " \(word) ".count != word.count + 2 {
      throw error("'\(word)' begins or ends with a mark that joins the space beside it", at: start)
    }
    return takeStar() ? .prefix(word) : .word(word)
  }

  /// True if a part of a query follows the colon after a property's name.
  private func isPartNext(after colon: Int) -> Bool {
    guard colon + 1 < characters.count else { return false }
    let next = characters[colon + 1]
    return next.isLetter || next.isNumber || next == "\"" || next == "("
  }

  private mutating func takeStar() -> Bool {
    guard peek == "*" else { return false }
    index += 1
    return true
  }

  /// True if an operator's word comes next.
  private func isNext(_ word: String) -> Bool {
    let end = index + word.count
    guard end <= characters.count, String(characters[index..<end]) == word else { return false }
    if end == characters.count { return true }
    return characters[end].isWhitespace || "()\"".contains(characters[end])
  }

  private mutating func take(_ word: String) -> Bool {
    skipSpaces()
    guard isNext(word) else { return false }
    index += word.count
    return true
  }
}
