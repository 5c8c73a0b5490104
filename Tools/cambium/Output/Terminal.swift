/// Makes text fit for a terminal: escapes what could control it, and counts its columns.
enum Terminal {
  /// The largest width of text: the terminal's columns, else `COLUMNS`, else 80.
  static func columns(_ descriptor: Int32, environment: [String: String]) -> Int {
    let columns = System.columns(descriptor) ?? environment["COLUMNS"].flatMap { Int($0) } ?? 80
    return min(max(columns, 20), 10_000)
  }

  /// Text in which nothing moves the cursor, changes colours or the direction of reading: those
  /// characters are written as `\n`, `\t` or `\u{1b}`, except for those of `kept`.
  static func escaped(_ text: String, keeping kept: [Unicode.Scalar] = []) -> String {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case _ where kept.contains(scalar): result.unicodeScalars.append(scalar)
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isControl(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Controls, line separators, and the marks that reorder what is read (CVE-2021-42574).
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
    default: scalar.properties.isBidiControl
    }
  }
}

/// Columns.
extension Terminal {
  /// The number of columns that a terminal gives the text: two for East Asian wide characters and
  /// emoji, none for combining marks.
  static func displayWidth(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// The text with spaces up to a width: after it, or before it where numbers are aligned.
  static func padded(_ text: String, to width: Int, leading: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - displayWidth(text)))
    return leading ? spaces + text : text + spaces
  }

  /// The text, or its start and an ellipsis where it is wider than that.
  static func truncated(_ text: String, to limit: Int) -> String {
    if displayWidth(text) <= limit { return text }
    var result = ""
    var used = 1
    for character in text {
      used += width(character)
      if used > limit { break }
      result.append(character)
    }
    return result + "…"
  }

  /// A character is one or more scalars that are drawn together, so it is never wider than two.
  private static func width(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.contains("\u{FE0F}") { return 2 }
    return min(2, scalars.reduce(0) { $0 + width($1) })
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    let isWide =
      scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    return isWide ? 2 : 1
  }

  /// Unicode's East Asian Width W and F, in coarse ranges.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x17000...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
    0x20000...0x3FFFD,
  ]
}
