/// Text as JSON writes it.
package enum JSONText {
  /// A text in quotes, as JSON has it, that is safe to print on a terminal.
  package static func quoted(_ text: some StringProtocol) -> String {
    var output: [UInt8] = []
    append(text, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Adds a text in quotes. Besides what JSON asks for, everything is escaped that could change how
  /// a terminal shows the rest: all control characters, and those that turn the direction of
  /// writing.
  package static func append(_ text: some StringProtocol, to output: inout [UInt8]) {
    output.append(ASCII.quote)
    let bytes = text.utf8
    if bytes.allSatisfy(isPlain) {
      output.append(contentsOf: bytes)
    } else {
      for scalar in text.unicodeScalars { append(scalar, to: &output) }
    }
    output.append(ASCII.quote)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != ASCII.quote && byte != ASCII.backslash
  }

  private static func append(_ scalar: UnicodeScalar, to output: inout [UInt8]) {
    switch scalar {
    case "\"": output.append(contentsOf: [ASCII.backslash, ASCII.quote])
    case "\\": output.append(contentsOf: [ASCII.backslash, ASCII.backslash])
    case "\n": output.append(contentsOf: [ASCII.backslash, UInt8(ascii: "n")])
    case "\r": output.append(contentsOf: [ASCII.backslash, UInt8(ascii: "r")])
    case "\t": output.append(contentsOf: [ASCII.backslash, UInt8(ascii: "t")])
    case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{061C}", "\u{200E}"..."\u{200F}",
      "\u{2028}"..."\u{202E}",
      "\u{2066}"..."\u{2069}", "\u{FEFF}":
      output.append(contentsOf: [ASCII.backslash, UInt8(ascii: "u")])
      for shift in [12, 8, 4, 0] as [UInt32] {
        output.append(ASCII.hexDigits[Int(scalar.value >> shift & 0xF)])
      }
    default: output.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
    }
  }
}
