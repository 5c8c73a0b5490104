/// A query for words in texts.
///
/// Words are compared as the view's language has them: in any case, with or without accents, and,
/// where it has a language, by their stems. A string that reads as several words is looked for in a
/// row.
public indirect enum TextQuery: Hashable, Sendable {
  /// A word.
  case word(String)
  /// Words that begin so.
  case prefix(String)
  /// Words in a row; the last one may be the beginning of a word.
  case phrase(String, isPrefix: Bool = false)
  /// All of these; of none, everything.
  case all([TextQuery])
  /// At least one of these; of none, nothing.
  case any([TextQuery])
  /// Everything but this.
  case not(TextQuery)
  /// This, in one property.
  case within(String, TextQuery)
}

extension TextQuery: CustomStringConvertible {
  /// The text that ``init(parsing:)`` reads.
  public var description: String { text(in: .any) }

  /// The surroundings of a part, which say whether it needs parentheses.
  private enum Context { case all, any, single }

  private func text(in context: Context) -> String {
    switch self {
    case .word(let word): return word
    case .prefix(let word): return word + "*"
    case .phrase(let words, let isPrefix): return "\"\(words)\"" + (isPrefix ? "*" : "")
    case .not(let query): return "-" + query.text(in: .single)
    case .within(let property, let query): return "\(property):" + query.text(in: .single)
    case .all(let queries):
      let parts = queries.map { $0.text(in: .all) }
      return enclosed(parts.joined(separator: " "), context == .single)
    case .any(let queries):
      let parts = queries.map { $0.text(in: .any) }
      return enclosed(parts.joined(separator: " OR "), context != .any)
    }
  }

  private func enclosed(_ text: String, _ isNeeded: Bool) -> String {
    isNeeded ? "(\(text))" : text
  }
}

/// Why a text is not a query.
public struct TextQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which character is wrong, counted from 1; one past the last where something is missing.
  public let column: Int
  /// The error in words, without its place.
  public let reason: String

  /// The sentence for people.
  public var description: String { "column \(column): \(reason)" }
}
