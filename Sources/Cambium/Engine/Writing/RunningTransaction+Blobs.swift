// A value may refer only to a blob that is stored completely: before, or by the same transaction.

import LMDB

extension RunningTransaction {
  /// Refuses an operation whose value refers to a blob that is not stored.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)``; nothing is changed.
  /// - Complexity: one pass over the value's bytes, and one lookup for each reference.
  func checkBlobs(_ operation: Operation) throws {
    if !BlobReferences.mayBe(in: operation) { return }
    try BlobReferences.forEach(in: operation) { blob in
      // Asked here, since almost no operation has a reference.
      if draft.assumesBlobs || directory.options.refersLoosely { return }
      if draft.additions.chunks.holds(blob) { return }
      if try directory.log.read({ try $0.hasBlob(blob) }) { return }
      throw DatabaseError.badValue(
        operation.path ?? .root,
        reason: "it refers to \(blob.name), which is not stored here, or not whole, or was removed "
          + "after its lease had ended; store its content first")
    }
  }
}

extension Blob {
  /// The blob in messages.
  var name: String {
    let digits = hash.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return "the blob \(digits.joined())… of \(size) bytes"
  }
}
