// Conditions as text. `ConditionTextParser` reads the text written here; the grammar is in
// QueryText.swift.

import FoundationEssentials

extension Condition: CustomStringConvertible {
  /// The condition in the query language; `init(parsing:_:)` reads it.
  ///
  ///     departureDelay > 60 and origin.name prefix "John"
  public var description: String { test.text }

  /// Reads a condition, in which `$1`, `$2` and so on are replaced by `values`.
  init(parsing text: String, values: [Value]) throws {
    var parser = ConditionTextParser(text, values)
    let test = try parser.condition()
    try parser.expectEnd()
    self.init(test)
  }
}

extension Condition {
  /// A condition written as text in the program, which traps if the text is not a condition.
  ///
  ///     Index(\.delay).where { _ in Condition("delay > 0 and carrier is not null") }
  public init(_ text: StaticString) {
    do { try self.init(parsing: text.description, values: []) } catch {
      preconditionFailure("a condition in the program cannot be read:\n\(error)")
    }
  }
}

extension Condition.Test {
  /// The test as text.
  var text: String { text(listMax: .max) }

  /// The test as explanations show it: of a long list the first elements, and their number.
  var brief: String { text(listMax: 5) }

  private func text(listMax: Int) -> String {
    switch self {
    case .all(let tests):
      tests.isEmpty ? "true" : Self.list(tests.lazy.map { $0.part(listMax) }, " and ", listMax)
    case .any(let tests):
      tests.isEmpty ? "false" : Self.list(tests.lazy.map { $0.part(listMax) }, " or ", listMax)
    case .not(let other): "not \(other.part(listMax))"
    case .compare(let path, .equal, .null): "\(path) is null"
    case .compare(let path, .notEqual, .null): "\(path) is not null"
    case .compare(let path, let comparison, let value):
      "\(path) \(comparison.rawValue) \(value.literal(listMax: listMax))"
    case .compareProperties(let path, let comparison, let other):
      "\(path) \(comparison.rawValue) \(other)"
    case .oneOf(let path, let values):
      "\(path) in (\(Self.list(values.lazy.map(\.literal), ", ", listMax)))"
    case .text(let path, .matches, let text, let collation),
      .text(let path, .matchesFormerly, let text, let collation):
      "\(path) matches \(ConditionText.expression(text))\(collation.suffix)"
    case .text(let path, .likeEscaped, let text, let collation):
      "\(path) like \(ConditionText.quoted(text)) escape \(ConditionText.quoted("\\"))"
        + collation.suffix
    case .text(let path, let test, let text, let collation):
      "\(path) \(test.rawValue) \(ConditionText.quoted(text))\(collation.suffix)"
    case .contains(let path, let value): "\(path) has \(value.literal)"
    case .related(let relation, let quantifier, let inner):
      "\(relation.text) \(quantifier.rawValue) (\(inner.text(listMax: listMax)))"
    }
  }

  /// The test as a part of another: in brackets if it would be misread without them.
  private func part(_ listMax: Int) -> String {
    switch self {
    case .all(let tests) where tests.count > 0, .any(let tests) where tests.count > 0:
      "(\(text(listMax: listMax)))"
    default: text(listMax: listMax)
    }
  }

  /// The elements of a list, of which one that is cut has only the first.
  fileprivate static func list(
    _ elements: some Collection<String>, _ separator: String, _ listMax: Int
  ) -> String {
    if elements.count <= listMax { return elements.joined(separator: separator) }
    let first = elements.prefix(listMax) + ["… (\(elements.count) in all)"]
    return first.joined(separator: separator)
  }
}

extension Condition.ToMany {
  fileprivate var text: String {
    switch self {
    case .inverse(let path, let property):
      "\(ConditionText.quotedName(path.description)) by \(ConditionText.name(property))"
    case .elements(let path): "\(path)"
    }
  }
}

extension Collation {
  /// The words that follow a text that is compared under the collation, in the query language.
  var suffix: String {
    switch self {
    case .binary: ""
    case .ignoringCase: " ignoring case"
    case .ignoringCaseAndDiacritics: " ignoring case and diacritics"
    }
  }
}

extension PropertyPath: CustomStringConvertible {
  /// The path in the query language: `origin.name`, `year(scheduled)`.
  public var description: String {
    if let countText { return countText }
    let names = hops.map(ConditionText.name) + [property.map(ConditionText.name) ?? "id"]
    let text = names.joined(separator: ".")
    return function.map { "\($0.rawValue)(\(text))" } ?? text
  }
}

/// The written forms of names, texts and constants.
enum ConditionText {
  /// The language's words; a name equal to one is written in backticks.
  static let words: Set<String> = [
    "and", "or", "not", "in", "is", "like", "between", "any", "all", "none", "contains", "has",
    "prefix", "suffix", "matches", "equals", "by", "ignoring", "true", "false", "null", "nan",
    "inf", "id", "where", "sort", "limit", "offset", "after", "select", "distinct", "group",
    "having", "join", "left", "inner", "on", "as", "nulls",
  ]

  /// A name as written in a path.
  static func name(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && !words.contains(name)
      && name.utf8.allSatisfy { byte in
        let lower = byte | 0x20
        return byte == UInt8(ascii: "_") || byte >= 0x30 && byte <= 0x39
          || lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
      }
      && !(name.utf8.first.map { $0 >= 0x30 && $0 <= 0x39 } ?? true)
    return isPlain ? name : quotedName(name)
  }

  /// A name in backticks.
  static func quotedName(_ name: String) -> String { "`\(escaped(name, "`"))`" }

  /// Text in quotes.
  static func quoted(_ text: String) -> String { "\"\(escaped(text, "\""))\"" }

  /// An expression between slashes, or in quotes if it contains slashes.
  static func expression(_ text: String) -> String {
    let isPlain = !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/"))
    return isPlain && !text.hasSuffix("\\") ? "/\(text)/" : quoted(text)
  }

  private static func escaped(_ text: String, _ quote: Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", quote: result.append(contentsOf: ["\\", scalar])
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension Value {
  /// The value in the query language, an array cut to so many elements.
  fileprivate func literal(listMax: Int) -> String {
    guard case .array(let elements) = self else { return literal }
    return "[\(Condition.Test.list(elements.lazy.map(\.literal), ", ", listMax))]"
  }

  /// The value in the query language.
  var literal: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .double(let value): Value.literal(value)
    case .string(let value): ConditionText.quoted(value)
    case .data(let value): "data(\"\(value.base64EncodedString())\")"
    case .date(let value): "date(\"\(DateLiteral.text(value))\")"
    case .uuid(let value): "uuid(\"\(value.uuidString.lowercased())\")"
    case .decimal(let value): "decimal(\"\(value)\")"
    case .array(let elements): "[\(elements.map(\.literal).joined(separator: ", "))]"
    case .map(let record):
      "{"
        + record.pairs.map { "\(ConditionText.quoted($0.0)): \($0.1.literal)" }
        .joined(separator: ", ") + "}"
    case .reference(let path): "path(\(ConditionText.quoted(path.description)))"
    case .blob(let blob): "blob(\"\(Data(blob.hash).base64EncodedString())\", \(blob.size))"
    }
  }

  private static func literal(_ value: Double) -> String {
    if value.isInfinite { return value < 0 ? "-inf" : "inf" }
    if value.bitPattern == Double.nan.bitPattern { return "nan" }
    return value.isNaN ? "nan(\(value.bitPattern))" : value.description
  }
}

extension ConditionText {
  /// A collection's path as written in a query.
  static func collection(_ path: NodePath) -> String { path.isRoot ? "/" : path.description }
}
