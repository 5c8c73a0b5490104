// Reads the paths and constants of conditions.

import FoundationEssentials

extension ConditionTextParser {
  /// Words that cannot be a property's name without backticks.
  private static let reserved: Set<String> = [
    "and", "or", "not", "in", "is", "like", "between", "contains", "has", "prefix", "suffix",
    "matches", "equals", "ignoring", "true", "false", "null", "nan", "inf",
  ]

  // MARK: Paths

  /// A property's path, optionally with a function.
  mutating func path(_ what: String) throws -> PropertyPath {
    if let count = try CountedReferrers.path(&self) { return count }
    var ahead = scanner
    if case .word(let word) = try ahead.next(), ahead.isFollowed(by: "(") {
      if namesAggregates, let aggregate = try aggregateName() { return PropertyPath(aggregate) }
      guard let function = PropertyPath.Function(rawValue: word) else {
        scanner = ahead
        throw scanner.error(
          "there is no function “\(word)”; there are count, lowercased, year, month, day and hour")
      }
      scanner = ahead
      try expect("(")
      var path = try plainPath(what)
      path.function = function
      try expect(")")
      return path
    }
    return try plainPath(what)
  }

  private mutating func plainPath(_ what: String) throws -> PropertyPath {
    var names: [(name: String, isQuoted: Bool)] = []
    repeat {
      names.append(try part(names.isEmpty ? what : "a property"))
    } while try take(".")
    let last = names.removeLast()
    let isKey = last.name == "id" && !last.isQuoted
    return PropertyPath(hops: names.map(\.name), isKey ? nil : last.name)
  }

  private mutating func part(_ what: String) throws -> (name: String, isQuoted: Bool) {
    switch try scanner.next() {
    case .quoted(let name): return (name, true)
    case .word(let name):
      if ConditionTextParser.reserved.contains(name) {
        throw scanner.error(
          "expected \(what); “\(name)” is a word of the language, a name is written `\(name)`")
      }
      return (name, false)
    case .end: throw scanner.error("expected \(what), and the text ends")
    default: throw scanner.error("expected \(what)")
    }
  }

  /// A name without dots.
  mutating func name(_ what: String) throws -> String { try part(what).name }

  // MARK: Constants

  /// A constant.
  mutating func value(_ what: String) throws -> Value {
    try nested { try $0.constant(what) }
  }

  private mutating func constant(_ what: String) throws -> Value {
    switch try scanner.next() {
    case .text(let text): return .string(text)
    case .number(let number): return try numeric(number)
    case .given(let name): return try value(given: name)
    case .word("null"): return .null
    case .word("true"): return .bool(true)
    case .word("false"): return .bool(false)
    case .word("inf"): return .double(.infinity)
    case .word("nan"):
      guard scanner.isFollowed(by: "(") else { return .double(.nan) }
      return try call { parser in
        guard case .number(let text) = try parser.scanner.next(), let bits = UInt64(text) else {
          throw parser.scanner.error("expected the bits of a number")
        }
        return .double(Double(bitPattern: bits))
      }
    case .symbol("["): return .array(try list(until: "]") { try $0.value("a value") })
    case .symbol("{"): return .map(try members())
    case .word(let word):
      if let form = ConstantForm(rawValue: word) { return try constructed(form) }
      throw scanner.error("expected \(what)")
    case .end: throw scanner.error("expected \(what), and the text ends")
    default: throw scanner.error("expected \(what)")
    }
  }

  /// The value supplied with the text for a `$1` that was read.
  private mutating func value(given name: String) throws -> Value {
    guard let number = Int(name.dropFirst()), given.indices.contains(number - 1) else {
      throw scanner.error(
        "there is no value for \(name); \(given.isEmpty ? "none is" : "\(given.count) are") given")
    }
    named.insert(number - 1)
    return given[number - 1]
  }

  /// A text in quotes, or one supplied with the text.
  mutating func text(_ what: String) throws -> String {
    switch try scanner.next() {
    case .text(let text): return text
    case .given(let name):
      if case .string(let text) = try value(given: name) { return text }
      throw scanner.error("the value must be a text")
    default: throw scanner.error("expected \(what)")
    }
  }

  /// A number from zero up, or one supplied with the text.
  mutating func count() throws -> Int {
    let value: Value? =
      switch try scanner.next() {
      case .number(let text): Int64(text).map { .integer($0) }
      case .given(let name): try value(given: name)
      default: nil
      }
    guard case .integer(let number)? = value, number >= 0 else {
      throw scanner.error("expected a number")
    }
    return Int(number)
  }

  private func numeric(_ text: String) throws -> Value {
    if let integer = Int64(text) { return .integer(integer) }
    if text == "-inf" { return .double(-.infinity) }
    if let double = Double(text), double.isFinite { return .double(double) }
    throw scanner.error("“\(text)” is no number")
  }

  private mutating func members() throws -> ValueMap {
    let members = try list(until: "}") { parser -> (name: String, value: Value) in
      guard case .text(let name) = try parser.scanner.next() else {
        throw parser.scanner.error("expected a name in quotes")
      }
      try parser.expect(":")
      return (name, try parser.value("a value"))
    }
    return ValueMap(members)
  }

  private mutating func call(
    _ body: (inout ConditionTextParser) throws -> Value
  ) throws -> Value {
    try expect("(")
    let value = try body(&self)
    try expect(")")
    return value
  }

  /// `date("…")` and the like.
  private mutating func constructed(_ form: ConstantForm) throws -> Value {
    try call { parser in
      let token = try parser.scanner.next()
      if form == .date, case .number(let text) = token, let microseconds = Int64(text) {
        return .date(Date(microseconds: microseconds))
      }
      guard case .text(let text) = token else {
        throw parser.scanner.error("expected text in quotes")
      }
      if form == .blob { return try parser.blob(text) }
      guard let value = form.value(text) else {
        throw parser.scanner.error("this is no \(form.noun)")
      }
      return value
    }
  }

  private mutating func blob(_ text: String) throws -> Value {
    guard let hash = Data(base64Encoded: text), hash.count == 32 else {
      throw scanner.error("this is no hash of 32 bytes in base 64")
    }
    try expect(",")
    guard case .number(let number) = try scanner.next(), let size = UInt64(number) else {
      throw scanner.error("expected a size")
    }
    return .blob(Blob(hash: Array(hash), size: size))
  }

  // MARK: Aggregates of groups

  /// The words for aggregates over the records of a group.
  static let aggregates: Set<String> = ["sum", "avg", "average", "min", "max"]

  /// `avg(delay)` as the name of a property of a group, if that comes next.
  private mutating func aggregateName() throws -> String? {
    var ahead = self
    guard case .word(let word) = try ahead.scanner.next(),
      ConditionTextParser.aggregates.contains(word)
    else { return nil }
    try ahead.expect("(")
    let path = try ahead.plainPath("a property")
    try ahead.expect(")")
    self = ahead
    return "\(word == "average" ? "avg" : word)(\(path))"
  }
}
