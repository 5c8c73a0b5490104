// The boundaries of words: the word rules of Unicode (UAX #29), adapted for searching.
//
// - A word is a run of letters and digits of any script, with the marks and format characters
//   among them (rules WB4, WB5 and WB8 to WB10).
// - Scripts that put no spaces between words (Han, kana, Thai, Lao, Myanmar, Khmer) give a word for
//   each letter, with its marks (WB999); a query of several letters searches for a sequence of
//   them.
// - Characters that may be inside a word by UAX #29 (WB6, 7, 11, 12, 13: apostrophe, full stop,
//   comma, low line) separate here, so that `avion` is found in `l'avion`, and `debian` in
//   `debian.org`. Since the same rules split a query, and its parts are searched as a sequence,
//   nothing else is found.
//
// The standard library's Unicode data decide the class of a scalar. ASCII is decided without them.

/// Finds the words of a text.
struct WordScanner {
  /// The effect of a scalar on a word.
  private enum Kind {
    /// Begins or continues a word.
    case letter
    /// Is a word of its own.
    case alone
    /// Continues a word, if there is one.
    case mark
    /// Ends a word.
    case other
  }

  private var offset = 0

  /// The bytes of the next word, or nil after the last.
  mutating func next(in text: RawSpan) throws -> (range: Range<Int>, isASCII: Bool)? {
    while offset < text.byteCount {
      let byte = try text.load(UInt8.self, at: offset)
      if byte < 0x80 {
        if WordScanner.isWordByte(byte) { return try rest(of: text, from: offset) }
        offset += 1
        continue
      }
      let (scalar, count) = try text.scalar(at: offset)
      switch WordScanner.kind(scalar) {
      case .letter: return try rest(of: text, from: offset)
      case .alone: return (try alone(in: text, count), false)
      case .mark, .other: offset += count
      }
    }
    return nil
  }

  /// Goes to the end of a word that begins here.
  private mutating func rest(
    of text: RawSpan, from start: Int
  ) throws -> (range: Range<Int>, isASCII: Bool) {
    var isASCII = true
    while offset < text.byteCount {
      let byte = try text.load(UInt8.self, at: offset)
      if byte < 0x80 {
        if !WordScanner.isWordByte(byte) { break }
        offset += 1
        continue
      }
      let (scalar, count) = try text.scalar(at: offset)
      let kind = WordScanner.kind(scalar)
      if kind == .other || kind == .alone { break }
      isASCII = false
      offset += count
    }
    return (start..<offset, isASCII)
  }

  /// Reads a letter that is a word by itself, with its marks.
  private mutating func alone(in text: RawSpan, _ count: Int) throws -> Range<Int> {
    let start = offset
    offset += count
    while offset < text.byteCount {
      let (scalar, count) = try text.scalar(at: offset)
      if scalar.isASCII || WordScanner.kind(scalar) != .mark { break }
      offset += count
    }
    return start..<offset
  }

  @inline(__always)
  private static func isWordByte(_ byte: UInt8) -> Bool {
    let letter = byte | 0x20
    return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
      || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func kind(_ scalar: Unicode.Scalar) -> Kind {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      return isUnspaced(scalar) ? .alone : .letter
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: return .mark
    default: return .other
    }
  }

  /// True if a letter's script puts no spaces between words. The standard library knows ideographs,
  /// but not the other scripts, so these are their blocks.
  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF,
      0xFF66...0xFF9F:
      true
    default: scalar.properties.isIdeographic
    }
  }
}
