import CZstd

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
