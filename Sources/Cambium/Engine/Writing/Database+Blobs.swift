// Storing and reading large values.

import FoundationEssentials
import LMDB

extension Database {
  /// Stores a blob from memory, durably and without a transaction of its own.
  ///
  /// - Parameter data: The content.
  /// - Returns: The blob, for a value that refers to it: `tx.set(path, to: .blob(blob))`. For a day
  ///   it is kept without one; ``renewLease(of:for:)`` makes that longer. After that compaction
  ///   removes it if nothing refers to it.
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
      try store(blob, leased: BlobLeases.usual) { try spool.read($0) }
      return blob
    }
  }

  /// Stores the chunks of a blob, unless it is there, in steps between which others write.
  ///
  /// - Parameters:
  ///   - blob: The blob.
  ///   - lease: The time for which it is kept from now on, in microseconds.
  ///   - chunk: Reads a chunk of its content; called in order, and from the first one again if the
  ///     lease ends meanwhile.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` if the chunks are not the blob's content, and
  ///   any error of `chunk`; the blob is not there then, and the lease lets compaction remove the
  ///   chunks that were written.
  func store(_ blob: Blob, leased lease: Int64, _ chunk: (UInt32) throws -> [UInt8]) throws {
    let end = LeaseTime(directory).end(after: lease)
    if try writer.exclusively({ try directory.log.keep([blob], until: end).isEmpty }) { return }
    for _ in 0..<Database.storingAttempts {
      if try storeChunks(of: blob, until: end, chunk) { return }
    }
    throw DatabaseError.busy(reason: "its lease ended while \(blob.name) was being stored")
  }

  /// The number of times that storing a blob is begun anew.
  private static let storingAttempts = 8

  /// Stores the chunks of a blob, which may be read again later.
  ///
  /// - Returns: False if compaction has removed some of them meanwhile, since the lease has ended.
  private func storeChunks(
    of blob: Blob, until end: Int64, _ chunk: (UInt32) throws -> [UInt8]
  ) throws -> Bool {
    let digest = Digest()
    var number: UInt32 = 0
    while number < blob.chunkCount {
      let first = number
      var chunks = BlobChunks()
      chunks.lease(blob, until: end)
      while number < blob.chunkCount, chunks.byteCount < 16 << 20 {
        let content = try chunk(number)
        digest.update(content)
        content.lend { chunks.add(blob.key(number), $0) }
        number += 1
      }
      if number == blob.chunkCount, digest.current() != blob.hash {
        throw DatabaseError.corrupt(reason: "the content has changed while it was being stored")
      }
      let isThere = try writer.exclusively { () -> Bool? in
        // Another has stored it, and what is there is not written over.
        if try directory.log.keep([blob], until: end).isEmpty { return true }
        // Chunks are removed from the last one on, so that those before this one are there too.
        if first > 0, try !directory.log.hasChunk(blob.key(first - 1)) { return nil }
        try directory.log.commit(chunks)
        return false
      }
      guard let isThere else { return false }
      if isThere { return true }
    }
    return true
  }

  /// Keeps a stored content for some time from now on, even if nothing refers to it.
  ///
  /// A lease is never made shorter. It needs no renewal once a transaction refers to the content.
  ///
  /// - Parameters:
  ///   - blob: The content.
  ///   - duration: The time from now on.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/misuse(reason:)`` if the content
  ///   is not stored here, for which its lease may have ended, or inside a write;
  ///   ``DatabaseError/busy(reason:)``, ``DatabaseError/full(reason:)``. The old lease holds then.
  /// - Complexity: One flush, in the writer's turn.
  public func renewLease(of blob: Blob, for duration: Duration) throws {
    try translating {
      let end = LeaseTime(directory).end(after: duration.microseconds)
      let missing = try writer.exclusively { try directory.log.keep([blob], until: end) }
      if missing.isEmpty { return }
      throw DatabaseError.misuse(
        reason: "\(blob.name) is not stored here, or its lease has ended and it was removed")
    }
  }

  /// Stores the blobs that another database has and this one has not, each durably.
  func take(_ blobs: Set<Blob>, from other: Snapshot) throws {
    if blobs.isEmpty { return }
    let end = LeaseTime(directory).end(after: BlobLeases.usual)
    for blob in try writer.exclusively({ try directory.log.keep(blobs, until: end) }) {
      _ = try store { writer in try other.read(blob) { try writer.append($0) } }
    }
  }
}

/// The times of leases, in microseconds since 1970.
struct LeaseTime {
  let directory: OpenDirectory

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// The time of day at which leases are judged. Looking at it does not move a clock that the app
  /// supplies; as long as that has given no time, none has ended.
  var present: Int64 { directory.present ?? .min }

  /// The end of a lease that begins now.
  func end(after lease: Int64) -> Int64 {
    let (end, isBeyond) = directory.options.now.addingReportingOverflow(max(lease, 0))
    return isBeyond ? .max : end
  }
}

extension Duration {
  /// The duration in whole microseconds; the longest one where it has more.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    return Int64(clamping: Int128(seconds) * 1_000_000 + Int128(attoseconds) / 1_000_000_000_000)
  }
}

extension Log {
  /// Keeps stored blobs up to a time, in one commit; the writer's turn is held.
  ///
  /// - Returns: The blobs that are not stored.
  fileprivate func keep(_ blobs: Set<Blob>, until end: Int64) throws -> [Blob] {
    // A blob without its last chunk is being removed, and then stored again, off the list.
    let (missing, known) = try readNewest { reader in
      let listed = Set(try reader.blobsGivenUp())
      let missing = try blobs.filter { try !reader.hasBlob($0) }
      return (missing, blobs.filter { !missing.contains($0) || listed.contains($0.hash) })
    }
    if known.isEmpty { return Array(missing) }
    var kept = BlobChunks()
    for blob in known { kept.lease(blob, until: end) }
    try commit(kept)
    return Array(missing)
  }

  /// True if a chunk is stored; the writer's turn is held.
  fileprivate func hasChunk(_ key: [UInt8]) throws -> Bool {
    try readNewest { try $0.storedChunk(key) { _ in true } ?? false }
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
