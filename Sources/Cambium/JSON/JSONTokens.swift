/// Reads JSON token by token: the scanner's tokens out of a source, with the limits on their
/// length.
///
/// Invariants:
/// 1. The token that ``peek()`` gave stays where it is in the source's buffer until it is consumed:
///    nothing is read on meanwhile.
package struct JSONTokens: ~Copyable {
  /// The default limit on the bytes of a text, a number or a line.
  package static let bytesMax = 16 << 20

  /// The layout of values in the input: one document, or one value a line.
  package enum Form { case document, lines }

  package let form: Form
  private let bytesMax: Int
  private var source: ByteSource
  private var peeked: JSONToken?
  private var lineStart: UInt64 = 0

  package init(_ source: consuming ByteSource, form: Form, bytesMax: Int) throws(InputError) {
    self.source = source
    self.form = form
    self.bytesMax = bytesMax
    try self.source.skipByteOrderMark()
  }

  /// The input's length in bytes, and how much of it is read.
  package var progress: (done: UInt64, total: UInt64) { (source.offset, source.size) }

  /// Goes back to the start.
  package mutating func rewind() throws(InputError) {
    source.rewind()
    (peeked, lineStart) = (nil, 0)
    try source.skipByteOrderMark()
  }

  /// The next token, which stays the next.
  package mutating func peek() throws(InputError) -> JSONToken {
    if let peeked { return peeked }
    while true {
      switch scan() {
      case .token(let token):
        try checkLength(upTo: token.range.upperBound)
        peeked = token
        return token
      case .incomplete:
        try checkLength(upTo: source.end)
        try source.more()
      case .bad(let index, let problem):
        throw error(index, problem)
      }
    }
  }

  /// Steps over the token that was looked at.
  package mutating func consume() {
    guard let peeked else { return }
    source.position = peeked.range.upperBound
    if peeked.kind == .lineEnd { lineStart = source.offset }
    self.peeked = nil
  }

  /// The number of bytes of the input before the next token.
  package mutating func nextOffset() throws(InputError) -> UInt64 {
    _ = try peek()
    return source.offset
  }

  private mutating func scan() -> JSONScanner.Outcome {
    let buffer = source.buffer
    let end = source.end
    let start = JSONScanner.skipSpace(buffer.span, source.position, end, lines: form == .lines)
    source.position = start
    if start < end { return JSONScanner.scan(buffer.span, start, end, isLast: source.isAtEnd) }
    return source.isAtEnd ? .token(JSONToken(kind: .end, range: end..<end)) : .incomplete
  }

  private func checkLength(upTo end: Int) throws(InputError) {
    if end - source.position > bytesMax {
      throw source.error(
        at: source.position,
        "expected a text or number of at most \(InputError.amount(bytesMax)), found a longer one")
    }
    let lineBytes = source.offset - lineStart + UInt64(end - source.position)
    if form == .lines && lineBytes > UInt64(bytesMax) {
      throw source.error(
        at: source.position,
        "expected a line of at most \(InputError.amount(bytesMax)), found a longer one",
        hint: "use --format json for one large document")
    }
  }
}

extension JSONTokens {
  /// A word that was looked at, lent to `body`.
  package func withBytes<R>(
    of token: JSONToken, _ body: (Span<UInt8>) throws(InputError) -> R
  ) throws(InputError) -> R {
    try body(source.buffer.span.extracting(token.range))
  }

  /// True if a text that was looked at starts with `$`, but not with `$$`.
  package func startsWithDollar(_ token: JSONToken) -> Bool {
    guard case .text = token.kind, token.range.count > 2 else { return false }
    let first = token.range.lowerBound + 1
    return source.buffer[first] == ASCII.dollar && source.buffer[first + 1] != ASCII.dollar
  }

  /// Consumes a text; `expected` is what the error says where there is none.
  package mutating func text(_ expected: String) throws(InputError) -> String {
    let token = try peek()
    guard case .text(let hasEscapes) = token.kind else {
      throw error(token, expected: expected)
    }
    let inner = (token.range.lowerBound + 1)..<(token.range.upperBound - 1)
    let text =
      hasEscapes ? try unescaped(inner) : String(decoding: source.buffer[inner], as: UTF8.self)
    consume()
    return text
  }

  private func unescaped(_ range: Range<Int>) throws(InputError) -> String {
    switch JSONScanner.unescape(source.buffer.span, range) {
    case .bytes(let bytes):
      return String(decoding: bytes, as: UTF8.self)
    case .bad(let index, let expected):
      let found = InputError.excerpt(source.buffer[index..<range.upperBound].prefix(6))
      throw source.error(at: index, "expected \(expected), found \(found)")
    }
  }

  /// Consumes a number or another word.
  package mutating func word(_ expected: String) throws(InputError) -> String {
    let token = try peek()
    guard token.kind == .word else { throw error(token, expected: expected) }
    let word = String(decoding: source.buffer[token.range], as: UTF8.self)
    consume()
    return word
  }

  /// Consumes punctuation.
  package mutating func punctuation(_ byte: UInt8) throws(InputError) {
    let token = try peek()
    guard token.kind == .punctuation(byte) else {
      throw error(token, expected: InputError.excerpt(byte))
    }
    consume()
  }
}

extension JSONTokens {
  /// An error about the token that was looked at.
  package func error(_ token: JSONToken, expected: String, hint: String? = nil) -> InputError {
    let index = token.range.lowerBound
    let found =
      switch token.kind {
      case .end: "the end of the input"
      case .lineEnd: "the end of the line"
      case .stray: InputError.excerpt(source.buffer[index])
      default: InputError.excerpt(source.buffer[token.range])
      }
    return source.error(at: index, "expected \(expected), found \(found)", hint: hint)
  }

  /// An error about a place of which only the offset was kept. The input is read again up to there,
  /// so that afterwards it can only be rewound.
  package mutating func error(at offset: UInt64, _ reason: String, hint: String? = nil)
    -> InputError
  {
    peeked = nil
    return source.error(atOffset: offset, reason, hint: hint)
  }

  private func error(_ index: Int, _ problem: JSONScanner.Problem) -> InputError {
    let byte = source.buffer[index]
    switch problem {
    case .unclosed:
      return source.error(
        at: index, "expected a quote that closes this text, found the end of the input")
    case .control:
      let found = InputError.excerpt(byte)
      return source.error(
        at: index, "expected control characters of a text as \\u00XX, found \(found)")
    case .encoding:
      return source.error(at: index, "expected UTF-8, found the byte 0x\(String(byte, radix: 16))")
    }
  }
}
