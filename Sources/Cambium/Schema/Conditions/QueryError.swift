import FoundationEssentials

/// The reason why a query or a condition cannot be answered as it is.
///
///     flights where departureDelay >> 60
///                                   ^
///     expected a value or a property
///
/// Recovery: change the query; if it was given as text, the mark is under the wrong word.
public struct QueryError: Error, Equatable, Sendable {
  /// The problem, in words.
  public var reason: String
  /// The text that was read, if the query was given as text.
  public var text: String?
  /// The start of the wrong word, in bytes of UTF-8.
  public var offset = 0
  /// The length of the wrong word in bytes; zero at the end of the text.
  public var count = 0

  package init(_ reason: String) { self.reason = reason }

  init(_ reason: String, in text: String, at offset: Int, count: Int = 0) {
    self.reason = reason
    self.text = text
    self.offset = offset
    self.count = count
  }
}

extension QueryError: CustomStringConvertible {
  /// The reason; before it the line of the text with a mark under the word, if there is a text.
  public var description: String {
    guard let text else { return reason }
    let before = text.utf8.prefix(offset)
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map(text.utf8.index(after:))
    let start = lineStart ?? text.startIndex
    let rest = text.utf8[start...]
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    let column = String(decoding: text.utf8[start..<before.endIndex], as: UTF8.self).count
    let marks = String(repeating: "^", count: max(1, min(count, 60)))
    return "\(String(decoding: line, as: UTF8.self))\n"
      + String(repeating: " ", count: column) + marks + "\n" + reason
  }
}

extension QueryError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }

  /// The remedy, in a sentence.
  public var recoverySuggestion: String? { "Change the query." }
}
