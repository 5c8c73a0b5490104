import FoundationEssentials

/// A node's name among its siblings: an integer, a UUID, or other text.
///
/// Text that reads as a canonical integer (`42`, `-5`) or as a canonical UUID (lower case) *is*
/// that integer or UUID, so that every text names exactly one key, and integers sort by value. Keys
/// are ordered integers first, then UUIDs, then text by its UTF-8 bytes.
///
/// Two keys of a path are equal when their bytes are: nothing is normalized, so that a tree can
/// hold file names unchanged. The ids of models are composed (Unicode's NFC), so that texts that
/// Swift considers equal are one id; see ``ModelID``.
///
/// Stored form, in key order (see <doc:FileFormat>):
///
///     01 | value ^ 2⁶³, 8 bytes, big-endian          integer
///     02 | 16 bytes                                  UUID
///     03 | UTF-8, 1 to 480 bytes, no NUL             text; inside a path a NUL ends it
public enum Key: Sendable {
  /// A whole number.
  case integer(Int64)
  /// A universally unique identifier.
  case uuid(UUID)
  /// Any other text, not empty, at most 480 bytes of UTF-8, without U+0000.
  case text(String)

  /// The largest number of UTF-8 bytes in a text key.
  public static let textBytesMax = 480

  /// Reads a key from its text form, without escapes.
  ///
  /// - Parameter text: `42` becomes an integer, a lower-case UUID becomes that UUID, anything else
  ///   is text.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` when it is empty, too long or holds U+0000.
  public init(_ text: some StringProtocol) throws(DatabaseError) {
    if let integer = Key.canonicalInteger(text.utf8) {
      self = .integer(integer)
    } else if text.utf8.count == 36, let uuid = UUID(uuidString: String(text)),
      uuid.uuidString.lowercased() == text
    {
      self = .uuid(uuid)
    } else {
      self = .text(try Key.checked(String(text)))
    }
  }

  /// A text in Unicode's composed form (NFC), in which texts that are equal have the same bytes.
  ///
  /// - Complexity: one pass over the bytes if all of them are ASCII; otherwise about 1 µs.
  static func composed(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return Array(text.utf8).lend { String(decoding: Folding.composed($0), as: UTF8.self) }
  }

  /// The text, if it can be a `.text` key; throws the reason if it cannot.
  static func checked(_ text: String) throws(DatabaseError) -> String {
    let bytes = text.utf8
    if bytes.isEmpty { throw .badKey(text, reason: "it is empty") }
    if bytes.count > textBytesMax {
      throw .badKey(text, reason: "it has \(bytes.count) bytes; \(textBytesMax) is the limit")
    }
    if bytes.contains(0) { throw .badKey(text, reason: "it holds the character U+0000") }
    return text
  }

  /// The value of `-?[1-9][0-9]*|0`, if it fits 64 bits and this is the only way to write it.
  private static func canonicalInteger(_ text: some Collection<UInt8>) -> Int64? {
    guard let first = text.first, text.count <= 20 else { return nil }
    let negative = first == UInt8(ascii: "-")
    let digits = negative ? text.dropFirst() : text[...]
    guard let lead = digits.first else { return nil }
    if lead == UInt8(ascii: "0") && (digits.count > 1 || negative) { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let step = Int64(digit - UInt8(ascii: "0"))
      let (next, carry) =
        negative ? tens.subtractingReportingOverflow(step) : tens.addingReportingOverflow(step)
      if overflow || carry { return nil }
      value = next
    }
    return value
  }
}

extension Key: Hashable, Comparable {
  /// Compares by kind and bytes.
  public static func == (a: Key, b: Key) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.text(let a), .text(let b)): ByteOrder.areEqual(a, b)
    default: false
    }
  }

  /// Integers, then UUIDs, then text by its bytes.
  public static func < (a: Key, b: Key) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.uuid(let a), .uuid(let b)): a < b
    case (.text(let a), .text(let b)): ByteOrder.compare(a, b) < 0
    default: a.rank < b.rank
    }
  }

  /// Hashes kind and bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
    }
  }

  private var rank: UInt8 {
    switch self {
    case .integer: KeyTag.integer
    case .uuid: KeyTag.uuid
    case .text: KeyTag.text
    }
  }
}

extension Key: CustomStringConvertible, CustomDebugStringConvertible, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral
{
  /// The key's text form, without escapes.
  public var description: String {
    switch self {
    case .integer(let value): String(value)
    case .uuid(let value): value.uuidString.lowercased()
    case .text(let value): value
    }
  }

  /// The same, with a text in quotes: `42`, `"ada"`.
  public var debugDescription: String {
    if case .text(let text) = self { return text.debugDescription }
    return description
  }

  /// Makes a key from a literal; an invalid literal is a programmer's mistake and stops the
  /// program.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { preconditionFailure("\(error)") }
  }

  /// Makes an integer key from a literal.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

/// The first byte of a stored key, which is also the order of the kinds.
enum KeyTag {
  /// The tag of a text that cannot be a key; it occurs only in paths and is never stored.
  static let invalid: UInt8 = 0
  static let integer: UInt8 = 1
  static let uuid: UInt8 = 2
  static let text: UInt8 = 3
}
