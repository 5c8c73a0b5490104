// SQL's patterns: `%` matches any text, `_` any character. A text is compared from left to right.
// If the comparison fails after a `%`, that matches one character more; the part before the last
// `%` has matched as early as possible and is never compared again. So it takes at most n · m steps
// for n characters and a pattern of m.

/// A pattern of `like`, prepared for comparing.
struct LikePattern: Sendable {
  private enum Element: Equatable, Sendable {
    case anyText, anyCharacter
    case character(String)
  }

  private let elements: [Element]
  /// The pattern as bytes, for ASCII texts; nil if the pattern is not ASCII itself.
  private let bytes: [UInt8]?
  private let collation: Collation

  private static let percent = UInt8(ascii: "%")
  private static let lowLine = UInt8(ascii: "_")

  init(_ pattern: String, _ collation: Collation) {
    self.collation = collation
    elements = pattern.map { character in
      switch character {
      case "%": .anyText
      case "_": .anyCharacter
      default: .character(LikePattern.folded(character, collation))
      }
    }
    let bytes = Array(pattern.utf8)
    self.bytes = bytes.allSatisfy { $0 < 0x80 && $0 != 0x0D } ? bytes : nil
  }

  private func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// A character in a form in which equal ones have equal texts.
  private static func folded(_ character: Character, _ collation: Collation) -> String {
    Folding.folded(String(character), collation)
  }

  /// True if a whole text in UTF-8 matches the pattern.
  func matches(_ text: RawSpan) throws -> Bool {
    var steps = 0
    return try matches(text, steps: &steps)
  }

  /// As ``matches(_:)``, adding the number of characters that were compared.
  func matches(_ text: RawSpan, steps: inout Int) throws -> Bool {
    if let bytes, text.isPlainASCII {
      return try matches(bytes.count, text.byteCount, &steps) { place, offset in
        let (wanted, byte) = (bytes[place], try text.load(UInt8.self, at: offset))
        if wanted == LikePattern.lowLine { return true }
        return wanted == byte || collation != .binary && lowercased(wanted) == lowercased(byte)
      } isAnyText: {
        bytes[$0] == LikePattern.percent
      }
    }
    let characters = try text.string(0, text.byteCount)
      .map { LikePattern.folded($0, collation) }
    return try matches(elements.count, characters.count, &steps) { place, offset in
      elements[place] == .anyCharacter || elements[place] == .character(characters[offset])
    } isAnyText: {
      elements[$0] == .anyText
    }
  }

  private func matches(
    _ patternCount: Int, _ textCount: Int, _ steps: inout Int,
    isAt: (_ place: Int, _ offset: Int) throws -> Bool, isAnyText: (_ place: Int) -> Bool
  ) throws -> Bool {
    var (place, offset) = (0, 0)
    // The place of the last `%`, and the place in the text after the part that it matches.
    var last: (place: Int, offset: Int)?
    while offset < textCount {
      steps += 1
      if place < patternCount, isAnyText(place) {
        last = (place, offset)
        place += 1
      } else if place < patternCount, try isAt(place, offset) {
        place += 1
        offset += 1
      } else if let anyText = last {
        last = (anyText.place, anyText.offset + 1)
        (place, offset) = (anyText.place + 1, anyText.offset + 1)
      } else {
        return false
      }
    }
    while place < patternCount, isAnyText(place) { place += 1 }
    return place == patternCount
  }
}

extension RawSpan {
  /// True if every byte is a character of its own: ASCII without carriage returns.
  fileprivate var isPlainASCII: Bool {
    var isPlain = true
    forEachByte { if $0 >= 0x80 || $0 == 0x0D { isPlain = false } }
    return isPlain
  }
}
