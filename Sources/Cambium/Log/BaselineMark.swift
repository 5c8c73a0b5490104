// The start of a compacted log: three entries of its `meta` table.
//
//     baseline   sequence u64 | clock u64 | time i64 | link 32 bytes | digest 32 bytes
//                | edition u32 | fold u32; before format 2 there was no fold, which means 1, and
//                an edition of 0 was left out
//     horizon    sequence u64 | archives u8
//     archive    as `baseline`; absent if the archive begins with record 1, or there is none
//
// `baseline` describes the newest record that the baseline has folded: the log continues after it,
// and the chain with its link. The digest is that of the baseline's data file, which an erasure
// replaces, in the next edition. `horizon` is written first when a log is compacted, and is ahead
// of the baseline until that exists; it says if the records go into segments. `archive` is the
// baseline that precedes the first segment.

/// The mark of the baseline that replaces the records that compaction has dropped.
struct BaselineMark: Equatable, Sendable {
  /// The newest record that it has folded; zero if nothing was dropped.
  var sequence = SequenceNumber.zero
  /// That record's clock.
  var clock: UInt64 = 0
  /// That record's time, in microseconds since 1970.
  var time: Int64 = 0
  /// That record's link, from which the chain continues.
  var link = TransactionRecord.firstLink
  /// BLAKE2b-256 of the data file.
  var digest = [UInt8](repeating: 0, count: Digest.bytesCount)
  /// The number of times that an erasure has replaced the file.
  var edition: UInt32 = 0
  /// The number of the fold that made it; see ``StateMark/foldNumber``.
  var fold = StateMark.foldNumber

  static let name = "baseline"
  static let archiveName = "archive"

  /// The mark of a log that begins with its first record.
  init() {}

  /// A baseline of everything up to a record, in a file.
  init(_ record: TransactionRecord, digest: [UInt8]) {
    sequence = record.sequence
    clock = record.clock.rawValue
    time = record.time
    link = record.link
    self.digest = digest
  }

  init(_ bytes: RawSpan) throws {
    sequence = SequenceNumber(try bytes.load(UInt64.self, at: 0))
    clock = try bytes.load(UInt64.self, at: 8)
    time = try bytes.load(Int64.self, at: 16)
    link = try bytes.array(24, Digest.bytesCount)
    digest = try bytes.array(24 + Digest.bytesCount, Digest.bytesCount)
    let end = 24 + 2 * Digest.bytesCount
    edition = bytes.byteCount > end ? try bytes.load(UInt32.self, at: end) : 0
    fold = try bytes.foldNumber(at: end + 4)
  }

  func stored() -> [UInt8] {
    var bytes = [UInt8](littleEndian: sequence.rawValue)
    bytes.append(littleEndian: clock)
    bytes.append(littleEndian: time)
    bytes += link + digest
    bytes.append(littleEndian: edition)
    bytes.append(littleEndian: fold)
    return bytes
  }
}

extension LogReader {
  /// The mark of the baseline, with sequence number zero if nothing was dropped.
  func baseline() throws -> BaselineMark {
    try entry(BaselineMark.name) { try BaselineMark($0) } ?? BaselineMark()
  }

  /// The oldest moment that can be read, and the last record that is no longer delivered.
  func horizon() throws -> SequenceNumber { SequenceNumber(try number("horizon") ?? 0) }

  /// True if dropped records go into segments, as chosen by the compaction under way.
  func isArchiving() throws -> Bool {
    try entry("horizon") { try $0.load(UInt8.self, at: 8) == 1 } ?? false
  }

  /// The baseline that precedes the first segment.
  func archiveStart() throws -> BaselineMark {
    try entry(BaselineMark.archiveName) { try BaselineMark($0) } ?? BaselineMark()
  }

  /// The part of the past that is kept.
  func retention() throws -> Retention {
    try entry(Retention.name) { try Retention($0) } ?? Retention()
  }

  /// Refuses a moment before the horizon.
  func checkReachable(_ moment: SequenceNumber) throws {
    let horizon = try horizon()
    if moment < horizon { throw DatabaseError.compacted(oldest: horizon) }
  }

  /// The link of a record, from which the next one's follows.
  func link(of sequence: SequenceNumber) throws -> [UInt8] {
    let baseline = try baseline()
    return sequence == baseline.sequence ? baseline.link : try record(sequence).link
  }
}
