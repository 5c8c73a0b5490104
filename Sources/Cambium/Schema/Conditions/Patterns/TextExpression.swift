// The engines that test a text against a pattern, by the origin of the pattern:
//
//     like "a%b_"                       LikePattern            O(n · m)
//     matches, in the linear dialect    LinearPattern          O(n · m)
//     matches, anything else            BacktrackingPattern    within limits; queries only
//     matches, in a declaration that    Swift's Regex          unchanged
//     a log of format 1 holds
//
// A pattern of the linear dialect is run by the same code in a query as in a declaration, so that
// an index whose condition equals that of a query has the records that the query would find.

import Synchronization

/// A compiled pattern.
final class TextExpression: Sendable {
  private enum Engine: Sendable {
    case like(LikePattern)
    case linear(LinearPattern)
    case backtracking(BacktrackingPattern)
    case former(FormerExpression)
  }

  private let engine: Engine

  /// Compiles a pattern.
  ///
  /// - Parameters:
  ///   - test: The kind of pattern: `like`, `likeEscaped`, `matches` or `matchesFormerly`.
  ///   - pattern: The pattern.
  ///   - collation: The collation, which decides if case matters.
  ///   - isLinear: True if it must be of the linear dialect.
  /// - Throws: ``QueryError`` if it is not a pattern of that kind.
  init(
    _ test: Condition.TextTest, _ pattern: String, _ collation: Collation, isLinear: Bool
  ) throws {
    let ignoresCase = collation != .binary
    switch test {
    case .like: engine = .like(LikePattern(pattern, collation))
    case .likeEscaped: engine = .like(LikePattern(pattern, collation, escape: "\\"))
    case .matchesFormerly: engine = .former(try FormerExpression(pattern, ignoresCase: ignoresCase))
    default:
      do throws(PatternError) {
        engine = .linear(try LinearPattern(pattern, ignoresCase: ignoresCase))
      } catch {
        if isLinear {
          throw QueryError(
            "/\(pattern)/ cannot be declared: \(error.reason). A declaration takes literals, "
              + "classes, “.”, “^”, “$”, groups, “|” and repetitions; other expressions are for "
              + "queries")
        }
        engine = .backtracking(try TextExpression.backtracking(pattern, ignoresCase))
      }
    }
  }

  private static func backtracking(
    _ pattern: String, _ ignoresCase: Bool
  ) throws -> BacktrackingPattern {
    do throws(PatternError) {
      return try BacktrackingPattern(pattern, ignoresCase: ignoresCase)
    } catch {
      throw QueryError("/\(pattern)/ is no regular expression: \(error.reason)")
    }
  }

  /// True if a part of a text in UTF-8 matches; for `like`, all of it.
  func matches(_ text: RawSpan) throws -> Bool {
    switch engine {
    case .like(let pattern): try pattern.matches(text)
    case .linear(let pattern): try pattern.matches(text)
    case .backtracking(let pattern): try pattern.matches(text)
    case .former(let expression): try expression.matches(text.string(0, text.byteCount))
    }
  }
}

/// An expression of a declaration that was logged before there were dialects.
///
/// `Regex` does not promise that several threads may use it at once, so they take turns.
private final class FormerExpression: Sendable {
  private let expression: Mutex<Regex<AnyRegexOutput>>

  init(_ pattern: String, ignoresCase: Bool) throws {
    do {
      let expression = try Regex(pattern)
      self.expression = Mutex(ignoresCase ? expression.ignoresCase() : expression)
    } catch {
      throw QueryError("/\(pattern)/ is no regular expression: \(error)")
    }
  }

  func matches(_ text: String) throws -> Bool {
    try expression.withLock { try $0.firstMatch(in: text) != nil }
  }
}
