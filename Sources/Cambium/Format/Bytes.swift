// Bounds-checked access to stored bytes: the one place where Format reads raw memory. The result is
// a value or an error, whatever the bytes are.

import LMDB

extension RawSpan {
  /// A little-endian number.
  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) throws -> T {
    guard offset >= 0, offset <= byteCount - MemoryLayout<T>.size else {
      throw damaged("ends early")
    }
    return unsafe T(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// A number of 64 bits, big-endian, as in keys.
  func bigEndian(at offset: Int) throws -> UInt64 {
    UInt64(bigEndian: try load(UInt64.self, at: offset).littleEndian)
  }

  /// A number of 48 bits, little-endian.
  @inline(__always)
  func load48(at offset: Int) throws -> UInt64 {
    UInt64(try load(UInt32.self, at: offset)) | UInt64(try load(UInt16.self, at: offset + 4)) << 32
  }

  /// Checks that a range is within bounds; the caller may then `extracting` it.
  @inline(__always)
  func check(_ offset: Int, _ count: Int) throws {
    guard offset >= 0, count >= 0, offset <= byteCount, count <= byteCount - offset else {
      throw damaged("ends early")
    }
  }

  /// A number in groups of seven bits, the lowest first, each but the last with the top bit set.
  @inline(__always)
  func varint(at offset: inout Int) throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try load(UInt8.self, at: offset)
      offset += 1
      if shift == 63 && byte > 1 { throw damaged("has a number that is too large") }
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
      if shift > 63 { throw damaged("has a number that is too long") }
    }
  }

  /// A count or length that must fit into the bytes that are left.
  @inline(__always)
  func length(at offset: inout Int) throws -> Int {
    let value = try varint(at: &offset)
    guard value <= UInt64(byteCount - offset) else { throw damaged("ends early") }
    return Int(value)
  }

  /// The place of a part that its length precedes, as in an array or a map; the offset moves behind
  /// it.
  @inline(__always)
  func part(at offset: inout Int) throws -> Range<Int> {
    let count = try length(at: &offset)
    defer { offset += count }
    return offset..<(offset + count)
  }

  /// A copy of a range.
  func array(_ offset: Int, _ count: Int) throws -> [UInt8] {
    try check(offset, count)
    return unsafe extracting(offset..<(offset + count)).withUnsafeBytes { unsafe Array($0) }
  }

  /// A copy of everything.
  func array() -> [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

  /// Text in UTF-8.
  @inline(__always)
  func string(_ offset: Int, _ count: Int) throws -> String {
    try check(offset, count)
    let text = unsafe extracting(offset..<(offset + count)).withUnsafeBytes { bytes in
      // `String(validating:)` takes four times as long, so it is used only for non-ASCII text.
      unsafe bytes.isASCII
        ? unsafe String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        : unsafe String(validating: bytes, as: UTF8.self)
    }
    guard let text else { throw damaged("has text that is not UTF-8") }
    return text
  }

  /// Visits each byte.
  @inline(__always)
  func forEachByte(_ body: (UInt8) throws -> Void) rethrows {
    for index in 0..<byteCount {
      try body(unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self))
    }
  }

  /// True if no byte has its highest bit set.
  var isASCII: Bool { unsafe withUnsafeBytes { unsafe $0.isASCII } }

  /// True if a byte occurs at or after a position.
  func contains(_ byte: UInt8, from start: Int) -> Bool {
    unsafe withUnsafeBytes { bytes in
      guard start < byteCount, let base = bytes.baseAddress else { return false }
      return unsafe memchr(base + start, Int32(byte), byteCount - start) != nil
    }
  }

  /// True if two spans hold the same bytes.
  func equals(_ other: RawSpan) -> Bool { byteCount == other.byteCount && compare(other) == 0 }

  /// True if it begins with the bytes of `prefix`.
  @inline(__always)
  func starts(with prefix: RawSpan) -> Bool {
    byteCount >= prefix.byteCount && extracting(0..<prefix.byteCount).equals(prefix)
  }

  /// True if it sorts before another in byte order.
  func precedes(_ other: RawSpan) -> Bool { compare(other) < 0 }

  /// The number of leading bytes that it has in common with another.
  func sharedPrefix(with other: RawSpan) -> Int {
    let limit = min(byteCount, other.byteCount)
    return unsafe withUnsafeBytes { a in
      unsafe other.withUnsafeBytes { b in
        var shared = 0
        while shared + 8 <= limit {
          let differing =
            unsafe a.loadUnaligned(fromByteOffset: shared, as: UInt64.self)
            ^ b.loadUnaligned(fromByteOffset: shared, as: UInt64.self)
          if differing != 0 { return shared + differing.littleEndian.trailingZeroBitCount / 8 }
          shared += 8
        }
        while unsafe shared < limit && a[shared] == b[shared] { shared += 1 }
        return shared
      }
    }
  }

  private func damaged(_ what: String) -> DatabaseError {
    .corrupt(reason: "a stored value \(what)")
  }
}

extension UnsafeRawBufferPointer {
  /// True if no byte has its highest bit set.
  @inline(__always)
  fileprivate var isASCII: Bool {
    var (bits, index) = (UInt64(0), 0)
    while index + 8 <= count {
      unsafe bits |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index += 8
    }
    while index < count {
      unsafe bits |= UInt64(self[index])
      index += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }
}

extension InlineArray where Element: FixedWidthInteger & BitwiseCopyable {
  /// Lends the bytes, in the order of this machine.
  @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try unsafe body(span.bytes) }
}

extension [UInt8] {
  /// Lends the bytes.
  @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try unsafe withUnsafeBytes { bytes in try unsafe body(bytes.bytes) }
  }

  /// True if another array is longer and starts with these bytes.
  @inline(__always)
  func isProperPrefix(of other: [UInt8]) -> Bool {
    guard count < other.count else { return false }
    return lend { own in other.lend { $0.extracting(0..<own.byteCount).equals(own) } }
  }

  /// True if these bytes sort before others.
  @inline(__always)
  func precedes(_ other: [UInt8]) -> Bool {
    lend { bytes in other.lend { bytes.precedes($0) } }
  }

  /// Adds a little-endian number.
  @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Adds a big-endian number, whose bytes sort as the number does.
  @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  /// Adds lent bytes.
  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Overwrites bytes with a little-endian number.
  mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    for index in 0..<MemoryLayout<T>.size {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> T(index * 8))
    }
  }
}
