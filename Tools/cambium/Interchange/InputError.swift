/// Where something stands in an input: as an editor shows it, and as a byte for other tools.
struct Place: Equatable, Sendable {
  /// The line, from 1.
  var line = 1
  /// The character within the line (a Unicode scalar), from 1.
  var column = 1
  /// How many bytes of the input come before it.
  var offset: UInt64 = 0

  /// The place after some bytes. Characters are counted by their first byte, so that bad UTF-8
  /// counts too.
  func advanced(over bytes: Span<UInt8>) -> Place {
    var place = self
    place.offset += UInt64(bytes.count)
    var lineStart = 0
    for index in bytes.indices where bytes[index] == ASCII.lineFeed {
      place.line += 1
      lineStart = index + 1
    }
    if lineStart > 0 { place.column = 1 }
    for index in lineStart..<bytes.count where bytes[index] & 0xC0 != 0x80 { place.column += 1 }
    return place
  }
}

/// Why an input could not be read, and where: what was expected there, and what was found.
struct InputError: Error, Equatable, Sendable {
  /// What the input is called: a path, or `standard input`.
  let input: String
  /// Where it went wrong, or nil where the input could not be read at all.
  let place: Place?
  /// What was expected and what was found, as half a sentence.
  let reason: String
  /// What to do about it, or nil where the reason says it.
  var hint: String?
}

extension InputError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: REASON (byte OFFSET)`, safe to print on a terminal.
  var description: String {
    let name = InputError.printable(input)
    guard let place else { return "\(name): \(reason)" }
    return "\(name):\(place.line):\(place.column): \(reason) (byte \(place.offset))"
  }

  /// Bytes of the input as a message shows them: quoted, escaped and cut.
  static func excerpt(_ bytes: some Sequence<UInt8>) -> String {
    let shown = Array(bytes.prefix(excerptBytesMax + 1))
    let isCut = shown.count > excerptBytesMax
    let text = String(decoding: shown.prefix(excerptBytesMax), as: UTF8.self)
    return JSONText.quoted(text) + (isCut ? "…" : "")
  }

  /// One byte of the input as a message shows it.
  static func excerpt(_ byte: UInt8) -> String {
    switch byte {
    case ASCII.lineFeed, ASCII.carriageReturn: "the end of the line"
    case ASCII.quote: "a quote"
    case 0x21..<0x7F: "\"\(Character(UnicodeScalar(byte)))\""
    case ASCII.space: "a space"
    default: "the byte 0x\(String(byte, radix: 16))"
    }
  }

  /// A number of bytes as a message shows it.
  static func amount(_ bytes: Int) -> String {
    bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
  }

  private static let excerptBytesMax = 40

  /// A name whose control characters cannot reach the terminal.
  private static func printable(_ name: String) -> String {
    let quoted = JSONText.quoted(name)
    return quoted.utf8.contains(ASCII.backslash) ? quoted : name
  }
}

/// The bytes that have a meaning in CSV and JSON, by name.
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let quote: UInt8 = 0x22
  static let dollar: UInt8 = 0x24
  static let plus: UInt8 = 0x2B
  static let comma: UInt8 = 0x2C
  static let minus: UInt8 = 0x2D
  static let point: UInt8 = 0x2E
  static let slash: UInt8 = 0x2F
  static let zero: UInt8 = 0x30
  static let nine: UInt8 = 0x39
  static let colon: UInt8 = 0x3A
  static let backslash: UInt8 = 0x5C

  /// Whether a byte is a decimal digit.
  static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= nine }

  /// The value of a hexadecimal digit, or nil.
  static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  /// The lower-case hexadecimal digits.
  static let hexDigits = Array("0123456789abcdef".utf8)
}
