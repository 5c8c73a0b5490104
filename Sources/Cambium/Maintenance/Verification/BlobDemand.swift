import LMDB

/// Demands the blobs that values refer to, and notes those of which chunks are missing.
///
/// The content of what is there is checked elsewhere, blob by blob.
struct BlobDemand {
  private static let knownMax = 1 << 16

  private let log: Log
  /// Blobs that were found not long ago, since many values refer to the same.
  private var known: Set<Blob> = []
  /// The blobs that are not there.
  private var missing: Set<Blob> = []

  init(_ log: Log) { self.log = log }

  /// Looks for a blob.
  ///
  /// - Returns: True if it is missing, and was not asked for before.
  mutating func isNewlyMissing(_ blob: Blob) throws -> Bool {
    if known.contains(blob) { return false }
    if try log.read({ try $0.hasBlob(blob) }) {
      if known.count >= BlobDemand.knownMax { known.removeAll(keepingCapacity: true) }
      known.insert(blob)
      return false
    }
    return missing.insert(blob).inserted
  }
}
