/// Follows the chunks of blobs in the order of their keys, and compares the content of each blob
/// with its address.
struct BlobDigest: ~Copyable {
  /// A blob whose chunks were all taken.
  typealias Blob = (hash: [UInt8], size: UInt64, isWhole: Bool)

  private var hash: [UInt8] = []
  private var size: UInt64 = 0
  private var digest = Digest()

  /// Begins another blob where a chunk's key is of one; the blob before it is handed over.
  mutating func begin(_ key: [UInt8], _ take: (Blob) throws -> Void) rethrows {
    if key.starts(with: hash), !hash.isEmpty { return }
    try end(take)
    hash = Array(key.prefix(Digest.bytesCount))
  }

  /// Adds the content of a chunk of the blob that was begun.
  mutating func add(_ content: [UInt8]) {
    digest.update(content)
    size += UInt64(content.count)
  }

  /// Hands the last blob over, if there was any.
  mutating func end(_ take: (Blob) throws -> Void) rethrows {
    if !hash.isEmpty { try take((hash, size, digest.current() == hash)) }
    (hash, size) = ([], 0)
    digest = Digest()
  }
}
