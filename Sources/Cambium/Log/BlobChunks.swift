// Large values, beside the tree: cut into chunks of 256 KiB, addressed by their content.
//
//     key    BLAKE2b-256 of the whole content, 32 bytes | chunk number u32, big-endian
//     value  checksum u64 (XXH3 of the rest, seeded with that of the key) | form u8 | bytes
//            form 0: the uncompressed chunk; form 1: compressed with zstd
//
// The same content is stored once, however often it is referred to.

import FoundationEssentials

/// Chunks that are written by the next commit.
struct BlobChunks {
  /// The content of one chunk before compression.
  static let chunkBytes = 256 << 10
  /// The most bytes that may wait in memory for one commit.
  static let pendingBytesMax = 256 << 20

  private var pending: [(key: [UInt8], value: [UInt8])] = []
  /// The blobs whose chunks these are.
  private var blobs: Set<Blob> = []
  /// Blobs that are stored already, and must not be removed now.
  private var kept: [Blob] = []
  /// Blobs that are kept without a reference, and the ends of their leases.
  private var leases: [(blob: Blob, end: Int64)] = []
  private(set) var byteCount = 0

  var isEmpty: Bool { pending.isEmpty && kept.isEmpty && leases.isEmpty }

  /// The blobs whose content was added as a whole, whether or not it was stored already.
  var added: Set<Blob> { blobs.union(kept) }

  /// Adds the content of a blob, unless the log has it.
  mutating func add(_ data: Data, _ reader: LogReader) throws -> Blob {
    let bytes = [UInt8](data)
    let blob = Blob(hash: bytes.lend { Digest.of($0) }, size: UInt64(bytes.count))
    let isThere = try reader.hasBlob(blob)
    // A blob without its last chunk is in the list, and would be taken for one that is being
    // removed.
    if try isThere || reader.blobsGivenUp().contains(blob.hash) { keep(blob) }
    if isThere { return blob }
    blobs.insert(blob)
    bytes.lend { content in
      for number in 0..<blob.chunkCount {
        let start = Int(number) * BlobChunks.chunkBytes
        let end = min(start + BlobChunks.chunkBytes, content.byteCount)
        add(blob.key(number), content.extracting(start..<end))
      }
    }
    if byteCount > BlobChunks.pendingBytesMax {
      throw DatabaseError.transactionTooLarge(
        bytes: byteCount, limit: BlobChunks.pendingBytesMax)
    }
    return blob
  }

  /// True if all of a blob waits here.
  func holds(_ blob: Blob) -> Bool { blobs.contains(blob) }

  /// The content of a chunk of a blob that waits here; nil for any other blob.
  func chunk(_ number: UInt32, of blob: Blob) throws -> [UInt8]? {
    let key = blob.key(number)
    guard holds(blob), let chunk = pending.first(where: { $0.key == key }) else { return nil }
    return try chunk.value.lend { try BlobChunk.content($0, key: key) }
  }

  /// Keeps a blob that is stored already.
  mutating func keep(_ blob: Blob) { kept.append(blob) }

  /// Keeps a blob up to a time, even if nothing refers to it.
  mutating func lease(_ blob: Blob, until end: Int64) { leases.append((blob, end)) }

  /// Adds one chunk.
  mutating func add(_ key: [UInt8], _ chunk: RawSpan) {
    let value = BlobChunk.stored(chunk, key: key)
    pending.append((key, value))
    byteCount += value.count
  }

  /// Writes all to the log's transaction.
  func write(to writer: borrowing LogWriter) throws {
    for blob in kept { try writer.keep(blob) }
    for (blob, end) in leases { try writer.lease(blob, until: end) }
    for (key, value) in pending { try writer.putChunk(key, value) }
  }
}

extension Blob {
  /// The number of chunks of the content; empty content has a single empty chunk.
  var chunkCount: UInt32 {
    UInt32(
      clamping: max(1, (size + UInt64(BlobChunks.chunkBytes) - 1) / UInt64(BlobChunks.chunkBytes)))
  }

  /// The number of bytes in the last chunk.
  fileprivate var lastChunkCount: UInt64 {
    size == 0 ? 0 : (size - 1) % UInt64(BlobChunks.chunkBytes) + 1
  }

  /// The key of a chunk.
  func key(_ number: UInt32) -> [UInt8] {
    var key = hash
    key.append(bigEndian: number)
    return key
  }

  /// A bound behind all chunks of a blob, and before those of any other.
  static func end(of hash: [UInt8]) -> [UInt8] { hash + [0xFF, 0xFF, 0xFF, 0xFF, 0] }

  /// The key of the last chunk of a blob that is there, or nil.
  static func lastChunk(of hash: [UInt8], in log: LogReader) throws -> [UInt8]? {
    let key = try log.chunkKey(.before, end(of: hash))
    return key.flatMap { $0.starts(with: hash) ? $0 : nil }
  }

  /// True if a blob of which so many bytes are there may be one of which only the first chunks are
  /// stored, as a crash leaves it: all that there are, without a gap.
  static func mayBeInPart(
    _ hash: [UInt8], having bytes: UInt64, in log: LogReader
  ) throws -> Bool {
    guard let last = try lastChunk(of: hash, in: log) else { return false }
    let number = last.dropFirst(hash.count).reduce(0) { $0 << 8 | UInt64($1) }
    return (number + 1) * UInt64(BlobChunks.chunkBytes) == bytes
  }
}

/// A side of a bound.
enum ChunkSide { case before, behind }

extension LogReader {
  /// True if all of a blob is stored: its last chunk is written with the others, or after them, and
  /// is removed first. Its length must be the one that follows from the size.
  func hasBlob(_ blob: Blob) throws -> Bool {
    let next = blob.key(blob.chunkCount)
    if try storedChunk(next, { _ in true }) ?? false { return false }
    let count = try storedChunk(blob.key(blob.chunkCount - 1)) { try BlobChunk.contentCount($0) }
    return count.map { UInt64($0) == blob.lastChunkCount } ?? false
  }

  /// A chunk's content.
  func chunk(_ blob: Blob, _ number: UInt32) throws -> [UInt8] {
    let key = blob.key(number)
    guard let content = try storedChunk(key, { try BlobChunk.content($0, key: key) }) else {
      throw DatabaseError.corrupt(reason: "chunk \(number) of a blob is missing")
    }
    return content
  }
}

/// The stored form of a chunk.
enum BlobChunk {
  static func stored(_ chunk: RawSpan, key: [UInt8]) -> [UInt8] {
    var value = [UInt8](repeating: 0, count: 8)
    let compressed = chunk.byteCount > 64 ? Zstandard.compressed(chunk) : nil
    if let compressed, compressed.count < chunk.byteCount {
      value.append(1)
      value += compressed
    } else {
      value.append(0)
      value.append(chunk)
    }
    let sum = value.lend { checksum($0.extracting(droppingFirst: 8), key) }
    value.store(sum, at: 0)
    return value
  }

  /// Compares a chunk with its checksum.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  static func check(_ value: RawSpan, key: [UInt8]) throws {
    let stored = try value.load(UInt64.self, at: 0)
    try value.check(8, 1)
    guard stored == checksum(value.extracting(droppingFirst: 8), key) else {
      throw DatabaseError.corrupt(reason: "a chunk of a blob is not what was stored")
    }
  }

  /// The length of a chunk's content, read from its stored form without decompressing it.
  static func contentCount(_ value: RawSpan) throws -> Int {
    let bytes = value.extracting(droppingFirst: 9)
    if try value.load(UInt8.self, at: 8) == 0 { return bytes.byteCount }
    return try Zstandard.contentCount(bytes)
  }

  static func content(_ value: RawSpan, key: [UInt8]) throws -> [UInt8] {
    try check(value, key: key)
    let bytes = value.extracting(droppingFirst: 9)
    if try value.load(UInt8.self, at: 8) == 0 { return bytes.array() }
    return try Zstandard.decompressed(bytes, countMax: BlobChunks.chunkBytes)
  }

  private static func checksum(_ body: RawSpan, _ key: [UInt8]) -> UInt64 {
    Checksum.of(body, seed: key.lend { Checksum.of($0) })
  }
}
