/// Splits the text of a query or condition into words.
///
/// The parser requests one at a time, since only the parser knows if `/` begins an expression.
struct ConditionTextScanner {
  /// A token of the text: a word, a constant, a symbol, or the end.
  enum Token: Equatable {
    /// A plain word: a name, or a word of the language.
    case word(String)
    /// A name in backticks, which is never a word of the language.
    case quoted(String)
    /// Text in quotes.
    case text(String)
    /// A number, with its sign.
    case number(String)
    /// `$1`: the first of the values supplied with the text.
    case given(String)
    case symbol(String)
    case end
  }

  let text: String
  private let bytes: [UInt8]
  /// The offset from which the next word is read.
  var offset = 0
  /// The range of the last word.
  private(set) var last = 0..<0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  /// The error that names the last word.
  func error(_ reason: String) -> QueryError {
    QueryError(reason, in: text, at: last.lowerBound, count: last.count)
  }

  /// The next word.
  mutating func next() throws -> Token {
    skipSpace()
    let start = offset
    let token = try token()
    last = start..<offset
    return token
  }

  /// The next word, without consuming it.
  func peek() throws -> Token {
    var copy = self
    return try copy.next()
  }

  /// True if a given bracket or dot follows immediately, without a space.
  func isFollowed(by byte: Unicode.Scalar) -> Bool {
    offset < bytes.count && bytes[offset] == UInt8(ascii: byte)
  }

  private mutating func skipSpace() {
    while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
  }

  private mutating func token() throws -> Token {
    guard offset < bytes.count else { return .end }
    let byte = bytes[offset]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try quoted())
    case UInt8(ascii: "`"): return .quoted(try quoted())
    case _ where isDigit(offset): return .number(number())
    case UInt8(ascii: "-") where isDigit(offset + 1) || isWord("inf", at: offset + 1):
      return .number(number())
    case UInt8(ascii: "$") where isDigit(offset + 1): return .given(number())
    case _ where isName(byte): return .word(name())
    default: return .symbol(symbol())
    }
  }

  private func isDigit(_ offset: Int) -> Bool {
    offset < bytes.count && bytes[offset] >= 0x30 && bytes[offset] <= 0x39
  }

  private func isWord(_ word: String, at offset: Int) -> Bool {
    bytes[min(offset, bytes.count)...].starts(with: word.utf8)
  }

  /// Letters, digits, underscores, and all non-ASCII characters.
  private func isName(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return byte == UInt8(ascii: "_") || byte >= 0x80
      || lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte >= 0x30 && byte <= 0x39
  }

  private mutating func name() -> String {
    let start = offset
    while offset < bytes.count, isName(bytes[offset]) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func number() -> String {
    let start = offset
    offset += 1
    while offset < bytes.count {
      let byte = bytes[offset]
      let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      let isExponent = isSign && bytes[offset - 1] | 0x20 == UInt8(ascii: "e")
      guard isName(byte) || isExponent || byte == UInt8(ascii: ".") && isDigit(offset + 1) else {
        break
      }
      offset += 1
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func symbol() -> String {
    let two = String(decoding: bytes[offset..<min(offset + 2, bytes.count)], as: UTF8.self)
    if ["==", "!=", "<=", ">=", "<>"].contains(two) {
      offset += 2
      return two
    }
    offset += 1
    return String(decoding: [bytes[offset - 1]], as: UTF8.self)
  }

  /// Text up to the closing quote. `\` escapes, except in single quotes, which are SQL's: there a
  /// doubled one is a quote, and `\` is itself.
  private mutating func quoted() throws -> String {
    let (start, quote) = (offset, bytes[offset])
    let isSQL = quote == UInt8(ascii: "'")
    var content: [UInt8] = []
    offset += 1
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      if byte == quote {
        guard isSQL, isFollowed(by: "'") else { return String(decoding: content, as: UTF8.self) }
        offset += 1
      }
      let isEscape = byte == UInt8(ascii: "\\") && !isSQL
      if isEscape { try content += escaped() } else { content.append(byte) }
    }
    throw QueryError(
      "the \(quote == UInt8(ascii: "`") ? "backtick" : "quote") is not closed", in: text,
      at: start, count: 1)
  }

  private mutating func escaped() throws -> [UInt8] {
    let start = offset - 1
    guard offset < bytes.count else { return [UInt8(ascii: "\\")] }
    let byte = bytes[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "`"): return [byte]
    case UInt8(ascii: "u"):
      if let scalar = scalar() { return Array(String(Character(scalar)).utf8) }
    default: break
    }
    throw QueryError(
      #"after \ there must be n, t, r, a quote, \ or u{…}"#, in: text, at: start, count: 2)
  }

  /// The scalar of `{1F600}`.
  private mutating func scalar() -> Unicode.Scalar? {
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "{"),
      let end = bytes[offset...].firstIndex(of: UInt8(ascii: "}"))
    else { return nil }
    let digits = String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)
    offset = end + 1
    return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
  }

  /// An expression between slashes, in which `\/` is a slash.
  mutating func expression() throws -> String {
    skipSpace()
    let start = offset
    guard isFollowed(by: "/") else {
      _ = try next()
      throw error("expected an expression: /…/ or \"…\"")
    }
    offset += 1
    var content: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "/") {
      if bytes[offset] == UInt8(ascii: "\\"), offset + 1 < bytes.count {
        if bytes[offset + 1] != UInt8(ascii: "/") { content.append(bytes[offset]) }
        offset += 1
      }
      content.append(bytes[offset])
      offset += 1
    }
    guard offset < bytes.count else {
      throw QueryError("the expression is not closed", in: text, at: start, count: 1)
    }
    offset += 1
    last = start..<offset
    return String(decoding: content, as: UTF8.self)
  }

  /// All up to the next space: a collection's path.
  mutating func path() -> String {
    skipSpace()
    let start = offset
    while offset < bytes.count,
      ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "|")].contains(bytes[offset])
    {
      offset += 1
    }
    last = start..<offset
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }
}
