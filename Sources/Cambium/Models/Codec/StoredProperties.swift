// Walks over a stored record's table, without a check for each number: the table is checked as a
// whole when the walk begins, each value when it is found.

import FoundationEssentials

/// A walk over the properties of a stored record, in the order of their names.
@safe struct StoredProperties {
  private let table: UnsafeRawPointer
  private let values: UnsafeRawPointer
  private let valuesCount: Int
  private let isLarge: Bool
  let count: Int
  private var index = 0

  /// Begins.
  ///
  /// - Parameter record: The bytes, which must outlive the walk.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where the table does not fit the record.
  init(_ record: RawSpan) throws {
    let checked = try RecordTable(record)
    count = checked.count
    let bytes = unsafe record.withUnsafeBytes { unsafe $0 }
    guard let base = bytes.baseAddress else {
      throw DatabaseError.corrupt(reason: "a stored record is empty")
    }
    isLarge = unsafe base.load(as: UInt8.self) == 1
    unsafe table = base + (isLarge ? 5 : 2)
    let tableCount = count * (isLarge ? 8 : 4)
    unsafe values = table + tableCount
    valuesCount = record.byteCount - (isLarge ? 5 : 2) - tableCount
  }

  @inline(__always)
  private func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
    unsafe T(littleEndian: table.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  @inline(__always)
  private func name(_ index: Int) -> UInt32 {
    isLarge ? load(UInt32.self, at: index * 8) : UInt32(load(UInt16.self, at: index * 4))
  }

  @inline(__always)
  private func end(_ index: Int) -> Int {
    isLarge ? Int(load(UInt32.self, at: index * 8 + 4)) : Int(load(UInt16.self, at: index * 4 + 2))
  }

  /// Advances to a name, which must be greater than those before.
  ///
  /// - Returns: True if the record has a property of that name.
  @inline(__always)
  mutating func advance(to wanted: NameID) -> Bool {
    while index < count {
      let name = name(index)
      if name >= wanted { return name == wanted }
      index += 1
    }
    return false
  }

  /// The value at the walk's position, as a place and a length.
  @inline(__always)
  func value() throws -> (place: UnsafeRawPointer, count: Int) {
    let start = index == 0 ? 0 : end(index - 1)
    let end = end(index)
    guard start < end, end <= valuesCount else {
      throw DatabaseError.corrupt(reason: "a stored record's table is damaged")
    }
    return unsafe (values + start, end - start)
  }
}

/// A stored value's bytes, of which there is at least the tag.
@safe struct StoredValue {
  let place: UnsafeRawPointer
  let count: Int

  @inline(__always)
  init(_ value: (place: UnsafeRawPointer, count: Int)) {
    unsafe place = value.place
    unsafe count = value.count
  }

  @inline(__always)
  var tag: UInt8 { unsafe place.load(as: UInt8.self) }

  /// Lends the bytes.
  @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: place, count: count)
    return try unsafe body(bytes.bytes)
  }

  @inline(__always)
  private func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws -> T {
    guard count > MemoryLayout<T>.size else {
      throw DatabaseError.corrupt(reason: "a stored value ends early")
    }
    return unsafe T(littleEndian: place.loadUnaligned(fromByteOffset: 1, as: T.self))
  }

  @inline(__always)
  func integer() throws -> Int64 {
    switch tag {
    case ValueTag.integer1: return Int64(try load(Int8.self))
    case ValueTag.integer2: return Int64(try load(Int16.self))
    case ValueTag.integer4: return Int64(try load(Int32.self))
    case ValueTag.integer8: return try load(Int64.self)
    default: throw ValueMismatch(Int.self, foundTag: tag)
    }
  }

  @inline(__always)
  func double() throws -> Double {
    if tag == ValueTag.double { return Double(bitPattern: try load(UInt64.self)) }
    guard (ValueTag.integer1...ValueTag.integer8).contains(tag) else {
      throw ValueMismatch(Double.self, foundTag: tag)
    }
    return Double(try integer())
  }

  @inline(__always)
  func bool() throws -> Bool {
    switch tag {
    case ValueTag.true: return true
    case ValueTag.false: return false
    default: throw ValueMismatch(Bool.self, foundTag: tag)
    }
  }

  @inline(__always)
  func date() throws -> Date {
    guard tag == ValueTag.date else { throw ValueMismatch(Date.self, foundTag: tag) }
    return Date(microseconds: try load(Int64.self))
  }

  @inline(__always)
  func uuid() throws -> UUID {
    guard tag == ValueTag.uuid else { throw ValueMismatch(UUID.self, foundTag: tag) }
    return try unsafe StoredValue.uuid(place + 1, count - 1)
  }

  /// Sixteen bytes as a UUID.
  @inline(__always)
  static func uuid(_ place: UnsafeRawPointer, _ count: Int) throws -> UUID {
    guard count >= 16 else { throw DatabaseError.corrupt(reason: "a stored UUID ends early") }
    return unsafe UUID(uuid: place.loadUnaligned(as: uuid_t.self))
  }

  @inline(__always)
  func string() throws -> String {
    guard tag == ValueTag.string else { throw ValueMismatch(String.self, foundTag: tag) }
    return try lend { try $0.string(1, count - 1) }
  }
}
