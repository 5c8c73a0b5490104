import FoundationEssentials

/// A piece of a blob's content.
public struct BlobPiece: Hashable, Sendable {
  /// The place of its first byte in the whole content.
  public let offset: UInt64
  /// Its bytes, at most 256 KiB.
  public let data: Data

  /// The place after its last byte: how far the reading has come, and where to go on later.
  public var end: UInt64 { offset + UInt64(data.count) }
}

/// The content of a blob, or a range of it, piece by piece: a description that reads nothing until
/// it is walked.
///
///     let film = snapshot.pieces(of: blob, in: 1_000_000..<2_000_000)
///     for try await piece in film.inBackground {
///       await player.play(piece.data)
///       progress = Double(piece.end) / Double(blob.size)
///     }
///
/// Whoever takes no further piece has paused; a walk from ``BlobPiece/end`` goes on later, also
/// after a restart; and cancelling the task ends it.
public struct BlobPieces: Walk {
  let snapshot: Snapshot
  let blob: Blob
  let range: Range<UInt64>

  /// Starts a walk.
  ///
  /// - Returns: The walk, at its start; nothing is read yet.
  /// - Complexity: O(1); each piece is one lookup and, if it was stored compressed, one
  ///   decompression. Memory for one piece.
  public func makeCursor() -> BlobPieceCursor { BlobPieceCursor(self) }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (BlobPiece) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch, of one piece each.
  public func makeBatches() throws -> WalkBatches<BlobPiece> {
    WalkBatches(snapshot.isLive ? nil : snapshot.directory) { check in
      var cursor = makeCursor()
      return { pieces in
        try check()
        if let piece = try cursor.next() { pieces.append(piece) }
      }
    }
  }
}

/// A walk over the pieces of a blob, on one thread.
public struct BlobPieceCursor: ~Copyable, WalkCursor {
  private let pieces: BlobPieces
  private var offset: UInt64

  init(_ pieces: BlobPieces) {
    self.pieces = pieces
    offset = pieces.range.lowerBound
  }

  /// The next piece, or nil after the last.
  ///
  /// - Returns: The piece.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` when a chunk is missing or damaged,
  ///   ``DatabaseError/closed(reason:)`` after the database was closed.
  public mutating func next() throws -> BlobPiece? {
    let end = min(pieces.range.upperBound, pieces.blob.size)
    guard offset < end else { return nil }
    let chunkBytes = UInt64(BlobChunks.chunkBytes)
    let (number, start) = offset.quotientAndRemainder(dividingBy: chunkBytes)
    let count = min(chunkBytes - start, end - offset)
    let (blob, snapshot) = (pieces.blob, pieces.snapshot)
    let chunk = try translating { try snapshot.chunk(UInt32(clamping: number), of: blob) }
    guard UInt64(chunk.count) >= start + count else {
      throw DatabaseError.corrupt(reason: "chunk \(number) of \(blob.name) is cut short")
    }
    defer { offset += count }
    return BlobPiece(offset: offset, data: Data(chunk[Int(start)..<Int(start + count)]))
  }
}

extension Snapshot {
  /// The content of a blob in pieces of at most 256 KiB.
  ///
  /// - Parameters:
  ///   - blob: The blob that a value held.
  ///   - range: The bytes to read; what lies behind the end of the content is left out.
  /// - Returns: The pieces, not read yet; any thread may walk them.
  public func pieces(of blob: Blob, in range: Range<UInt64> = 0..<UInt64.max) -> BlobPieces {
    BlobPieces(snapshot: self, blob: blob, range: range)
  }
}
