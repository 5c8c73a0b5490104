/// A step through JSON.
package enum JSONEvent: Equatable {
  case beginObject
  /// A member's name; its value comes next.
  case name(String)
  case endObject
  case beginArray
  case endArray
  /// A value that is no array and no map.
  case scalar(Value)
}

/// Reads JSON piece by piece, in constant memory however large it is.
///
///     var reader = try JSONReader(ByteSource(path: "a.json"))
///     while let event = try reader.next() { … }        // or try reader.value() for whole values
///
/// RFC 8259 leaves some choices open. They are made like this:
/// - A document is one value. In lines (`.jsonl`), each line is one; empty lines are skipped.
/// - A number without point and exponent is an integer, within 64 bits, or else an error; `-0` is
///   zero. All others are doubles; too large a number is an error, and so is one that is nearly but
///   not 0.
/// - A name twice in one object is an error. Names are compared by a hash of 64 bits: eight to
///   thirty bytes are kept for each member of the objects that are open.
/// - A byte order mark is skipped. Nesting ends at 512, a text or line at 16 MiB.
///
/// A typed reader also reads what ``JSONTypes`` adds, as ``JSONWriter`` writes it. One that keeps
/// digits makes a decimal of each number that is not the shortest form of a double, and refuses
/// what has more than 38 digits.
///
/// Invariants:
/// 1. The containers up to `depth` are open; those above are kept for reuse. Only `open` and
///    `close` change it.
package struct JSONReader: ~Copyable {
  /// The deepest nesting of arrays and objects that is read.
  package static let nestingMax = 512

  /// The treatment of digits that a number of 64 bits would lose.
  package enum Digits {
    /// A whole number is an error, another is rounded.
    case rounded
    /// The number becomes a decimal; one that has too many digits for that too is as above.
    case keptWherePossible
    /// The number becomes a decimal; one that has too many digits for that too is an error.
    case kept
  }

  /// The tokens that may come next.
  private enum Expectation { case start, value, firstElement, firstName, name, separator, end }

  private struct Container {
    var isObject = false
    var names = NameSet()
  }

  package let isTyped: Bool
  let digits: Digits
  /// The number of bytes of the input before the last event.
  package private(set) var eventOffset: UInt64 = 0
  /// The line of the last event, from 1, where the input is lines of JSON.
  package private(set) var line = 1
  private var tokens: JSONTokens
  private var expectation = Expectation.start
  private var containers: [Container] = []
  private var depth = 0

  /// Starts to read; a text, a number or a line may have `bytesMax` bytes.
  package init(
    _ source: consuming ByteSource, form: JSONTokens.Form = .document, isTyped: Bool = false,
    digits: Digits = .rounded, bytesMax: Int = JSONTokens.bytesMax
  ) throws(InputError) {
    tokens = try JSONTokens(source, form: form, bytesMax: bytesMax)
    self.isTyped = isTyped
    self.digits = digits
  }

  /// The input's length in bytes, and how much of it is read, for a progress bar.
  package var progress: (done: UInt64, total: UInt64) { tokens.progress }

  /// The next step; nil at the end of the input.
  package mutating func next() throws(InputError) -> JSONEvent? {
    while true {
      let token = try tokens.peek()
      eventOffset = try tokens.nextOffset()
      switch (expectation, token.kind) {
      case (.start, .lineEnd), (.end, .lineEnd):
        tokens.consume()
        line += 1
        expectation = .start
      case (.start, .end) where tokens.form == .lines, (.end, .end):
        return nil
      case (.separator, .punctuation(ASCII.comma)):
        tokens.consume()
        expectation = isInObject ? .name : .value
      case (.firstElement, .punctuation(UInt8(ascii: "]"))),
        (.separator, .punctuation(UInt8(ascii: "]"))) where !isInObject,
        (.firstName, .punctuation(UInt8(ascii: "}"))),
        (.separator, .punctuation(UInt8(ascii: "}"))) where isInObject:
        return close()
      case (.firstName, .text), (.name, .text):
        return .name(try name())
      case (.start, _), (.value, _), (.firstElement, _):
        return try value(token)
      default:
        throw unexpected(token)
      }
    }
  }

  /// Goes back to the start.
  package mutating func rewind() throws(InputError) {
    try tokens.rewind()
    (depth, expectation, line) = (0, .start, 1)
  }

  /// An error about a place of which only the offset was kept. The input is read again up to there,
  /// so that afterwards the reader can only be rewound.
  package mutating func error(at offset: UInt64, _ reason: String, hint: String? = nil)
    -> InputError
  {
    tokens.error(at: offset, reason, hint: hint)
  }
}

extension JSONReader {
  private var isInObject: Bool { depth > 0 && containers[depth - 1].isObject }

  /// Reads a scalar, or the start of a container.
  private mutating func value(_ token: JSONToken) throws(InputError) -> JSONEvent {
    switch token.kind {
    case .text:
      let text = try tokens.text("a text")
      endValue()
      return .scalar(.string(text))
    case .word:
      let value = try JSONReader.word(token, tokens, digits)
      tokens.consume()
      endValue()
      return .scalar(value)
    case .punctuation(UInt8(ascii: "{")):
      try open(token, isObject: true)
      guard isTyped, tokens.startsWithDollar(try tokens.peek()) else { return .beginObject }
      let value = try JSONTypes.read(&tokens)
      depth -= 1
      endValue()
      return .scalar(value)
    case .punctuation(UInt8(ascii: "[")):
      try open(token, isObject: false)
      return .beginArray
    default:
      throw unexpected(token)
    }
  }

  private mutating func open(_ token: JSONToken, isObject: Bool) throws(InputError) {
    if depth == JSONReader.nestingMax {
      throw tokens.error(token, expected: "at most \(depth) levels of nesting")
    }
    if depth == containers.count { containers.append(Container()) }
    containers[depth].isObject = isObject
    containers[depth].names.removeAll()
    depth += 1
    expectation = isObject ? .firstName : .firstElement
    tokens.consume()
  }

  private mutating func close() -> JSONEvent {
    let isObject = isInObject
    depth -= 1
    tokens.consume()
    endValue()
    return isObject ? .endObject : .endArray
  }

  private mutating func endValue() { expectation = depth == 0 ? .end : .separator }

  /// Reads a member's name, and the colon after it.
  private mutating func name() throws(InputError) -> String {
    var name = try tokens.text("a name in quotes")
    guard containers[depth - 1].names.insert(name) else {
      throw error(
        at: eventOffset, "expected each name once, found \(InputError.excerpt(name.utf8)) again")
    }
    if isTyped && name.utf8.first == ASCII.dollar {
      guard name.utf8.dropFirst().first == ASCII.dollar else {
        throw error(at: eventOffset, JSONTypes.unknown(name), hint: JSONTypes.hint)
      }
      name = String(decoding: name.utf8.dropFirst(), as: UTF8.self)
    }
    try tokens.punctuation(ASCII.colon)
    expectation = .value
    return name
  }

  private static func word(
    _ token: JSONToken, _ tokens: borrowing JSONTokens, _ digits: Digits
  ) throws(InputError) -> Value {
    try tokens.withBytes(of: token) { bytes throws(InputError) in
      if bytes.equals(trueWord) { return .bool(true) }
      if bytes.equals(falseWord) { return .bool(false) }
      if bytes.equals(nullWord) { return .null }
      guard let number = NumberText(bytes) else {
        throw tokens.error(
          token, expected: "a value", hint: "text stands in quotes; JSON has no NaN and no infinity"
        )
      }
      if let integer = number.integer { return .integer(integer) }
      if digits != .rounded,
        number.isWhole ? number.digits != 0 : number.shortestDouble(bytes) == nil
      {
        if let decimal = DecimalText.parse(bytes) { return .decimal(decimal) }
        if digits == .kept {
          throw tokens.error(token, expected: "a number of up to 38 digits")
        }
      }
      if number.isWhole && number.digits != 0 {
        throw tokens.error(
          token, expected: "an integer of 64 bits",
          hint: "write it in quotes to keep its digits, or with .0 at its end to round it")
      }
      let value = number.double(bytes)
      guard value.isFinite, value != 0 || number.digits == 0 else {
        throw tokens.error(token, expected: "a number that a double can hold")
      }
      return .double(value)
    }
  }

  private static let trueWord = Array("true".utf8)
  private static let falseWord = Array("false".utf8)
  private static let nullWord = Array("null".utf8)

  private func unexpected(_ token: JSONToken) -> InputError {
    let isSecond = expectation == .end && tokens.form == .document
    return tokens.error(
      token, expected: expected,
      hint: isSecond ? "for one value per line use --format jsonl" : nil)
  }

  private var expected: String {
    switch expectation {
    case .start, .value: "a value"
    case .firstElement: "a value or \"]\""
    case .firstName: "a name in quotes or \"}\""
    case .name: "a name in quotes"
    case .separator: isInObject ? "a comma or \"}\"" : "a comma or \"]\""
    case .end: tokens.form == .lines ? "the end of the line" : "the end of the input"
    }
  }
}

/// The names that an object has so far, by hash: a few in a row, many in a set.
private struct NameSet {
  private var few: [UInt64] = []
  private var many: Set<UInt64> = []
  private static let fewMax = 24

  mutating func removeAll() {
    few.removeAll(keepingCapacity: true)
    if !many.isEmpty { many = [] }
  }

  /// Adds a name; false if it is there.
  mutating func insert(_ name: String) -> Bool {
    let hash = NameSet.hash(name)
    if !many.isEmpty { return many.insert(hash).inserted }
    if few.contains(hash) { return false }
    few.append(hash)
    if few.count > NameSet.fewMax { many = Set(few) }
    return true
  }

  /// FNV-1a, then a mix, so that all bits depend on all bytes.
  private static func hash(_ name: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
    return hash ^ hash >> 32
  }
}
