// The stored form of values: a tag, then the payload. The container stores the length.
//
//     00 null   01 false   02 true
//     03 integer, 1 byte   04 2 bytes   05 4 bytes   06 8 bytes    little-endian, the shortest
//     07 double            8 bytes, IEEE 754, little-endian
//     08 string            UTF-8
//     09 data              bytes
//     0A date              microseconds since 1970, 8 bytes, little-endian
//     0B UUID              16 bytes
//     0C decimal           1 byte: bit 0 negative, bit 1 not a number; exponent (1 byte, signed);
//                          then the digits as a whole number, little-endian, without leading zeros
//     0D array             per element: length (varint), value
//     0E map               per member, by name: length (varint), name, length (varint), value
//     0F reference         a path's keys
//     10 blob              hash (32 bytes), size (8 bytes, little-endian)

import FoundationEssentials

enum ValueTag {
  static let null: UInt8 = 0x00
  static let `false`: UInt8 = 0x01
  static let `true`: UInt8 = 0x02
  static let integer1: UInt8 = 0x03
  static let integer2: UInt8 = 0x04
  static let integer4: UInt8 = 0x05
  static let integer8: UInt8 = 0x06
  static let double: UInt8 = 0x07
  static let string: UInt8 = 0x08
  static let data: UInt8 = 0x09
  static let date: UInt8 = 0x0A
  static let uuid: UInt8 = 0x0B
  static let decimal: UInt8 = 0x0C
  static let array: UInt8 = 0x0D
  static let map: UInt8 = 0x0E
  static let reference: UInt8 = 0x0F
  static let blob: UInt8 = 0x10
}

extension RawSpan {
  /// True if it is a stored null, or no value at all.
  @inline(__always)
  var isNull: Bool { get throws { try byteCount == 0 || load(UInt8.self, at: 0) == ValueTag.null } }
}

extension Value {
  /// Adds the stored form.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for nesting that is too deep, and for a date
  ///   out of range.
  func append<Sink: ByteSink & ~Copyable>(to bytes: inout Sink, depth: Int = 0) throws {
    switch self {
    case .null: bytes.append(ValueTag.null)
    case .bool(let value): bytes.append(value ? ValueTag.true : ValueTag.false)
    case .integer(let value): Value.append(integer: value, to: &bytes)
    case .double(let value):
      bytes.append(ValueTag.double)
      bytes.append(littleEndian: value.bitPattern)
    case .string(let value):
      bytes.append(ValueTag.string)
      bytes.append(utf8: value)
    case .data(let value):
      bytes.append(ValueTag.data)
      bytes.append(array: [UInt8](value))
    case .date(let value):
      let microseconds = try value.storedMicroseconds()
      bytes.append(ValueTag.date)
      bytes.append(littleEndian: microseconds)
    case .uuid(let value):
      bytes.append(ValueTag.uuid)
      bytes.append(uuid: value)
    case .decimal(let value): Value.append(decimal: value, to: &bytes)
    case .array(let elements): try Value.append(elements, to: &bytes, depth: depth)
    case .map(let record): try Value.append(record, to: &bytes, depth: depth)
    case .reference(let path):
      bytes.append(ValueTag.reference)
      bytes.append(array: path.bytes)
    case .blob(let blob):
      bytes.append(ValueTag.blob)
      bytes.append(array: blob.hash)
      bytes.append(littleEndian: blob.size)
    }
  }

  @inline(__always)
  static func append<Sink: ByteSink & ~Copyable>(
    integer value: Int64, to bytes: inout Sink
  ) {
    if let small = Int8(exactly: value) {
      bytes.append(ValueTag.integer1)
      bytes.append(UInt8(bitPattern: small))
    } else if let small = Int16(exactly: value) {
      bytes.append(ValueTag.integer2)
      bytes.append(littleEndian: small)
    } else if let small = Int32(exactly: value) {
      bytes.append(ValueTag.integer4)
      bytes.append(littleEndian: small)
    } else {
      bytes.append(ValueTag.integer8)
      bytes.append(littleEndian: value)
    }
  }

  private static func append<Sink: ByteSink & ~Copyable>(
    _ elements: [Value], to bytes: inout Sink, depth: Int
  ) throws {
    try checkNesting(depth)
    bytes.append(ValueTag.array)
    var scratch: [UInt8] = []
    for element in elements {
      try element.append(to: &scratch, depth: depth + 1)
      bytes.append(varint: UInt64(scratch.count))
      bytes.append(array: scratch)
      scratch.removeAll(keepingCapacity: true)
    }
  }

  private static func append<Sink: ByteSink & ~Copyable>(
    _ record: ValueMap, to bytes: inout Sink, depth: Int
  ) throws {
    try checkNesting(depth)
    bytes.append(ValueTag.map)
    var scratch: [UInt8] = []
    for (name, value) in record.pairs {
      bytes.append(varint: UInt64(name.utf8.count))
      bytes.append(utf8: name)
      try value.append(to: &scratch, depth: depth + 1)
      bytes.append(varint: UInt64(scratch.count))
      bytes.append(array: scratch)
      scratch.removeAll(keepingCapacity: true)
    }
  }

  private static func checkNesting(_ depth: Int) throws {
    if depth >= nestingMax {
      throw DatabaseError.badValue(
        .root, reason: "arrays and maps are nested more than \(nestingMax) deep; use child nodes")
    }
  }

  /// The stored form of a constant to compare with, which may be a date out of range: the nearest
  /// one in range is before or behind the same dates.
  func storedConstant() throws -> [UInt8] {
    guard case .date(let date) = self else { return try stored() }
    return try Value.date(Date(microseconds: date.microseconds)).stored()
  }

  /// The stored form.
  package func stored() throws -> [UInt8] {
    var bytes: [UInt8] = []
    try append(to: &bytes)
    return bytes
  }
}

extension Value {
  /// Reads a stored value that takes all of `bytes`.
  init(_ bytes: RawSpan, depth: Int = 0) throws {
    let count = bytes.byteCount - 1
    switch try bytes.load(UInt8.self, at: 0) {
    case ValueTag.null: self = .null
    case ValueTag.false: self = .bool(false)
    case ValueTag.true: self = .bool(true)
    case ValueTag.integer1: self = .integer(Int64(try bytes.load(Int8.self, at: 1)))
    case ValueTag.integer2: self = .integer(Int64(try bytes.load(Int16.self, at: 1)))
    case ValueTag.integer4: self = .integer(Int64(try bytes.load(Int32.self, at: 1)))
    case ValueTag.integer8: self = .integer(try bytes.load(Int64.self, at: 1))
    case ValueTag.double: self = .double(Double(bitPattern: try bytes.load(UInt64.self, at: 1)))
    case ValueTag.string: self = .string(try bytes.string(1, count))
    case ValueTag.data: self = .data(Data(try bytes.array(1, count)))
    case ValueTag.date: self = .date(try Date(storedMicroseconds: bytes.load(Int64.self, at: 1)))
    case ValueTag.uuid: self = .uuid(try bytes.uuid(at: 1))
    case ValueTag.decimal: self = .decimal(try bytes.decimal(at: 1, count))
    case ValueTag.array: self = .array(try Value.elements(bytes, depth))
    case ValueTag.map: self = .map(try Value.members(bytes, depth))
    case ValueTag.reference: self = .reference(try NodePath(checking: bytes.array(1, count)))
    case ValueTag.blob:
      self = .blob(Blob(hash: try bytes.array(1, 32), size: try bytes.load(UInt64.self, at: 33)))
    case let tag: throw DatabaseError.corrupt(reason: "a stored value has the unknown kind \(tag)")
    }
  }

  private static func elements(_ bytes: RawSpan, _ depth: Int) throws -> [Value] {
    try checkStoredNesting(depth)
    var elements: [Value] = []
    var offset = 1
    while offset < bytes.byteCount {
      let element = try bytes.part(at: &offset)
      elements.append(try Value(bytes.extracting(element), depth: depth + 1))
    }
    return elements
  }

  private static func members(_ bytes: RawSpan, _ depth: Int) throws -> ValueMap {
    try checkStoredNesting(depth)
    var record = ValueMap()
    var offset = 1
    while offset < bytes.byteCount {
      let name = try bytes.part(at: &offset)
      let value = try Value(bytes.extracting(try bytes.part(at: &offset)), depth: depth + 1)
      record[try bytes.string(name.lowerBound, name.count)] = value
    }
    return record
  }

  private static func checkStoredNesting(_ depth: Int) throws {
    if depth >= nestingMax { throw DatabaseError.corrupt(reason: "a stored value nests too deep") }
  }
}

// MARK: Decimals

extension Value {
  fileprivate static func append<Sink: ByteSink & ~Copyable>(
    decimal value: Decimal, to bytes: inout Sink
  ) {
    bytes.append(ValueTag.decimal)
    bytes.append((value.sign == .minus && !value.isNaN ? 1 : 0) | (value.isNaN ? 2 : 0))
    bytes.append(UInt8(truncatingIfNeeded: value.isNaN ? 0 : value.exponent))
    var digits = value.isNaN ? 0 : UInt128(value.significand.magnitude.description) ?? 0
    while digits > 0 {
      bytes.append(UInt8(truncatingIfNeeded: digits))
      digits >>= 8
    }
  }
}

extension RawSpan {
  fileprivate func decimal(at offset: Int, _ count: Int) throws -> Decimal {
    let flags = try load(UInt8.self, at: offset)
    let exponent = Int(try load(Int8.self, at: offset + 1))
    guard flags <= 2, count <= 18 else {
      throw DatabaseError.corrupt(reason: "a stored decimal is not one")
    }
    if flags == 2 { return .nan }
    var digits: UInt128 = 0
    for byte in try array(offset + 2, count - 2).reversed() { digits = digits << 8 | UInt128(byte) }
    // Read from text, since a separately built significand would lose its zeros if the exponent has
    // no room.
    guard let value = Decimal(string: "\(flags == 1 ? "-" : "")\(digits)e\(exponent)") else {
      throw DatabaseError.corrupt(reason: "a stored decimal is not one")
    }
    return value
  }
}
