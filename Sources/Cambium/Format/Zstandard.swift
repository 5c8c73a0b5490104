import CZstd
import Synchronization

/// Compresses bytes that are kept for a long time.
enum Zstandard {
  /// The compression level: 3 makes about 300 MB/s.
  private static let level: Int32 = 3

  /// The compressed form.
  static func compressed(_ bytes: RawSpan) -> [UInt8]? {
    let room = ZSTD_compressBound(bytes.byteCount)
    var count = 0
    let compressed = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
      count = unsafe bytes.withUnsafeBytes {
        unsafe ZSTD_compress(buffer.baseAddress, room, $0.baseAddress, $0.count, level)
      }
      filled = ZSTD_isError(count) == 0 ? count : 0
    }
    return ZSTD_isError(count) == 0 ? compressed : nil
  }

  /// The error `ZSTD_error_memory_allocation`, negated as zstd returns it.
  private static let outOfMemory = -64

  /// The length of the uncompressed content, as stored with the compressed bytes.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  static func contentCount(_ bytes: RawSpan) throws -> Int {
    let count = unsafe bytes.withUnsafeBytes {
      unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count)
    }
    // Two values at the end of the range mean an error and a missing size.
    guard count < UInt64(Int.max) else {
      throw DatabaseError.corrupt(reason: "compressed bytes do not say how many they are")
    }
    return Int(count)
  }

  /// The uncompressed content.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``, also if it is longer than `countMax`;
  ///   ``DatabaseError/full(reason:)`` if there is no memory for it.
  static func decompressed(_ bytes: RawSpan, countMax: Int) throws -> [UInt8] {
    var count = 0
    let room = try contentCount(bytes)
    guard room <= countMax else {
      throw DatabaseError.corrupt(reason: "compressed bytes are longer than they may be")
    }
    let content = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
      count = unsafe bytes.withUnsafeBytes {
        unsafe ZSTD_decompress(buffer.baseAddress, buffer.count, $0.baseAddress, $0.count)
      }
      filled = ZSTD_isError(count) == 0 ? count : 0
    }
    if count == Zstandard.outOfMemory {
      throw DatabaseError.full(reason: "there is no memory to decompress what is stored")
    }
    if ZSTD_isError(count) != 0 {
      throw DatabaseError.corrupt(reason: "compressed bytes cannot be decompressed")
    }
    return content
  }
}

/// Compresses many pieces of bytes, fast, and keeps the memory that zstd needs for it, from the
/// first piece on.
final class ZstandardCompressor: Sendable {
  /// The level. Of a log whose records have 86 kB, 1 compresses 249 MB/s to 25.7 % and 3 compresses
  /// 171 MB/s to 25.2 % (`zstd -b1 -e3 -B86KB`).
  private static let level: Int32 = 1

  @safe private struct Context: ~Copyable {
    private var pointer: OpaquePointer?

    /// The context, which is made when it is first used; nil if there is no memory for it.
    mutating func open() -> OpaquePointer? {
      if unsafe pointer == nil { unsafe pointer = ZSTD_createCCtx() }
      return unsafe pointer
    }

    deinit { unsafe _ = ZSTD_freeCCtx(pointer) }
  }

  private let context = Mutex(Context())
  private let taken = Atomic<UInt64>(1)
  private let left = Atomic<UInt64>(1)

  /// The bytes of what was to be compressed, divided by those that it has now.
  var ratio: Double {
    Double(taken.load(ordering: .relaxed)) / Double(left.load(ordering: .relaxed))
  }

  /// Counts what was to be compressed, if only because it might have been too short.
  func note(_ count: Int, compressedTo left: Int) {
    taken.add(UInt64(count), ordering: .relaxed)
    self.left.add(UInt64(left), ordering: .relaxed)
  }

  /// The compressed form; nil if that takes more than `countMax` bytes, or there is no memory.
  func compressed(_ bytes: RawSpan, countMax: Int) -> [UInt8]? {
    context.withLock { context in
      guard let context = unsafe context.open() else { return nil }
      var isShort = false
      let compressed = unsafe [UInt8](unsafeUninitializedCapacity: countMax) { buffer, filled in
        let count = unsafe bytes.withUnsafeBytes {
          unsafe ZSTD_compressCCtx(
            context, buffer.baseAddress, countMax, $0.baseAddress, $0.count,
            ZstandardCompressor.level)
        }
        isShort = ZSTD_isError(count) == 0
        filled = isShort ? count : 0
      }
      return isShort ? compressed : nil
    }
  }
}
