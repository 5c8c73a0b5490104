import FoundationEssentials

/// A query for words in texts.
///
/// Words are compared by the rules of the view's language: in any case, with or without accents,
/// and, if it has a language, by their stems. A string that consists of several words is searched
/// for as a phrase.
public indirect enum TextQuery: Hashable, Sendable {
  /// A word.
  case word(String)
  /// Words with this beginning.
  case prefix(String)
  /// Words in a row; the last one may be the beginning of a word.
  case phrase(String, isPrefix: Bool = false)
  /// All of these; everything if the list is empty.
  case all([TextQuery])
  /// At least one of these; nothing if the list is empty.
  case any([TextQuery])
  /// Everything except this.
  case not(TextQuery)
  /// This, in one property.
  case within(String, TextQuery)
}

extension TextQuery: CustomStringConvertible {
  /// The text that ``init(parsing:)`` reads.
  public var description: String { text(in: .any) }

  /// The context of a part, which decides if it needs parentheses.
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

/// The reason why a text is not a query.
public struct TextQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the wrong character, counted from 1; one past the last if something is missing.
  public let column: Int
  /// The error in words, without its column.
  public let reason: String

  /// The sentence for people.
  public var description: String { "column \(column): \(reason)" }
}

extension TextQueryError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }
}
