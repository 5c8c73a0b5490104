// SQL's patterns, expressed by the existing tests on texts.

extension Condition.Test {
  /// A pattern in which `%` matches any text and `_` any character, unless the escape is before it.
  ///
  /// - Returns: Nil where something else follows the escape, or nothing.
  static func like(
    _ path: PropertyPath, _ pattern: String, _ collation: Collation, escape: Character?
  ) -> Condition.Test? {
    guard let elements = LikePattern.elements(pattern, escape: escape) else { return nil }
    let opens = elements.first == .anyText
    let closes = elements.count > 1 && elements.last == .anyText
    let body = elements.dropFirst(opens ? 1 : 0).dropLast(closes ? 1 : 0)
    if let text = LikePattern.literal(body) {
      let test: Condition.TextTest =
        opens ? closes || body.isEmpty ? .contains : .suffix : closes ? .prefix : .equals
      if test == .equals && collation == .binary { return .compare(path, .equal, .string(text)) }
      return .text(path, test, text, collation)
    }
    if escape == nil { return .text(path, .like, pattern, collation) }
    return .text(path, .likeEscaped, LikePattern.escaped(elements), collation)
  }

  /// A pattern of which the words say the rest: `escape "!"` and a collation, if present.
  static func like(
    _ path: PropertyPath, _ pattern: String, _ words: inout ConditionTextParser
  ) throws -> Condition.Test {
    var escape: Character?
    if try words.take(word: "escape") {
      let text = try words.text("a character in quotes")
      guard text.count == 1 else { throw words.scanner.error("the escape is one character") }
      escape = text.first
    }
    let collation = try words.collation()
    if let test = like(path, pattern, collation, escape: escape) { return test }
    throw words.scanner.error("in the pattern %, _ or the escape must follow each escape")
  }

  /// A pattern without an escape.
  static func like(
    _ path: PropertyPath, _ pattern: String, _ collation: Collation
  ) -> Condition.Test {
    like(path, pattern, collation, escape: nil) ?? .text(path, .like, pattern, collation)
  }
}

extension Condition {
  /// The dialect of its patterns: 2 if it has any, nil if it has none. Patterns of dialect 1 were
  /// declared before there was another, and remain valid.
  var patternDialect: Int64? {
    test.contains { test in
      guard case .text(_, let kind, _, _) = test else { return false }
      return [.like, .likeEscaped, .matches].contains(kind)
    } ? 2 : nil
  }

  /// The condition with the patterns of a declaration that names no dialect.
  var ofFormerDialect: Condition {
    Condition(
      test.replacing { test in
        guard case .text(let path, .matches, let pattern, let collation) = test else { return test }
        return .text(path, .matchesFormerly, pattern, collation)
      })
  }
}

extension Condition.Test {
  /// True if any elementary test in it passes.
  fileprivate func contains(where passes: (Condition.Test) -> Bool) -> Bool {
    switch self {
    case .all(let tests), .any(let tests): tests.contains { $0.contains(where: passes) }
    case .not(let other), .related(_, _, let other): other.contains(where: passes)
    default: passes(self)
    }
  }

  /// The test with its elementary tests replaced.
  fileprivate func replacing(_ other: (Condition.Test) -> Condition.Test) -> Condition.Test {
    switch self {
    case .all(let tests): .all(tests.map { $0.replacing(other) })
    case .any(let tests): .any(tests.map { $0.replacing(other) })
    case .not(let test): .not(test.replacing(other))
    case .related(let relation, let quantifier, let test):
      .related(relation, quantifier, test.replacing(other))
    default: other(self)
    }
  }
}
