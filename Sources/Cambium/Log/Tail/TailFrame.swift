// A record in the tail's file.
//
//      0  checksum u64          XXH3 of all that follows, seeded with the file's own number
//      8  sequence number u64   that of the record
//     16  durable u64           the newest record that was durable when this one was written
//     24  length u32            of the record
//     28  zero u32
//     32  record                in its stored form
//         zeros                 up to a multiple of 8
//
// All numbers little-endian. The seed keeps bytes that an app stores from looking like a frame.

/// A transaction record, and its place in the tail's file.
struct TailFrame {
  let record: TransactionRecord
  /// The frame's bytes in the file.
  let place: Range<Int>
  /// The frame's checksum.
  let checksum: UInt64

  static let headerCount = 32

  /// The bytes that a record takes.
  static func count(of record: TransactionRecord) -> Int { count(record.storedCount) }

  private static func count(_ length: Int) -> Int { (headerCount + length + 7) & ~7 }

  /// Appends a record's frame to bytes.
  static func append(
    _ record: TransactionRecord, durable: SequenceNumber, seed: UInt64, to bytes: inout [UInt8]
  ) {
    let (stored, start) = (record.stored(), bytes.count)
    bytes.append(littleEndian: 0 as UInt64)
    bytes.append(littleEndian: record.sequence.rawValue)
    bytes.append(littleEndian: durable.rawValue)
    bytes.append(littleEndian: UInt32(stored.count))
    bytes.append(littleEndian: 0 as UInt32)
    bytes += stored
    let sum = bytes.lend { Checksum.of($0.extracting(droppingFirst: start + 8), seed: seed) }
    bytes.store(sum, at: start)
    bytes += repeatElement(0, count: start + count(stored.count) - bytes.count)
  }

  /// The numbers at the start of what may be a frame.
  struct Header {
    let checksum: UInt64
    let sequence: SequenceNumber
    let durable: SequenceNumber
    let length: Int

    /// The bytes of the frame.
    var count: Int { TailFrame.count(length) }

    /// Reads it; nil where the bytes end, or what they say makes no sense.
    init?(_ bytes: RawSpan, at offset: Int) {
      guard offset + TailFrame.headerCount <= bytes.byteCount,
        let checksum = try? bytes.load(UInt64.self, at: offset),
        let sequence = try? bytes.load(UInt64.self, at: offset + 8),
        let durable = try? bytes.load(UInt64.self, at: offset + 16),
        let length = try? bytes.load(UInt32.self, at: offset + 24),
        length > 0, durable < sequence
      else { return nil }
      self.checksum = checksum
      self.sequence = SequenceNumber(sequence)
      self.durable = SequenceNumber(durable)
      self.length = Int(length)
    }
  }

  /// The checksum that a whole frame should have; nil if it does not, or is not there.
  static func checksum(_ bytes: RawSpan, at offset: Int, seed: UInt64) -> UInt64? {
    guard let header = Header(bytes, at: offset), offset + header.count <= bytes.byteCount else {
      return nil
    }
    let end = offset + headerCount + header.length
    let checksum = Checksum.of(bytes.extracting((offset + 8)..<end), seed: seed)
    return checksum == header.checksum ? checksum : nil
  }

  /// Reads a frame after checking it; nil if there is none.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` if its record is of a newer format.
  init?(_ bytes: RawSpan, at offset: Int, seed: UInt64, from start: Int) throws {
    guard let checksum = TailFrame.checksum(bytes, at: offset, seed: seed),
      let header = Header(bytes, at: offset)
    else { return nil }
    let end = offset + TailFrame.headerCount + header.length
    record = try TransactionRecord(bytes.extracting((offset + TailFrame.headerCount)..<end))
    guard record.sequence == header.sequence else { return nil }
    place = (start + offset)..<(start + offset + header.count)
    self.checksum = checksum
  }
}
