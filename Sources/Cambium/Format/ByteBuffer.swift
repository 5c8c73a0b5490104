// Bytes being assembled on the hot path: memory that is reused, written without an array's checks
// for sharing. The one place where Format writes raw memory.

/// Takes bytes one after the other; an array or a buffer.
protocol ByteSink: ~Copyable {
  var count: Int { get }
  mutating func append(_ byte: UInt8)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T)
  mutating func append(utf8 text: String)
  mutating func append(_ bytes: RawSpan)
}

extension [UInt8] {
  /// Removes all bytes, and keeps the memory if it suits the number of bytes that are added next.
  ///
  /// An array that is shared leaves its memory to whoever shares it, and its capacity to the next:
  /// without a bound, one long record would make many short ones as large.
  @inline(__always)
  mutating func removeAll(keeping count: Int) {
    if capacity < count || capacity > 2 * count + 64 {
      self = []
      reserveCapacity(count)
    } else {
      removeAll(keepingCapacity: true)
    }
  }
}

extension [UInt8]: ByteSink {
  mutating func append(utf8 text: String) { append(contentsOf: text.utf8) }

  /// The bytes of a number, to which others may be added.
  @inline(__always)
  init<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
    self = []
    append(littleEndian: value)
  }

  /// The bytes of a number in the order in which numbers sort.
  @inline(__always)
  init<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
    self = []
    append(bigEndian: value)
  }
}

extension ByteSink where Self: ~Copyable {
  /// Adds the bytes of an array.
  @inline(__always)
  mutating func append(array bytes: [UInt8]) { bytes.lend { append($0) } }

  /// Adds the lower 48 bits, little-endian.
  @inline(__always)
  mutating func append48(_ value: UInt64) {
    append(littleEndian: UInt32(truncatingIfNeeded: value))
    append(littleEndian: UInt16(truncatingIfNeeded: value >> 32))
  }

  /// Adds a number in groups of seven bits.
  @inline(__always)
  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }
}

/// A growing region of memory with one owner.
@safe struct ByteBuffer: ~Copyable, ByteSink {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 512) {
    self.capacity = capacity
    unsafe base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe base.deallocate() }

  /// Discards the content, and keeps the memory.
  @inline(__always)
  mutating func clear() { count = 0 }

  /// Discards the content, and keeps the memory unless it is more than an encoder should keep.
  @inline(__always)
  mutating func clearAndShrink() { clear(keeping: ByteBuffer.keptMax) }

  /// Discards the content, and keeps the memory unless it is more than a number of bytes.
  @inline(__always)
  mutating func clear(keeping most: Int) {
    count = 0
    if capacity > most { self = ByteBuffer() }
  }

  /// The most bytes that an encoder keeps.
  static let keptMax = 64 << 10

  @inline(__always)
  private mutating func makeRoom(_ more: Int) {
    if count + more > capacity { grow(count + more) }
  }

  @inline(never)
  private mutating func grow(_ needed: Int) {
    let larger = max(capacity * 2, needed)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    unsafe memory.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = memory
    capacity = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    makeRoom(1)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
    makeRoom(MemoryLayout<T>.size)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
    count += MemoryLayout<T>.size
  }

  @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
    makeRoom(MemoryLayout<T>.size)
    unsafe base.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
    count += MemoryLayout<T>.size
  }

  @inline(__always)
  mutating func append(utf8 text: String) {
    let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
      unsafe append(UnsafeRawBufferPointer($0).bytes)
    }
    if isDone == nil { append(array: Array(text.utf8)) }
  }

  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    makeRoom(bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + count).copyMemory(from: start, byteCount: source.count)
    }
    count += bytes.byteCount
  }

  /// Overwrites bytes that were added before with a little-endian number.
  @inline(__always)
  mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count, "store outside the buffer")
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
  }

  /// Inverts every bit from a place on.
  mutating func invert(from start: Int) {
    for index in start..<count {
      let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
      unsafe base.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
    }
  }

  /// Discards everything after a place.
  @inline(__always)
  mutating func cut(to length: Int) {
    precondition(length <= count, "cut behind the end")
    count = length
  }

  /// Inserts, as a varint, the number of bytes after a place in front of them.
  mutating func insertLength(at start: Int) {
    let length = count - start
    precondition(start >= 0 && length >= 0, "insert behind the end of the buffer")
    let width = max(1, (70 - UInt64(length).leadingZeroBitCount) / 7)
    makeRoom(width)
    unsafe (base + start + width).copyMemory(from: base + start, byteCount: length)
    for index in 0..<width {
      let bits = UInt8(truncatingIfNeeded: length >> (7 * index)) & 0x7F
      let byte = index + 1 < width ? bits | 0x80 : bits
      unsafe base.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
    }
    count += width
  }

  /// Lends the bytes.
  @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count)
    return try unsafe body(bytes.bytes)
  }

  /// A copy of the bytes.
  @inline(__always)
  func array() -> [UInt8] { lend { $0.array() } }
}
