// SQL's patterns: `%` matches any text, `_` any character. A text is compared from left to right.
// If the comparison fails after a `%`, that matches one character more; the part before the last
// `%` has matched as early as possible and is never compared again. So it takes at most n · m steps
// for n characters and a pattern of m.

/// A pattern of `like`, prepared for comparing.
struct LikePattern: Sendable {
  enum Element: Equatable, Sendable {
    case anyText, anyCharacter
    case character(String)
  }

  private let elements: [Element]
  /// The pattern as bytes, for ASCII texts; nil if the pattern is not ASCII itself.
  private let bytes: [UInt8]?
  private let collation: Collation

  /// The bytes for any text and any character, which no ASCII text has.
  private static let anyText: UInt8 = 0xFF
  private static let anyCharacter: UInt8 = 0xFE

  /// Prepares a pattern, in which an escape makes the character after it stand for itself.
  init(_ pattern: String, _ collation: Collation, escape: Character? = nil) {
    self.collation = collation
    let plain = LikePattern.elements(pattern, escape: escape) ?? [.character(pattern)]
    elements = plain.map { element in
      guard case .character(let text) = element else { return element }
      return .character(Folding.folded(text, collation))
    }
    bytes =
      pattern.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D }
      ? plain.flatMap(LikePattern.bytes) : nil
  }

  /// The elements of a pattern; nil where something else than `%`, `_` and the escape follows the
  /// escape, or nothing.
  static func elements(_ pattern: String, escape: Character?) -> [Element]? {
    var elements: [Element] = []
    var isEscaped = false
    for character in pattern {
      if isEscaped {
        guard character == "%" || character == "_" || character == escape else { return nil }
        elements.append(.character(String(character)))
        isEscaped = false
      } else if character == escape {
        isEscaped = true
      } else {
        elements.append(
          character == "%"
            ? .anyText
            : character == "_" ? .anyCharacter : .character(String(character)))
      }
    }
    return isEscaped ? nil : elements
  }

  /// The text that elements stand for; nil where one of them stands for several.
  static func literal(_ elements: some Sequence<Element>) -> String? {
    var text = ""
    for element in elements {
      guard case .character(let character) = element else { return nil }
      text += character
    }
    return text
  }

  /// A pattern of elements, with `\` as its escape.
  static func escaped(_ elements: [Element]) -> String {
    elements.map { element in
      switch element {
      case .anyText: "%"
      case .anyCharacter: "_"
      case .character(let text): ["%", "_", "\\"].contains(text) ? "\\" + text : text
      }
    }.joined()
  }

  private static func bytes(_ element: Element) -> [UInt8] {
    switch element {
    case .anyText: [anyText]
    case .anyCharacter: [anyCharacter]
    case .character(let text): Array(text.utf8)
    }
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
      return try Wildcards.match(bytes.count, text.byteCount) {
        bytes[$0] == LikePattern.anyText
      } fits: { place, offset in
        steps += 1
        let (wanted, byte) = (bytes[place], try text.load(UInt8.self, at: offset))
        if wanted == LikePattern.anyCharacter { return true }
        return wanted == byte || collation != .binary && lowercased(wanted) == lowercased(byte)
      }
    }
    let characters = try text.string(0, text.byteCount)
      .map { LikePattern.folded($0, collation) }
    return Wildcards.match(elements.count, characters.count) {
      elements[$0] == .anyText
    } fits: { place, offset in
      steps += 1
      return elements[place] == .anyCharacter || elements[place] == .character(characters[offset])
    }
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
