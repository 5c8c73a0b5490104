import LMDB

/// Reads the tail's file: which of its frames continue the log.
///
/// A round of the tail begins at the start of the file, over the frames of the round before, after
/// all of those have moved to LMDB. So a frame counts only if its number is the next one and its
/// link follows from the record before; what else is there is from earlier rounds.
///
/// A record that a crash has kept from the disk ends the log there, as one that was never
/// acknowledged. One that was durable is missed: a later frame says so.
struct TailScan {
  private let file: PrewrittenFile
  private let seed: UInt64
  /// A part of the file, and its place.
  private var piece: [UInt8] = []
  private var start = 0
  private static let pieceBytes = 64 << 10

  init(_ file: PrewrittenFile, seed: UInt64) {
    self.file = file
    self.seed = seed
  }

  /// The frame at an offset; nil if there is none.
  mutating func frame(at offset: Int) throws -> TailFrame? {
    guard let header = try header(at: offset), offset + header.count <= file.size else {
      return nil
    }
    try load(offset, header.count)
    return try piece.lend { try TailFrame($0, at: offset - start, seed: seed, from: start) }
  }

  /// The numbers at the start of a frame, unchecked; nil if there is none.
  mutating func header(at offset: Int) throws -> TailFrame.Header? {
    guard offset + TailFrame.headerCount <= file.size else { return nil }
    try load(offset, TailFrame.headerCount)
    return piece.lend { TailFrame.Header($0, at: offset - start) }
  }

  private mutating func load(_ offset: Int, _ count: Int) throws {
    if offset >= start, offset + count <= start + piece.count { return }
    // The first look is often the only one.
    let more = piece.isEmpty ? 0 : TailScan.pieceBytes
    piece = try file.read(at: offset, count: max(count, more))
    start = offset
  }

  /// The frames that continue the log, from the start of the file.
  ///
  /// - Parameter head: The head of what LMDB holds; if it is damaged, the first frame is taken as
  ///   it is.
  /// - Returns: The frames, with a gap where one is damaged.
  /// - Throws: ``StorageError``, ``DatabaseError/unsupported(path:reason:)``.
  mutating func frames(after head: LogHead?) throws -> [TailFrame] {
    var frames: [TailFrame] = []
    var (offset, expected, link) = (0, head?.sequence.next, head?.link)
    while let frame = try frame(at: offset) {
      let record = frame.record
      if let expected, record.sequence != expected { break }
      if let link, record.chained(to: link) != record.link { break }
      frames.append(frame)
      (offset, expected, link) = (frame.place.upperBound, record.sequence.next, record.link)
    }
    return try frames + missed(from: offset, after: frames.last?.record.sequence ?? head?.sequence)
  }

  /// The frames behind a record that is missed, although it was durable; none if nothing is missed.
  private mutating func missed(
    from start: Int, after last: SequenceNumber?
  ) throws -> [TailFrame] {
    guard let last else { return [] }
    var frames: [TailFrame] = []
    var offset = start
    while offset + TailFrame.headerCount <= file.size {
      let newest = frames.last?.record.sequence ?? last
      if let header = try header(at: offset), proves(header, last), header.sequence > newest,
        let frame = try frame(at: offset)
      {
        frames.append(frame)
        offset = frame.place.upperBound
      } else {
        offset += 8
      }
    }
    return frames
  }

  /// True if a frame is behind a record after the last that was found, and was written when that
  /// record was durable.
  private func proves(_ header: TailFrame.Header, _ last: SequenceNumber) -> Bool {
    // Most of what is looked at is no frame, and its numbers are out of all proportion.
    let most = last.rawValue &+ UInt64(file.size / TailFrame.headerCount)
    if header.sequence.rawValue > most { return false }
    return header.sequence > last.next && header.durable > last
  }
}
