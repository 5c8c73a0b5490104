// Parser of conditions. The grammar is in QueryText.swift.

/// Reads a condition, or the conditions in a query.
struct ConditionTextParser {
  /// The maximum nesting depth of brackets and lists.
  private static let depthMax = 200

  var scanner: ConditionTextScanner
  private var depth = 0
  /// True if aggregates of groups may be named: `avg(delay)`.
  var namesAggregates = false
  /// The values of `$1`, `$2` and so on.
  let given: [Value]
  /// The indexes of the given values that the text has used.
  var named: Set<Int> = []

  init(_ text: String, _ given: [Value] = []) {
    scanner = ConditionTextScanner(text)
    self.given = given
  }

  // MARK: Words

  /// The error that names the next word.
  mutating func expected(_ what: String) throws -> QueryError {
    let token = try scanner.next()
    return scanner.error(token == .end ? "expected \(what), and the text ends" : "expected \(what)")
  }

  /// Takes the next word if it is this one.
  mutating func take(word: String) throws -> Bool { try take(.word(word)) }

  /// Takes the next word if it is this symbol.
  mutating func take(_ symbol: String) throws -> Bool { try take(.symbol(symbol)) }

  private mutating func take(_ token: ConditionTextScanner.Token) throws -> Bool {
    guard try scanner.peek() == token else { return false }
    _ = try scanner.next()
    return true
  }

  mutating func expect(_ symbol: String, _ what: String? = nil) throws {
    if try !take(symbol) { throw try expected(what ?? "“\(symbol)”") }
  }

  mutating func expectEnd(_ what: String = "“and”, “or”, or the end") throws {
    if try scanner.peek() != .end { throw try expected(what) }
    guard let unnamed = given.indices.first(where: { !named.contains($0) }) else { return }
    _ = try scanner.next()
    throw scanner.error("\(given.count) values are given, and the text has no $\(unnamed + 1)")
  }

  /// A list of elements between commas.
  mutating func list<T>(
    until close: String, _ element: (inout ConditionTextParser) throws -> T
  ) throws -> [T] {
    if try take(close) { return [] }
    let elements = try list(element)
    try expect(close, "“,” or “\(close)”")
    return elements
  }

  /// Reads what commas separate, of which there is one at least.
  mutating func list<T>(
    _ element: (inout ConditionTextParser) throws -> T
  ) throws -> [T] {
    var elements: [T] = []
    repeat { elements.append(try element(&self)) } while try take(",")
    return elements
  }

  /// Descends one level, unless the maximum depth is reached.
  mutating func nested<T>(_ body: (inout ConditionTextParser) throws -> T) throws -> T {
    depth += 1
    defer { depth -= 1 }
    if depth > ConditionTextParser.depthMax {
      _ = try scanner.next()
      throw scanner.error("nested more than \(ConditionTextParser.depthMax) deep")
    }
    return try body(&self)
  }

  // MARK: Conditions

  mutating func condition() throws -> Condition.Test {
    try nested { parser in
      var tests = [try parser.conjunction()]
      while try parser.take(word: "or") { tests.append(try parser.conjunction()) }
      return tests.count == 1 ? tests[0] : .any(tests)
    }
  }

  private mutating func conjunction() throws -> Condition.Test {
    var tests = [try negation()]
    while try take(word: "and") { tests.append(try negation()) }
    return tests.count == 1 ? tests[0] : .all(tests)
  }

  private mutating func negation() throws -> Condition.Test {
    if try take(word: "not") { return try nested { .not(try $0.negation()) } }
    if try take("(") {
      let test = try condition()
      try expect(")", "“and”, “or” or “)”")
      return test
    }
    if try take(word: "true") { return .all([]) }
    if try take(word: "false") { return .any([]) }
    return try test()
  }

  private mutating func test() throws -> Condition.Test {
    let path = try self.path("a property")
    let token = try scanner.peek()
    if case .symbol(let symbol) = token, let comparison = Condition.Comparison(symbol) {
      _ = try scanner.next()
      return try comparing(path, comparison)
    }
    guard case .word(let word) = token else { throw try expected("a comparison") }
    switch word {
    case "is":
      _ = try scanner.next()
      let isNot = try take(word: "not")
      if try !take(word: "null") { throw try expected("“null”") }
      return .compare(path, isNot ? .notEqual : .equal, .null)
    case "not":
      _ = try scanner.next()
      return .not(try tested(path))
    default: return try tested(path)
    }
  }

  private mutating func comparing(
    _ path: PropertyPath, _ comparison: Condition.Comparison
  ) throws -> Condition.Test {
    if try startsPath() {
      return .compareProperties(path, comparison, try self.path("a value or a property"))
    }
    let value = try value("a value or a property")
    if case .string(let text) = value {
      let collation = try self.collation()
      if collation != .binary {
        let test = Condition.Test.text(path, .equals, text, collation)
        switch comparison {
        case .equal: return test
        case .notEqual: return .not(test)
        default: throw scanner.error("only = and != can ignore case")
        }
      }
    }
    return .compare(path, comparison, value)
  }

  /// True if a property's path comes next, and not a value.
  private func startsPath() throws -> Bool {
    var ahead = scanner
    switch try ahead.next() {
    case .quoted: return true
    case .word(let word):
      if ["true", "false", "null", "nan", "inf"].contains(word) { return false }
      return !(ConstantForm(rawValue: word) != nil && ahead.isFollowed(by: "("))
    default: return false
    }
  }

  /// Reads the test after a property, if its operator is a word: `in`, `like`, `any` and so on.
  private mutating func tested(_ path: PropertyPath) throws -> Condition.Test {
    let token = try scanner.next()
    guard case .word(let word) = token else {
      throw scanner.error("expected a comparison: =, <, in, is, like, between, any …")
    }
    switch word {
    case "in": return .oneOf(path, try values())
    case "has": return .contains(path, try value("a value"))
    case "between":
      let least = try value("a value")
      if try !take(word: "and") { throw try expected("“and”") }
      let greatest = try value("a value")
      return .all([.compare(path, .greaterOrEqual, least), .compare(path, .lessOrEqual, greatest)])
    case "equals", "prefix", "suffix", "contains", "like", "matches":
      return try text(path, word)
    case "any", "all", "none": return try related(.elements(path), word)
    case "by":
      guard path.hops.isEmpty, path.function == nil, let name = path.property else {
        throw scanner.error("before “by” there must be a collection")
      }
      let collection = try self.path(of: name)
      let property = try self.name("the property that refers to this record")
      guard case .word(let quantifier) = try scanner.next() else {
        throw scanner.error("expected “any”, “all” or “none”")
      }
      return try related(.inverse(collection, property: property), quantifier)
    default:
      throw scanner.error("expected a comparison: =, <, in, is, like, between, any …")
    }
  }

  /// The values in brackets, or an array supplied with the text.
  private mutating func values() throws -> [Value] {
    if case .given = try scanner.peek() {
      if case .array(let values) = try value("values") { return values }
      throw scanner.error("after “in” the value must be an array")
    }
    try expect("(")
    return try list(until: ")") { try $0.value("a value") }
  }

  /// The path of a collection, from the word that was read last.
  func path(of name: String) throws -> NodePath {
    do { return try NodePath(name) } catch { throw scanner.error("this is no path") }
  }

  private mutating func related(
    _ relation: Condition.ToMany, _ word: String
  ) throws -> Condition.Test {
    guard let quantifier = Condition.Quantifier(rawValue: word) else {
      throw scanner.error("expected “any”, “all” or “none”")
    }
    try expect("(")
    let inner = try innerCondition()
    try expect(")", "“and”, “or” or “)”")
    return .related(relation, quantifier, inner)
  }

  /// A condition on related records, which are no groups.
  mutating func innerCondition() throws -> Condition.Test {
    let aggregates = namesAggregates
    namesAggregates = false
    defer { namesAggregates = aggregates }
    return try condition()
  }

  // MARK: Texts

  private mutating func text(_ path: PropertyPath, _ word: String) throws -> Condition.Test {
    let text: String
    if word == "matches", case .symbol = try scanner.peek() {
      text = try scanner.expression()
    } else {
      text = try self.text(
        word == "matches" ? "an expression: /…/ or \"…\"" : "text in quotes")
    }
    if word == "like" { return try .like(path, text, &self) }
    let collation = try self.collation()
    return .text(path, Condition.TextTest(rawValue: word) ?? .matches, text, collation)
  }

  /// `ignoring case [and diacritics]`, if present.
  mutating func collation() throws -> Collation {
    guard try take(word: "ignoring") else { return .binary }
    guard try take(word: "case") else { throw try expected("“case”") }
    var ahead = scanner
    guard try ahead.next() == .word("and"), try ahead.next() == .word("diacritics") else {
      return .ignoringCase
    }
    scanner = ahead
    return .ignoringCaseAndDiacritics
  }
}

extension Condition.Comparison {
  /// The comparison that a symbol denotes; two have a second one.
  init?(_ symbol: String) {
    self.init(rawValue: symbol == "==" ? "=" : symbol == "<>" ? "!=" : symbol)
  }
}
