// Storing and reading large values.

import FoundationEssentials
import LMDB

extension Database {
  /// Stores a blob from memory, durably and without a transaction of its own.
  ///
  /// - Parameter data: The content.
  /// - Returns: The blob, for a value that refers to it: `tx.set(path, to: .blob(blob))`. A blob
  ///   without references is kept, too. One whose references were compacted since may be removed
  ///   after ten minutes: store it again then.
  /// - Throws: As `store`.
  public func store(_ data: Data) throws -> Blob { try store { try $0.append(data) } }

  /// Stores a blob piece by piece, in constant memory: the content goes to a temporary file first,
  /// since its address is known only at the end.
  ///
  ///     let film = try database.store { writer in
  ///       while let piece = try input.read() { try writer.append(piece) }
  ///     }
  ///
  /// - Parameter body: Writes the content, on the calling thread, without holding up other writers.
  /// - Returns: As `store`.
  /// - Throws: Any error that `body` throws; ``DatabaseError/full(reason:)``,
  ///   ``DatabaseError/busy(reason:)``, ``DatabaseError/misuse(reason:)`` inside a write. Nothing
  ///   of the blob is visible then.
  /// - Complexity: one flush for about 16 MiB, and a small one if the content is stored already.
  public func store(_ body: (inout BlobWriter) throws -> Void) throws -> Blob {
    try translating {
      var spool = try BlobWriter(directory: path)
      try body(&spool)
      let blob = try spool.finish()
      if try writer.exclusively({ try directory.log.keep([blob]).isEmpty }) { return blob }
      var number: UInt32 = 0
      while number < blob.chunkCount {
        var chunks = BlobChunks()
        while number < blob.chunkCount, chunks.byteCount < 16 << 20 {
          let chunk = try spool.read(number)
          chunk.lend { chunks.add(blob.key(number), $0) }
          number += 1
        }
        try writer.exclusively { try directory.log.commit(chunks) }
      }
      return blob
    }
  }

  /// Stores the blobs that another database has and this one has not, each durably.
  func take(_ blobs: Set<Blob>, from other: Snapshot) throws {
    if blobs.isEmpty { return }
    for blob in try writer.exclusively({ try directory.log.keep(blobs) }) {
      _ = try store { writer in try other.read(blob) { try writer.append($0) } }
    }
  }
}

extension Log {
  /// Keeps stored blobs from being removed, in one commit; the writer's turn is held.
  ///
  /// - Returns: The blobs that are not stored.
  fileprivate func keep(_ blobs: Set<Blob>) throws -> [Blob] {
    // A blob without its last chunk is being removed, and then stored again, off the list.
    let (missing, known) = try readNewest { reader in
      let listed = Set(try reader.blobsGivenUp())
      let missing = try blobs.filter { try !reader.hasBlob($0) }
      return (missing, blobs.filter { !missing.contains($0) || listed.contains($0.hash) })
    }
    if known.isEmpty { return Array(missing) }
    var kept = BlobChunks()
    for blob in known { kept.keep(blob) }
    try commit(kept)
    return Array(missing)
  }

  /// Stores chunks without a transaction of their own.
  fileprivate func commit(_ chunks: BlobChunks) throws {
    try amend { try chunks.write(to: $0) }
  }
}

/// Takes a blob's content piece by piece, into a temporary file beside the database's.
public struct BlobWriter: ~Copyable {
  private let file: TemporaryFile
  private let digest = Digest()
  private var size: UInt64 = 0

  init(directory: String) throws { file = try TemporaryFile(in: directory) }

  /// Adds bytes; pieces of any size make the same blob.
  ///
  /// - Parameter data: The next bytes of the content.
  /// - Throws: ``DatabaseError/full(reason:)``.
  public mutating func append(_ data: Data) throws {
    let bytes = [UInt8](data)
    digest.update(bytes)
    try translating { try file.append(bytes) }
    size += UInt64(bytes.count)
  }

  func finish() throws -> Blob { Blob(hash: digest.current(), size: size) }

  /// A chunk of the written content.
  func read(_ number: UInt32) throws -> [UInt8] {
    try file.read(at: UInt64(number) * UInt64(BlobChunks.chunkBytes), count: BlobChunks.chunkBytes)
  }
}

extension Snapshot {
  /// Lends a blob's content, chunk by chunk.
  ///
  /// - Parameters:
  ///   - blob: The blob that a value held.
  ///   - body: Takes up to 256 KiB at a time, in order.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)`` when a chunk is
  ///   missing or damaged, ``DatabaseError/closed(reason:)`` after the database was closed.
  /// - Complexity: one lookup and, if it was stored compressed, one decompression for each chunk;
  ///   memory for one.
  public func read(_ blob: Blob, _ body: (Data) throws -> Void) throws {
    try pieces(of: blob).forEach { try body($0.data) }
  }

  /// A chunk of a blob that is stored, or that the open transaction stores.
  func chunk(_ number: UInt32, of blob: Blob) throws -> [UInt8] {
    if let transaction {
      try transaction.use()
      if let staged = try transaction.draft.additions.chunks.chunk(number, of: blob) {
        return staged
      }
    }
    return try directory.log.read { try $0.chunk(blob, number) }
  }

  /// A blob's content as a whole, for blobs that fit into memory.
  ///
  /// - Throws: As ``read(_:_:)``.
  public func read(_ blob: Blob) throws -> Data {
    var content = Data()
    try read(blob) { content.append($0) }
    return content
  }
}
