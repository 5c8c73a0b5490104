// Patterns as SQL has them, made of the tests on texts that there are.

extension Condition.Test {
  /// A pattern in which `%` stands for any text and `_` for any character.
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
    var expression = "(?s)^"
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "%": expression += ".*"
      case "_": expression += "."
      case _ where #"\^$.|?*+()[]{}/-#"#.unicodeScalars.contains(scalar):
        expression += "\\\(scalar)"
      default: expression.unicodeScalars.append(scalar)
      }
    }
    return .text(path, .matches, expression + "$", collation)
  }
}
