/// A regular expression for texts outside of queries: the one of `matches`, with the same limits.
package struct TextPattern: Sendable {
  private let expression: TextExpression

  /// Compiles an expression.
  ///
  /// - Parameters:
  ///   - pattern: The expression.
  ///   - ignoresCase: True to ignore case.
  /// - Throws: ``QueryError`` if it is no regular expression.
  package init(_ pattern: String, ignoresCase: Bool) throws {
    expression = try TextExpression(
      .matches, pattern, ignoresCase ? .ignoringCase : .binary, isLinear: false)
  }

  /// True if a part of a text matches.
  ///
  /// - Parameter text: The text.
  /// - Returns: True if it does.
  /// - Throws: ``QueryError`` if the expression takes too long on it.
  package func matches(_ text: String) throws -> Bool {
    try Array(text.utf8).lend { try expression.matches($0) }
  }
}
