// A sealed segment of records, as compaction archives it.
//
//     key    first sequence number u64, last u64, both big-endian
//     value  checksum u64    XXH3 of the rest, seeded with that of the key
//            size u64        of the records
//            records         in order, in their stored form, one after the other; zstd
//
// A segment holds 256 KiB of records or more, or all that there were.

/// A sealed segment of records.
struct Segment {
  let first: SequenceNumber
  private(set) var last: SequenceNumber
  /// The stored forms of the records.
  private(set) var records: [UInt8] = []

  /// The most bytes of a segment: just under those at which it is sealed, plus one record of
  /// maximum length.
  private static let bytesMax = 256 << 20

  /// Makes an empty segment that continues after a record.
  init(after last: SequenceNumber) {
    first = last.next
    self.last = last
  }

  /// Makes a segment from its records' stored forms, without checking them.
  init(_ first: SequenceNumber, _ last: SequenceNumber, records: [UInt8]) {
    self.first = first
    self.last = last
    self.records = records
  }

  /// Adds the next record.
  mutating func append(_ stored: [UInt8]) {
    records += stored
    last = last.next
  }

  var key: [UInt8] {
    var key = [UInt8](bigEndian: first.rawValue)
    key.append(bigEndian: last.rawValue)
    return key
  }

  func stored() throws -> [UInt8] {
    guard let compressed = records.lend({ Zstandard.compressed($0) }) else {
      throw DatabaseError.full(reason: "there is no memory to compress records")
    }
    var value = [UInt8](repeating: 0, count: 8)
    value.append(littleEndian: UInt64(records.count))
    value += compressed
    let seed = key.lend { Checksum.of($0) }
    value.store(value.lend { Checksum.of($0.extracting(droppingFirst: 8), seed: seed) }, at: 0)
    return value
  }

  init(key: RawSpan, _ value: RawSpan) throws {
    guard key.byteCount == 16,
      try value.load(UInt64.self, at: 0)
        == Checksum.of(value.extracting(droppingFirst: 8), seed: Checksum.of(key))
    else { throw DatabaseError.corrupt(reason: "a segment is not what was stored") }
    first = SequenceNumber(try key.bigEndian(at: 0))
    last = SequenceNumber(try key.bigEndian(at: 8))
    let count = try value.load(UInt64.self, at: 8)
    guard count <= Segment.bytesMax else {
      throw DatabaseError.corrupt(reason: "a segment says that it has \(count) bytes")
    }
    records = try Zstandard.decompressed(
      value.extracting(droppingFirst: 16), countMax: Int(count))
  }

  /// Visits the records.
  ///
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  func forEach(_ body: (TransactionRecord) throws -> Void) throws {
    var offset = 0
    var sequence = first
    while offset < records.count {
      let record = try records.lend { bytes in
        let rest = bytes.extracting(droppingFirst: offset)
        let count = try TransactionRecord.count(startingWith: rest)
        try rest.check(0, count)
        offset += count
        return try TransactionRecord(rest.extracting(0..<count))
      }
      guard record.sequence == sequence else {
        throw DatabaseError.corrupt(
          reason: "a segment has record \(record.sequence) in the place of \(sequence)")
      }
      try body(record)
      sequence = sequence.next
    }
    guard sequence == last.next else {
      throw DatabaseError.corrupt(reason: "a segment ends before record \(sequence)")
    }
  }
}
