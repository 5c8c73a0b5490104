/// Follows the chunks of a blob as they come, to see whether they are all of it.
///
/// Chunks are stored in order, or all at once, and each has a checksum that is bound to its number.
/// So a blob without a gap whose last chunk is shorter than a full one is whole, and need not be
/// unpacked to know it. Where the last one is full, more may be on their way: only the hash of the
/// content decides.
struct BlobInspection {
  /// The blob's address; empty before the first.
  private(set) var hash: [UInt8] = []
  /// The number of chunks that have come.
  private(set) var chunkCount: UInt32 = 0
  /// True if no chunk is missing before the newest.
  private(set) var isContiguous = true
  /// True if the newest chunk is shorter than a full one, and so the last.
  private(set) var endsShort = false

  /// True if a chunk is one of this blob's.
  func isOf(_ key: [UInt8]) -> Bool { !hash.isEmpty && key.starts(with: hash) }

  /// Takes the next chunk; a chunk of another blob starts over.
  mutating func add(_ key: [UInt8], _ value: RawSpan) throws {
    if !isOf(key) {
      self = BlobInspection()
      hash = Array(key.prefix(Digest.bytesCount))
    }
    let number = try key.lend { try $0.load(UInt32.self, at: Digest.bytesCount).byteSwapped }
    isContiguous = isContiguous && number == chunkCount
    chunkCount += 1
    endsShort = try BlobChunk.contentCount(value) < BlobChunks.chunkBytes
  }
}
