import LMDB

/// The content of the log at one moment: the door through which it is read.
///
/// Access and tables are private, so only this file reads records, segments, chunks and entries
/// from LMDB, and extensions elsewhere are made of the calls below. The newest records may still be
/// in the tail: the calls about records answer from both.
struct LogReader {
  private let access: Access
  private let tables: LogTables
  private let damage: LogDamage
  /// The records that follow those in LMDB; nil if there are none.
  let tail: TailView?

  init(access: Access, tables: LogTables, damage: LogDamage, tail: TailView? = nil) {
    self.access = access
    self.tables = tables
    self.damage = damage
    self.tail = tail
  }

  /// LMDB's own number of the commit that this view sees, or that its writer makes.
  var transaction: UInt64 { access.number }

  // MARK: Entries

  /// Lends an entry's value after checking it; nil if there is no such entry.
  func entry<R>(_ name: String, _ body: (RawSpan) throws -> R) throws -> R? {
    let key = Array(name.utf8)
    return try key.lend { span in
      try access.get(tables.meta, span) { try MetaEntry.open($0, name: key, body) }
    }
  }

  /// Visits the entries whose names start with a prefix, in the order of their names, and checks
  /// each.
  func forEachEntry(
    startingWith prefix: [UInt8], _ body: (_ name: [UInt8], _ value: RawSpan) throws -> Void
  ) throws {
    try access.forEach(tables.meta, startingWith: prefix) { key, value in
      let name = key.array()
      try MetaEntry.open(value, name: name) { try body(name, $0) }
    }
  }

  // MARK: Records

  /// Lends a part of a record as it is stored; nil if it is not there.
  @inline(__always)
  private func part<R>(
    _ part: UInt32, of sequence: SequenceNumber, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    try LogTables.recordKey(sequence, part: part).lend { key in
      try access.get(tables.records, key, body)
    }
  }

  /// The entry of a record in LMDB, its parts joined, and their number.
  private func entry(of sequence: SequenceNumber) throws -> (bytes: [UInt8], parts: Int) {
    try RecordEntry.join { part, bytes in
      try self.part(part, of: sequence) { bytes.append($0) } != nil
    }
  }

  /// The bytes of the keys and values of a record in LMDB.
  func entryBytes(of sequence: SequenceNumber) throws -> Int {
    let (bytes, parts) = try entry(of: sequence)
    return bytes.count + parts * LogTables.recordKeyCount
  }

  /// The number of a record's operations, as its header has it; not checked.
  func operationCount(of sequence: SequenceNumber) throws -> Int {
    if let record = tail?[sequence] { return Int(record.operationCount) }
    return try part(0, of: sequence) { try TransactionRecord.operationCount(startingWith: $0) } ?? 0
  }

  /// The record of a sequence number, with its checksum checked.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` naming the number when it is missing or damaged.
  func record(_ sequence: SequenceNumber) throws -> TransactionRecord {
    if let record = tail?[sequence] { return record }
    do {
      let record = try entry(of: sequence).bytes.lend { try RecordEntry.record($0) }
      if record.sequence == sequence { return record }
      throw DatabaseError.corrupt(reason: "it says that it is \(record.sequence)")
    } catch DatabaseError.corrupt(let reason) {
      // A record that was dropped, or that this view cannot contain yet, does not count as damaged.
      if try sequence <= baseline().sequence, try sequence < oldestRecord() {
        throw DatabaseError.compacted(oldest: try horizon())
      }
      if try sequence <= head().sequence { damage.note(sequence, reason) }
      throw DatabaseError.corrupt(reason: "record \(sequence) of the log: \(reason)")
    }
  }

  /// A record's time, read without the rest of the record.
  func time(of sequence: SequenceNumber) throws -> Int64 {
    if let record = tail?[sequence] { return record.time }
    guard let time = try part(0, of: sequence, { try $0.load(Int64.self, at: 26) }) else {
      throw DatabaseError.corrupt(reason: "record \(sequence) of the log is missing")
    }
    return time
  }

  /// The oldest record that is not in a segment, or the one after the head.
  func oldestRecord() throws -> SequenceNumber {
    var cursor = try Cursor(access, tables.records)
    guard try cursor.first() else { return try tail?.first ?? head().sequence.next }
    return SequenceNumber(try cursor.withEntry { key, _ in try key.bigEndian(at: 0) })
  }

  // MARK: Segments

  /// The first segment with a record after one, or nil.
  func segment(after sequence: SequenceNumber) throws -> Segment? {
    let bound = [UInt8](bigEndian: sequence.next.rawValue)
    var cursor = try Cursor(access, tables.segments)
    // Segments are in order and do not overlap, so the one before may contain it.
    var isThere = try bound.lend { try cursor.seekBefore($0) }
    if isThere, try LogReader.lastRecord(cursor) <= sequence { isThere = try cursor.next() }
    if !isThere { isThere = try bound.lend { try cursor.seek($0) } }
    guard isThere else { return nil }
    return try cursor.withEntry { try Segment(key: $0, $1) }
  }

  /// The first and the last record in segments, or nil if there are none.
  func archived() throws -> ClosedRange<SequenceNumber>? {
    var cursor = try Cursor(access, tables.segments)
    guard try cursor.first() else { return nil }
    let first = try cursor.withEntry { key, _ in try key.bigEndian(at: 0) }
    guard try cursor.last() else { return nil }
    return try SequenceNumber(first)...LogReader.lastRecord(cursor)
  }

  /// Visits all segments in order, each with the bytes of its entry.
  func forEachSegment(_ body: (Segment, _ bytes: Int) throws -> Void) throws {
    try access.forEach(tables.segments) { key, value in
      try body(try Segment(key: key, value), key.byteCount + value.byteCount)
    }
  }

  /// The last record of the segment at a cursor's position.
  private static func lastRecord(_ cursor: borrowing Cursor) throws -> SequenceNumber {
    SequenceNumber(try cursor.withEntry { key, _ in try key.bigEndian(at: 8) })
  }

  // MARK: Chunks of blobs

  /// Lends a chunk in its stored form, unchecked; nil if it is not there.
  func storedChunk<R>(_ key: [UInt8], _ body: (RawSpan) throws -> R) throws -> R? {
    try key.lend { try access.get(tables.blobs, $0, body) }
  }

  /// Stored chunks of blobs in order of their keys, after their checksums were checked.
  ///
  /// - Parameters:
  ///   - key: The chunk after which to begin; empty for the first.
  ///   - bytes: Ends with the chunk that makes it so many.
  ///   - known: Blobs that are left out.
  /// - Returns: Each chunk's key and stored form; none behind the last.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func chunks(
    after key: [UInt8], bytes: Int, without known: Set<[UInt8]> = []
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var chunks: [(key: [UInt8], value: [UInt8])] = []
    var count = 0
    var cursor = try Cursor(access, tables.blobs)
    var isThere = key.isEmpty ? try cursor.first() : try (key + [0]).lend { try cursor.seek($0) }
    while isThere, count < bytes {
      let key = cursor.withEntry { key, _ in key.array() }
      let hash = Array(key.prefix(Digest.bytesCount))
      if !known.isEmpty, known.contains(hash) {
        isThere = try Blob(hash: hash, size: 0).key(.max).lend { try cursor.seek($0) }
        continue
      }
      try cursor.withEntry { _, value in
        try BlobChunk.check(value, key: key)
        chunks.append((key, value.array()))
        count += value.byteCount
      }
      isThere = try cursor.next()
    }
    return chunks
  }

  /// The key of the chunk that is nearest to a bound, before it or behind; nil if there is none.
  func chunkKey(_ side: ChunkSide, _ bound: [UInt8]) throws -> [UInt8]? {
    var cursor = try Cursor(access, tables.blobs)
    let isThere = try bound.lend { try side == .before ? cursor.seekBefore($0) : cursor.seek($0) }
    return isThere ? cursor.withEntry { key, _ in key.array() } : nil
  }

  // MARK: Sizes

  /// The entries and pages of each table.
  func tableUsage() throws -> [PageUsage.Table] {
    try LogTables.names.map { try access.usage(of: tables[$0], named: $0) }
  }

  /// True if any blob is stored.
  func hasBlobs() throws -> Bool { try access.count(tables.blobs) > 0 }

  /// The bytes of the pages that hold records, and of the records in the tail.
  func recordsBytes() throws -> UInt64 { try access.size(tables.records) + (tail?.bytes ?? 0) }

  /// Visits the lengths of the entries of all records after one, in order: those in LMDB, and those
  /// that the records of the tail will have there at most.
  func forEachRecordEntry(
    after sequence: SequenceNumber, _ body: (_ key: Int, _ value: Int) -> Void
  ) throws {
    var cursor = try Cursor(access, tables.records)
    var isThere = try LogTables.recordKey(sequence.next, part: 0).lend { try cursor.seek($0) }
    while isThere {
      cursor.withEntry { body($0.byteCount, $1.byteCount) }
      isThere = try cursor.next()
    }
    tail?.forEachEntry(after: sequence, body)
  }

  /// The bytes of the keys and values of the chunks, and of the small entries.
  func contentBytes() throws -> (blobs: Int, entries: Int) {
    (try access.contentBytes(of: tables.blobs), try access.contentBytes(of: tables.meta))
  }
}
