import FoundationEssentials

/// Takes one property's value in its stored form.
///
/// A type of your own writes one ``Value``, or calls the `writeStored` of other types.
public struct ValueWriter: ~Copyable {
  private(set) var buffer = ByteBuffer()
  private var depth = 0

  init() {}

  /// Writes a value.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for nesting that is too deep, and for a date
  ///   out of range.
  public mutating func write(_ value: Value) throws {
    try value.append(to: &buffer, depth: depth)
  }

  /// The number of bytes written.
  @inline(__always)
  var count: Int { buffer.count }

  /// Forgets everything, and keeps the memory unless it is much.
  @inline(__always)
  mutating func clear() {
    buffer.clearAndShrink()
    depth = 0
  }

  /// Forgets what was written after a place.
  mutating func cut(to count: Int) { buffer.cut(to: count) }

  @inline(__always)
  mutating func writeNull() { buffer.append(ValueTag.null) }

  @inline(__always)
  mutating func write(bool value: Bool) { buffer.append(value ? ValueTag.true : ValueTag.false) }

  @inline(__always)
  mutating func write(integer value: Int64) { Value.append(integer: value, to: &buffer) }

  @inline(__always)
  mutating func write(double value: Double) {
    buffer.append(ValueTag.double)
    buffer.append(littleEndian: value.bitPattern)
  }

  @inline(__always)
  mutating func write(date value: Date) throws {
    let microseconds = try value.storedMicroseconds()
    buffer.append(ValueTag.date)
    buffer.append(littleEndian: microseconds)
  }

  @inline(__always)
  mutating func write(text value: String) {
    buffer.append(ValueTag.string)
    buffer.append(utf8: value)
  }

  @inline(__always)
  mutating func write(uuid value: UUID) {
    buffer.append(ValueTag.uuid)
    buffer.append(uuid: value)
  }

  /// Begins an array or a map.
  mutating func open(_ tag: UInt8) throws {
    if depth >= Value.nestingMax {
      throw DatabaseError.badValue(
        .root, reason: "arrays and maps are nested more than \(Value.nestingMax) deep")
    }
    depth += 1
    buffer.append(tag)
  }

  /// Ends an array or a map.
  mutating func close() { depth -= 1 }

  /// Writes a member's name.
  mutating func write(name: String) {
    buffer.append(varint: UInt64(name.utf8.count))
    buffer.append(utf8: name)
  }

  /// Inserts, at a place, the length of the bytes that were written after it.
  mutating func closeLength(from start: Int) { buffer.insertLength(at: start) }
}

extension PropertyValue {
  /// The stored form, or nil where it cannot be stored.
  var storedBytes: [UInt8]? {
    var writer = ValueWriter()
    do { try writeStored(to: &writer) } catch { return nil }
    return writer.buffer.array()
  }
}

extension RawSpan {
  /// The whole number that a stored value is.
  @inline(__always)
  func storedInteger() throws -> Int64 {
    switch try load(UInt8.self, at: 0) {
    case ValueTag.integer1: return Int64(try load(Int8.self, at: 1))
    case ValueTag.integer2: return Int64(try load(Int16.self, at: 1))
    case ValueTag.integer4: return Int64(try load(Int32.self, at: 1))
    case ValueTag.integer8: return try load(Int64.self, at: 1)
    case let tag: throw ValueMismatch(Int.self, foundTag: tag)
    }
  }

  /// Visits a stored array's elements.
  func forEachElement(
    of type: Any.Type, _ depth: Int, _ body: (RawSpan) throws -> Void
  ) throws {
    try checkContainer(ValueTag.array, type, depth)
    var offset = 1
    while offset < byteCount { try body(extracting(try part(at: &offset))) }
  }

  /// Visits a stored map's members.
  func forEachMember(
    of type: Any.Type, _ depth: Int, _ body: (String, RawSpan) throws -> Void
  ) throws {
    try checkContainer(ValueTag.map, type, depth)
    var offset = 1
    while offset < byteCount {
      let name = try part(at: &offset)
      try body(try string(name.lowerBound, name.count), extracting(try part(at: &offset)))
    }
  }

  private func checkContainer(_ expected: UInt8, _ type: Any.Type, _ depth: Int) throws {
    let tag = try load(UInt8.self, at: 0)
    if tag != expected { throw ValueMismatch(type, foundTag: tag) }
    if depth >= Value.nestingMax {
      throw DatabaseError.corrupt(reason: "a stored value nests too deep")
    }
  }
}
