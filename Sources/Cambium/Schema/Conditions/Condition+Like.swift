// SQL's patterns, expressed by the existing tests on texts.

extension Condition.Test {
  /// A pattern in which `%` matches any text and `_` any character.
  static func like(
    _ path: PropertyPath, _ pattern: String, _ collation: Collation
  ) -> Condition.Test {
    let isSpecial: (Character) -> Bool = { $0 == "%" || $0 == "_" }
    let opens = pattern.first == "%"
    let closes = pattern.count > 1 && pattern.last == "%"
    let body = pattern.dropFirst(opens ? 1 : 0).dropLast(closes ? 1 : 0)
    if !body.contains(where: isSpecial) {
      let test: Condition.TextTest =
        opens ? closes || body.isEmpty ? .contains : .suffix : closes ? .prefix : .equals
      if test == .equals && collation == .binary {
        return .compare(path, .equal, .string(String(body)))
      }
      return .text(path, test, String(body), collation)
    }
    return .text(path, .like, pattern, collation)
  }
}

extension Condition {
  /// The dialect of its patterns: 2 if it has any, nil if it has none. Patterns of dialect 1 were
  /// declared before there was another, and remain valid.
  var patternDialect: Int64? {
    test.contains { test in
      if case .text(_, let kind, _, _) = test { kind == .like || kind == .matches } else { false }
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
