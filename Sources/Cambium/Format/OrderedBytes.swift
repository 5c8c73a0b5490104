// The order of values, as bytes: if one value sorts before another, so do its bytes; if two are
// equal, so are their bytes. Indexes, sorting, grouping and uniqueness all use them.
//
//     00                        null, and an absent value
//     01, 02                    false, true
//     03 | double | [distance]  number: the nearest double, its bits made ascending; from 2⁵³ on
//                               the integer's distance from it, 2 bytes; NaN is the last
//     04 | decimal              class; then exponent and digits (drawn below)
//     05 | microseconds         date, 8 bytes
//     06 | 16 bytes             UUID
//     07 | bytes | 00           text, folded if the collation says so; in it 00 becomes 01 01
//                               and 01 becomes 01 02, so that no text begins another with its end
//     08 | bytes | 00           data, likewise
//     09 | key                  the key of another record: 01 | 8 bytes, 02 | 16, 03 | text | 00
//     0F | bytes | 00           anything else, by its stored form
//
// Numbers are big-endian, signed ones with the sign bit inverted. In a descending term every byte
// is inverted.

import FoundationEssentials
import LMDB

/// Writes values so that comparing bytes compares values.
enum OrderedBytes {
  static let null: UInt8 = 0x00
  static let number: UInt8 = 0x03
  static let decimal: UInt8 = 0x04
  static let date: UInt8 = 0x05
  static let uuid: UInt8 = 0x06
  static let string: UInt8 = 0x07
  static let data: UInt8 = 0x08
  static let reference: UInt8 = 0x09
  static let opaque: UInt8 = 0x0F

  /// Adds a stored value, or null if there is none.
  ///
  /// - Parameters:
  ///   - value: The stored form; empty for an absent value.
  ///   - type: The declared type, for the kinds whose order depends on it.
  ///   - collation: The collation for texts.
  ///   - isDescending: True if large values come first.
  ///   - bytes: The buffer to which the ordered form is added.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  @inline(__always)
  static func append(
    stored value: RawSpan, as type: PropertyType = .any, _ collation: Collation = .binary,
    isDescending: Bool = false, to bytes: inout ByteBuffer
  ) throws {
    let start = bytes.count
    try append(value, type, collation, to: &bytes)
    if isDescending { bytes.invert(from: start) }
  }

  private static func append(
    _ value: RawSpan, _ type: PropertyType, _ collation: Collation, to bytes: inout ByteBuffer
  ) throws {
    if value.byteCount == 0 { return bytes.append(null) }
    let tag = try value.load(UInt8.self, at: 0)
    let payload = value.extracting(droppingFirst: 1)
    switch tag {
    case ValueTag.null: bytes.append(null)
    case ValueTag.false: bytes.append(0x01)
    case ValueTag.true: bytes.append(0x02)
    case ValueTag.integer1...ValueTag.integer8:
      append(try integer(value, tag), type, to: &bytes)
    case ValueTag.double:
      let double = Double(bitPattern: try value.load(UInt64.self, at: 1))
      append(double, distance: 0, to: &bytes)
    case ValueTag.date:
      bytes.append(date)
      bytes.append(bigEndian: ascending(try value.load(Int64.self, at: 1)))
    case ValueTag.uuid:
      try payload.check(0, 16)
      append(uuid: payload, type, to: &bytes)
    case ValueTag.string: append(text: payload, type, collation, to: &bytes)
    case ValueTag.data: append(escaped: payload, data, to: &bytes)
    case ValueTag.decimal:
      guard case .decimal(let number) = try Value(value) else { return }
      bytes.append(decimal)
      OrderedDecimal(number).append(to: &bytes)
    default: append(escaped: value, opaque, to: &bytes)
    }
  }

  /// A stored integer of any width.
  @inline(__always)
  static func integer(_ value: RawSpan, _ tag: UInt8) throws -> Int64 {
    switch tag {
    case ValueTag.integer1: Int64(try value.load(Int8.self, at: 1))
    case ValueTag.integer2: Int64(try value.load(Int16.self, at: 1))
    case ValueTag.integer4: Int64(try value.load(Int32.self, at: 1))
    default: try value.load(Int64.self, at: 1)
    }
  }

  // MARK: Numbers

  private static func append(
    _ value: Int64, _ type: PropertyType, to bytes: inout ByteBuffer
  ) {
    switch type {
    case .reference:
      bytes.append(reference)
      bytes.append(KeyTag.integer)
      bytes.append(bigEndian: ascending(value))
    case .decimal:
      bytes.append(decimal)
      OrderedDecimal(value).append(to: &bytes)
    default:
      let double = Double(value)
      append(double, distance: distance(value, double), to: &bytes)
    }
  }

  private static func append(
    _ value: Double, distance: Int16, to bytes: inout ByteBuffer
  ) {
    bytes.append(number)
    bytes.append(bigEndian: ascending(value))
    if value.magnitude >= exactMax && value.isFinite {
      bytes.append(bigEndian: UInt16(bitPattern: distance) ^ 0x8000)
    }
  }

  /// The first integer from which not every one is a double.
  private static let exactMax: Double = 9_007_199_254_740_992

  /// The distance of an integer from its nearest double: at most 512.
  private static func distance(_ value: Int64, _ double: Double) -> Int16 {
    if double.magnitude < exactMax { return 0 }
    // The nearest double of the largest integers is 2⁶³, which is not an `Int64`.
    guard let nearest = Int64(exactly: double) else { return Int16(value - .max - 1) }
    return Int16(value - nearest)
  }

  /// A double's bits as a number that ascends with it; both zeros are equal, NaN comes last.
  @inline(__always)
  static func ascending(_ value: Double) -> UInt64 {
    if value.isNaN { return .max }
    let bits = (value == 0 ? 0 : value).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  @inline(__always)
  private static func ascending(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value) ^ 1 << 63
  }

  // MARK: Bytes

  private static func append(uuid value: RawSpan, _ type: PropertyType, to bytes: inout ByteBuffer)
  {
    if case .reference = type {
      bytes.append(reference)
      bytes.append(KeyTag.uuid)
    } else {
      bytes.append(uuid)
    }
    bytes.append(value.extracting(0..<16))
  }

  private static func append(
    text: RawSpan, _ type: PropertyType, _ collation: Collation, to bytes: inout ByteBuffer
  ) {
    if case .reference = type { return append(reference: text, to: &bytes) }
    if collation == .binary { return append(escaped: text, string, to: &bytes) }
    var folded: [UInt8] = []
    Folding.append(text, collation, to: &folded)
    folded.lend { append(escaped: $0, string, to: &bytes) }
  }

  /// A text that names a record: the key that it reads as.
  private static func append(reference text: RawSpan, to bytes: inout ByteBuffer) {
    guard let name = try? text.string(0, text.byteCount), let key = try? Key(name) else {
      return append(escaped: text, opaque, to: &bytes)  // no key, so that it refers to nothing
    }
    append(key, to: &bytes)
  }

  /// Adds the key of another record.
  static func append(_ key: Key, to bytes: inout ByteBuffer) {
    bytes.append(reference)
    var stored: [UInt8] = []
    key.appendTerminated(to: &stored)
    bytes.append(array: stored)
  }

  @inline(__always)
  private static func append(escaped value: RawSpan, _ tag: UInt8, to bytes: inout ByteBuffer) {
    bytes.append(tag)
    if value.contains(0, from: 0) || value.contains(1, from: 0) {
      value.forEachByte { byte in
        if byte <= 1 { bytes.append(0x01) }
        bytes.append(byte <= 1 ? byte + 1 : byte)
      }
    } else {
      bytes.append(value)
    }
    bytes.append(0)
  }
}

extension OrderedBytes {
  /// Adds a value in the form in which a constant is compared.
  static func append(
    _ value: Value?, as type: PropertyType = .any, _ collation: Collation = .binary,
    isDescending: Bool = false, to bytes: inout ByteBuffer
  ) throws {
    let stored = try value?.storedConstant() ?? []
    try stored.lend {
      try append(stored: $0, as: type, collation, isDescending: isDescending, to: &bytes)
    }
  }

  /// The bytes of one value.
  static func of(
    _ value: Value?, as type: PropertyType = .any, _ collation: Collation = .binary,
    isDescending: Bool = false
  ) throws -> [UInt8] {
    var bytes = ByteBuffer()
    try append(value, as: type, collation, isDescending: isDescending, to: &bytes)
    return bytes.array()
  }
}
