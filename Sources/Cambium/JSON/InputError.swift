import FoundationEssentials

/// The reason why an input could not be read, and the place: what was expected there, and what was
/// found.
///
/// Recovery: correct the input at the place that it names. Where models are read one after the
/// other, those before that place have been passed on.
public struct InputError: Error, Equatable, Sendable {
  /// A place in an input: line and column as an editor shows them, and a byte offset for other
  /// tools.
  public struct Place: Equatable, Sendable {
    /// The line, from 1.
    public var line = 1
    /// The character within the line (a Unicode scalar), from 1.
    public var column = 1
    /// The number of bytes of the input before it.
    public var offset: UInt64 = 0

    package init(line: Int = 1, column: Int = 1, offset: UInt64 = 0) {
      self.line = line
      self.column = column
      self.offset = offset
    }

    /// The place after some bytes. Characters are counted by their first byte, so that bad UTF-8
    /// counts too.
    package func advanced(over bytes: Span<UInt8>) -> Place {
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

  /// The name of the input: a path, or `standard input`.
  public let input: String
  /// Where it went wrong, or nil where the input could not be read at all.
  public let place: Place?
  /// A half sentence that says what was expected and what was found.
  public let reason: String
  /// Advice on what to do about it, or nil where the reason says it.
  public internal(set) var hint: String?

  package init(input: String, place: Place?, reason: String, hint: String? = nil) {
    self.input = input
    self.place = place
    self.reason = reason
    self.hint = hint
  }
}

extension InputError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: REASON (byte OFFSET)`, safe to print on a terminal.
  public var description: String {
    let name = InputError.printable(input)
    guard let place else { return "\(name): \(reason)" }
    return "\(name):\(place.line):\(place.column): \(reason) (byte \(place.offset))"
  }

  /// Bytes of the input as a message shows them: quoted, escaped and cut.
  package static func excerpt(_ bytes: some Sequence<UInt8>) -> String {
    let shown = Array(bytes.prefix(excerptBytesMax + 1))
    let isCut = shown.count > excerptBytesMax
    let text = String(decoding: shown.prefix(excerptBytesMax), as: UTF8.self)
    return JSONText.quoted(text) + (isCut ? "…" : "")
  }

  /// One byte of the input as a message shows it.
  package static func excerpt(_ byte: UInt8) -> String {
    switch byte {
    case ASCII.lineFeed, ASCII.carriageReturn: "the end of the line"
    case ASCII.quote: "a quote"
    case 0x21..<0x7F: "\"\(Character(UnicodeScalar(byte)))\""
    case ASCII.space: "a space"
    default: "the byte 0x\(String(byte, radix: 16))"
    }
  }

  /// A number of bytes as a message shows it.
  package static func amount(_ bytes: Int) -> String {
    bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
  }

  private static let excerptBytesMax = 40

  /// A name whose control characters cannot reach the terminal.
  private static func printable(_ name: String) -> String {
    let quoted = JSONText.quoted(name)
    return quoted.utf8.contains(ASCII.backslash) ? quoted : name
  }
}

extension InputError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }

  /// The remedy, in a sentence.
  public var recoverySuggestion: String? { hint ?? "Correct the input at this place." }
}
