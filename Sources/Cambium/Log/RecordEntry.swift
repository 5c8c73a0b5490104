// The entry of a record in LMDB: the record as it was sealed, or a compressed form of it.
//
//      0  the first 62 bytes of the record, with bit 7 of the flags at 9 set
//     62  length u32 of all that follows
//     66  the record's other bytes, compressed with zstd
//
// The first bytes stay as they are, so that a record's time, and what it is of, are found without
// decompressing it. The checksum among them is that of the record, and so vouches for both.

/// The sizes of records on which their entries depend.
package struct RecordSizes: Sendable {
  /// The most bytes of a record in one entry, at least 128; a longer one continues in further
  /// parts.
  package var partBytes = LogTables.partBytesMax
  /// The least bytes of a record that is compressed: shorter ones have little that occurs twice.
  package var compressedBytes = 1 << 10
}

/// Makes and reads the entries of records. The tail, segments and backups hold records as they were
/// sealed.
enum RecordEntry {
  /// The bit of the flags that says that the rest is compressed.
  private static let compressedFlag: UInt8 = 1 << 7
  private static let flagsOffset = 9
  private static let headCount = TransactionRecord.fixedCount
  private static let frameOffset = headCount + 4
  /// An upper bound of a record's length.
  static let recordBytesMax = 256 << 20

  /// The entry of a record: the compressed form if the record is long enough for it, and that is
  /// shorter by an eighth at least.
  ///
  /// - Complexity: linear in its length; see ``ZstandardCompressor``.
  static func make(
    of record: TransactionRecord, _ sizes: RecordSizes, _ compressor: ZstandardCompressor
  ) -> [UInt8] {
    let stored = record.stored()
    let entry = compressed(stored, sizes, compressor) ?? stored
    compressor.note(stored.count, compressedTo: entry.count)
    return entry
  }

  private static func compressed(
    _ stored: [UInt8], _ sizes: RecordSizes, _ compressor: ZstandardCompressor
  ) -> [UInt8]? {
    let countMax = stored.count - stored.count / 8 - frameOffset
    guard stored.count >= sizes.compressedBytes, countMax > 0 else { return nil }
    let frame = stored.lend {
      compressor.compressed($0.extracting(droppingFirst: headCount), countMax: countMax)
    }
    guard let frame else { return nil }
    var entry: [UInt8] = []
    entry.reserveCapacity(frameOffset + frame.count)
    entry += stored[..<headCount]
    entry[flagsOffset] |= compressedFlag
    entry.append(littleEndian: UInt32(frame.count))
    return entry + frame
  }

  /// True if an entry holds a compressed form.
  static func isCompressed(_ entry: RawSpan) throws -> Bool {
    try entry.load(UInt8.self, at: flagsOffset) & compressedFlag != 0
  }

  /// The length of the entry that starts with these bytes, its parts joined.
  static func count(startingWith bytes: RawSpan) throws -> Int {
    guard try isCompressed(bytes) else { return try TransactionRecord.count(startingWith: bytes) }
    return frameOffset + Int(try bytes.load(UInt32.self, at: headCount))
  }

  /// Joins the parts of an entry.
  ///
  /// - Parameter append: Appends a part to the bytes before it; false if it is not there.
  /// - Returns: The entry, and the number of its parts.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` for a missing part, errors of `append`.
  static func join(
    _ append: (_ part: UInt32, _ bytes: inout [UInt8]) throws -> Bool
  ) throws -> (bytes: [UInt8], parts: Int) {
    var bytes: [UInt8] = []
    var part: UInt32 = 0
    repeat {
      guard try append(part, &bytes) else {
        throw DatabaseError.corrupt(reason: "part \(part) is missing")
      }
      part += 1
    } while try bytes.lend({ try count(startingWith: $0) }) > bytes.count
    return (bytes, Int(part))
  }

  /// The record of an entry, after its checksum was checked.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  static func record(_ entry: RawSpan) throws -> TransactionRecord {
    guard try isCompressed(entry) else { return try TransactionRecord(entry) }
    return try opened(entry).lend { try TransactionRecord($0) }
  }

  /// The record that a compressed entry holds, as it was sealed.
  private static func opened(_ entry: RawSpan) throws -> [UInt8] {
    let frameCount = Int(try entry.load(UInt32.self, at: headCount))
    guard entry.byteCount == frameOffset + frameCount else {
      throw DatabaseError.corrupt(reason: "a record of the log has lost bytes")
    }
    var record = try entry.array(0, headCount)
    record[flagsOffset] &= ~compressedFlag
    let count = try record.lend { try TransactionRecord.count(startingWith: $0) }
    guard count <= recordBytesMax else {
      throw DatabaseError.corrupt(reason: "a record of the log says that it has \(count) bytes")
    }
    return record
      + (try Zstandard.decompressed(
        entry.extracting(droppingFirst: frameOffset), countMax: count - headCount))
  }
}
