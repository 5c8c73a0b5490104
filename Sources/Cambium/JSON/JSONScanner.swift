// Divides the bytes of JSON (RFC 8259) into tokens.
//
//     token = { } [ ] , :      punctuation
//           / "…"              a text, checked for control characters and UTF-8; escapes come later
//           / letters, digits, + - .      a word: number, true, false, null, or a mistake
//
// A scan is a function of the bytes alone: where they end too early it says so, and is repeated
// once there are more. Nothing is copied.

/// A piece of JSON.
package struct JSONToken: Equatable {
  package enum Kind: Equatable {
    case punctuation(UInt8)
    case text(hasEscapes: Bool)
    case word
    /// A byte that starts no token.
    case stray
    /// The end of a line, where lines matter.
    case lineEnd
    /// The end of the input.
    case end
  }

  package let kind: Kind
  /// Where it is, with the quotes of a text.
  package let range: Range<Int>
}

package enum JSONScanner {
  package enum Outcome: Equatable {
    case token(JSONToken)
    /// The bytes end before the token does.
    case incomplete
    /// The bytes are not JSON, from here on.
    case bad(at: Int, Problem)
  }

  package enum Problem: Equatable {
    case unclosed
    case control
    case encoding
  }

  /// The first byte that is no space; line feeds are, unless lines matter.
  package static func skipSpace(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, lines: Bool) -> Int
  {
    var index = start
    while index < end {
      switch bytes[index] {
      case ASCII.space, ASCII.tab, ASCII.carriageReturn: index += 1
      case ASCII.lineFeed where !lines: index += 1
      default: return index
      }
    }
    return index
  }

  /// Scans the token that starts at `start`, which is before `end` and no space. `isLast` says
  /// whether the input ends at `end`.
  package static func scan(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, isLast: Bool) -> Outcome
  {
    switch bytes[start] {
    case ASCII.quote: return scanText(bytes, start, end, isLast: isLast)
    case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), ASCII.comma,
      ASCII.colon:
      return .token(JSONToken(kind: .punctuation(bytes[start]), range: start..<(start + 1)))
    case ASCII.lineFeed: return .token(JSONToken(kind: .lineEnd, range: start..<(start + 1)))
    case let byte where isWord(byte): return scanWord(bytes, start, end, isLast: isLast)
    default: return .token(JSONToken(kind: .stray, range: start..<(start + 1)))
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, ASCII.plus, ASCII.minus, ASCII.point, 0x5F: true
    default: false
    }
  }

  private static func scanWord(
    _ bytes: Span<UInt8>, _ start: Int, _ end: Int, isLast: Bool
  ) -> Outcome {
    var index = start
    while index < end, isWord(bytes[index]) { index += 1 }
    if index == end && !isLast { return .incomplete }
    return .token(JSONToken(kind: .word, range: start..<index))
  }

  private static func scanText(
    _ bytes: Span<UInt8>, _ start: Int, _ end: Int, isLast: Bool
  ) -> Outcome {
    var index = start + 1
    var seen: UInt8 = 0
    var hasEscapes = false
    while index < end {
      let byte = bytes[index]
      seen |= byte
      if byte == ASCII.quote { return checked(bytes, start..<(index + 1), seen, hasEscapes) }
      if byte < 0x20 { return .bad(at: index, .control) }
      if byte == ASCII.backslash {
        hasEscapes = true
        index += 1
        if index < end && bytes[index] < 0x20 { return .bad(at: index, .control) }
      }
      index += 1
    }
    return isLast ? .bad(at: start, .unclosed) : .incomplete
  }

  private static func checked(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ seen: UInt8, _ hasEscapes: Bool
  ) -> Outcome {
    if seen >= 0x80, let bad = UTF8Text.firstInvalidIndex(in: bytes, range) {
      return .bad(at: bad, .encoding)
    }
    return .token(JSONToken(kind: .text(hasEscapes: hasEscapes), range: range))
  }
}

extension JSONScanner {
  /// A text with its escapes resolved.
  package enum Unescaped: Equatable {
    case bytes([UInt8])
    case bad(at: Int, expected: String)
  }

  /// Resolves the escapes of the text between the quotes.
  package static func unescape(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Unescaped {
    var output: [UInt8] = []
    output.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      guard bytes[index] == ASCII.backslash else {
        output.append(bytes[index])
        index += 1
        continue
      }
      let start = index
      index += 1
      if index < range.upperBound, bytes[index] == UInt8(ascii: "u") {
        guard let scalar = scalar(bytes, &index, range.upperBound) else {
          return .bad(at: start, expected: "four hexadecimal digits, and surrogates in pairs")
        }
        output.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
      } else {
        guard index < range.upperBound, let byte = shortEscape(bytes[index]) else {
          return .bad(at: start, expected: "one of \" \\ / b f n r t u after the backslash")
        }
        output.append(byte)
        index += 1
      }
    }
    return .bytes(output)
  }

  private static func shortEscape(_ byte: UInt8) -> UInt8? {
    switch byte {
    case ASCII.quote, ASCII.backslash, ASCII.slash: byte
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): ASCII.lineFeed
    case UInt8(ascii: "r"): ASCII.carriageReturn
    case UInt8(ascii: "t"): ASCII.tab
    default: nil
    }
  }

  /// The character of `uXXXX` at `index`, or of a surrogate pair `uXXXX\uXXXX`.
  private static func scalar(
    _ bytes: Span<UInt8>, _ index: inout Int, _ end: Int
  ) -> UnicodeScalar? {
    guard let first = unit(bytes, &index, end) else { return nil }
    guard first & 0xFC00 == 0xD800 else { return UnicodeScalar(first) }
    guard index < end, bytes[index] == ASCII.backslash else { return nil }
    index += 1
    guard let second = unit(bytes, &index, end), second & 0xFC00 == 0xDC00 else { return nil }
    return UnicodeScalar(0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF)))
  }

  private static func unit(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> UInt32? {
    guard end - index >= 5, bytes[index] == UInt8(ascii: "u") else { return nil }
    var value: UInt32 = 0
    for offset in 1...4 {
      guard let digit = ASCII.hexDigit(bytes[index + offset]) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    index += 5
    return value
  }
}
