import LMDB

/// The log: every transaction record, in order, in an environment of its own. It is the database;
/// all else can be folded from it.
///
/// Invariants:
/// 1. Every number after the baseline's, up to the head's, has exactly one record. Proved by
///    `verify`, which reads them all.
/// 2. Each record's link follows from the one before. Proved by `verify`; made by
///    `TransactionRecord`.
/// 3. Every write transaction rewrites the head with its own LMDB number. `LogWriter.commit` does
///    it; checked when opening.
final class Log: Sendable {
  let environment: Environment
  let tables: LogTables
  /// The damage that was met so far.
  let damage = LogDamage()

  /// Opens the log in a directory that exists. The options' tables and whether they are synced are
  /// for the log to say.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` where the file is another program's; it
  ///   is not touched then.
  init(at path: String, _ options: Environment.Options) throws {
    try Log.checkFormat(at: path)
    var options = options
    options.tables = LogTables.names
    options.synced = !options.plantedBugs.contains(.logNotSynced)
    environment = try Environment(at: path, options)
    tables = try LogTables(environment)
  }

  /// Looks for the format's entry before LMDB has a chance to write to the file.
  private static func checkFormat(at path: String) throws {
    let file = "\(path)/data.mdb"
    guard Files.exists(file) else { return }
    let format = try PageLookup.value(in: file, table: "meta", key: "format")
    guard let format, format.starts(with: FormatEntry.magic) else {
      throw DatabaseError.unsupported(path: path, reason: "data.mdb is not a log of Cambium's")
    }
  }

  /// Checks the newest pages of a log that was in use when the system stopped, before LMDB has a
  /// chance to follow them: the way to the last record. All pages are for `verify`.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  static func checkEnd(at path: String, boot: String, mount: String) throws {
    let file = "\(path)/data.mdb"
    if let mark = try mark(in: file), mark.isTrusted(boot: boot, mount: mount) { return }
    do {
      try PageLookup.checkEnd(of: file, table: "records")
    } catch {
      guard case .damaged = error else { throw error }
      throw DatabaseError.corrupt(
        reason: "the newest record of the log lies in damaged pages: \(error); `cambium repair` "
          + "says what can be saved")
    }
  }

  /// The mark of the state, read without LMDB; nil where there is none, or it is damaged.
  private static func mark(in file: String) throws -> StateMark? {
    let name = Array("state".utf8)
    guard let sealed = try PageLookup.value(in: file, table: "meta", key: "state") else {
      return nil
    }
    return try? sealed.lend { try MetaEntry.open($0, name: name) { try StateMark($0) } }
  }

  /// True if a record is the next in the chain after the one with the given link.
  func isNext(_ record: TransactionRecord, after link: [UInt8]) -> Bool {
    environment.plantedBugs.contains(.checksumUnchecked) || record.chained(to: link) == record.link
  }

  /// Lends a short-lived view of the log.
  func read<R>(_ body: (LogReader) throws -> R) throws -> R {
    let transaction = try ReadTransaction(environment, tables: [])
    return try body(LogReader(access: transaction.access, tables: tables, damage: damage))
  }

  /// Lends a view of what is committed to whoever is about to write; the writer's lock is held.
  ///
  /// A process that was killed right after it wrote LMDB's meta page has not told readers of it:
  /// they stay one transaction behind until the next writer begins. A write transaction does not.
  func readNewest<R>(_ body: (LogReader) throws -> R) throws -> R {
    let writer = try LogWriter(self)
    return try body(writer.reader)
  }

  /// Checks format and head.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``, ``DatabaseError/corrupt(reason:)``.
  func check() throws {
    try read { reader in
      try reader.format().checkKnown(environment.path)
      let head = try reader.head()
      guard head.transaction == reader.access.number else {
        throw DatabaseError.corrupt(
          reason: "the log's newest page is torn or rolled back: it should be transaction "
            + "\(head.transaction), and is \(reader.access.number)")
      }
    }
  }
}

/// The log's tables.
struct LogTables: Sendable {
  /// (sequence number u64, part u32), big-endian → a part of a transaction record.
  let records: Table
  /// (first, last sequence number u64), big-endian → a sealed stretch of records.
  let segments: Table
  /// (content hash, chunk number u32 big-endian) → a chunk of a blob.
  let blobs: Table
  /// Name → entry; see LogEntries.swift.
  let meta: Table
  /// True if records are checked against their checksums: always, except in a harness.
  let checksRecords: Bool

  static let names = ["records", "segments", "blobs", "meta"]

  init(_ environment: Environment) throws {
    records = try environment.table("records")
    segments = try environment.table("segments").sealed(.ownLeading)
    blobs = try environment.table("blobs").sealed(.ownLeading)
    meta = try environment.table("meta").sealed(.ownTrailing)
    checksRecords = !environment.plantedBugs.contains(.checksumUnchecked)
  }

  /// A table by its name.
  subscript(name: String) -> Table {
    switch name {
    case "segments": segments
    case "blobs": blobs
    case "meta": meta
    default: records
    }
  }

  /// A record may be this long in one entry; a longer one goes on in further parts.
  static let partBytesMax = 16 << 20

  static let recordKeyCount = 12

  static func recordKey(_ sequence: SequenceNumber, part: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(recordKeyCount)
    key.append(bigEndian: sequence.rawValue)
    key.append(bigEndian: part)
    return key
  }
}

/// A view of the log at one moment.
struct LogReader {
  let access: Access
  let tables: LogTables
  let damage: LogDamage

  func entry<R>(_ name: String, _ body: (RawSpan) throws -> R) throws -> R? {
    let key = Array(name.utf8)
    return try key.lend { span in
      try access.get(tables.meta, span) { try MetaEntry.open($0, name: key, body) }
    }
  }

  func format() throws -> FormatEntry {
    guard let format = try entry("format", { try FormatEntry($0) }) else {
      throw DatabaseError.corrupt(reason: "the log has no format entry")
    }
    return format
  }

  func head() throws -> LogHead { try entry("head") { try LogHead($0) } ?? LogHead() }

  func stateMark() throws -> StateMark? { try entry("state") { try StateMark($0) } }

  func checkpoint() throws -> CheckpointMark? {
    try entry("checkpoint") { try CheckpointMark($0) }
  }

  /// A number stored under a name: a consumer's position or a cursor.
  func number(_ name: String) throws -> UInt64? {
    try entry(name) { try $0.load(UInt64.self, at: 0) }
  }

  /// The names of the entries in the meta table that start with some text.
  func entryNames(startingWith prefix: String = "") throws -> [String] {
    var names: [String] = []
    var cursor = try Cursor(access, tables.meta)
    let start = Array(prefix.utf8)
    var isThere = try start.isEmpty ? cursor.first() : start.lend { try cursor.seek($0) }
    while isThere {
      let name = cursor.withEntry { key, _ in key.array() }
      guard name.starts(with: start) else { break }
      names.append(String(decoding: name, as: UTF8.self))
      isThere = try cursor.next()
    }
    return names
  }

  /// Checks every entry of the meta table.
  func checkEntries() throws {
    var cursor = try Cursor(access, tables.meta)
    var isThere = try cursor.first()
    while isThere {
      try cursor.withEntry { key, value in
        try MetaEntry.open(value, name: key.array()) { _ in }
      }
      isThere = try cursor.next()
    }
    _ = try tags()
  }

  /// The record of a sequence number, with its checksum checked.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` naming the number when it is missing or damaged.
  func record(_ sequence: SequenceNumber) throws -> TransactionRecord {
    do {
      let bytes = try storedRecord(sequence)
      let record = try bytes.lend { try TransactionRecord($0, isChecked: tables.checksRecords) }
      if record.sequence == sequence { return record }
      throw DatabaseError.corrupt(reason: "it says that it is \(record.sequence)")
    } catch DatabaseError.corrupt(let reason) {
      // A record that was dropped, or that this view cannot have yet, is not damaged.
      if try sequence <= baseline().sequence, try sequence < oldestRecord() {
        throw DatabaseError.compacted(oldest: try horizon())
      }
      if try sequence <= head().sequence { damage.note(sequence, reason) }
      throw DatabaseError.corrupt(reason: "record \(sequence) of the log: \(reason)")
    }
  }

  /// The last of some records before one that is damaged: `head` where all are sound.
  func lastSound(after: SequenceNumber, upTo head: SequenceNumber) throws -> SequenceNumber {
    var sound = after
    while sound < head {
      do { _ = try record(sound.next) } catch let error as DatabaseError where error.isDamage {
        break
      }
      sound = sound.next
    }
    return sound
  }

  /// The bytes of a record, its parts joined.
  func storedRecord(_ sequence: SequenceNumber) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var part: UInt32 = 0
    repeat {
      let found: Void? = try LogTables.recordKey(sequence, part: part).lend { key in
        try access.get(tables.records, key) { bytes.append($0) }
      }
      if found == nil { throw DatabaseError.corrupt(reason: "part \(part) is missing") }
      part += 1
    } while try bytes.lend({ try TransactionRecord.count(startingWith: $0) }) > bytes.count
    return bytes
  }
}

/// The log's open write transaction.
struct LogWriter: ~Copyable {
  private var transaction: WriteTransaction
  private let tables: LogTables
  private let damage: LogDamage
  private let bugs: PlantedBugs

  init(_ log: Log) throws {
    transaction = try WriteTransaction(log.environment)
    damage = log.damage
    bugs = log.environment.plantedBugs
    tables = log.tables
  }

  var reader: LogReader {
    LogReader(access: transaction.access, tables: tables, damage: damage)
  }

  /// Appends a record, which must be the one after the newest.
  func append(_ record: TransactionRecord) throws {
    let bytes = record.stored()
    var part: UInt32 = 0
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + LogTables.partBytesMax, bytes.count)
      try LogTables.recordKey(record.sequence, part: part).lend { key in
        try bytes.lend {
          try transaction.put(tables.records, key, $0.extracting(offset..<end), .append)
        }
      }
      offset = end
      part += 1
    }
  }

  private func put(_ name: String, _ value: [UInt8]) throws {
    let key = Array(name.utf8)
    try key.lend { keySpan in
      try MetaEntry.seal(value, name: key).lend { try transaction.put(tables.meta, keySpan, $0) }
    }
  }

  func setFormat(_ format: FormatEntry) throws { try put("format", format.stored()) }

  /// Says which state belongs to the log. From then on the log is of today's format: an earlier
  /// version of the program would not look at the fold's number, and trust the state.
  func setStateMark(_ mark: StateMark) throws {
    var format = try reader.format()
    if format.version < FormatEntry.version {
      format.version = FormatEntry.version
      try setFormat(format)
    }
    try put("state", mark.stored())
  }

  /// Names the checkpoint; nil takes the name out.
  func setCheckpoint(_ mark: CheckpointMark?) throws {
    if let mark { return try put("checkpoint", mark.stored()) }
    try removeEntry("checkpoint")
  }

  func setNumber(_ name: String, to number: UInt64) throws {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: number)
    try put(name, bytes)
  }

  /// Says what stands in the place of the records up to a number.
  func setBaseline(_ mark: BaselineMark) throws { try put(BaselineMark.name, mark.stored()) }

  /// Makes this the log that goes on after a baseline.
  func begin(after baseline: BaselineMark) throws {
    if baseline.sequence == .zero { return }
    try setBaseline(baseline)
    try setHorizon(baseline.sequence, archives: false)
  }

  /// Says from which baseline the first segment goes on.
  func setArchiveStart(_ mark: BaselineMark) throws {
    try put(BaselineMark.archiveName, mark.stored())
  }

  /// Says up to where the past is being dropped.
  func setHorizon(_ horizon: SequenceNumber, archives: Bool) throws {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: horizon.rawValue)
    bytes.append(archives ? 1 : 0)
    try put("horizon", bytes)
  }

  /// Stores how much of the past is kept.
  func setRetention(_ retention: Retention) throws { try put(Retention.name, retention.stored()) }

  /// Stores an entry as another log had it.
  func setEntry(_ name: String, _ value: [UInt8]) throws { try put(name, value) }

  /// Removes an entry.
  func removeEntry(_ name: String) throws {
    try Array(name.utf8).lend { _ = try transaction.delete(tables.meta, $0) }
  }

  /// Removes a record's parts.
  func removeRecord(_ sequence: SequenceNumber) throws {
    var part: UInt32 = 0
    while try LogTables.recordKey(sequence, part: part).lend({
      try transaction.delete(tables.records, $0)
    }) {
      part += 1
    }
  }

  /// Stores a sealed stretch of records.
  func putSegment(_ segment: Segment) throws {
    try putSegment(segment, stored: try segment.stored())
  }

  /// Stores a sealed stretch of records that was compressed before.
  func putSegment(_ segment: Segment, stored: [UInt8]) throws {
    try segment.key.lend { key in
      try stored.lend { try transaction.put(tables.segments, key, $0) }
    }
  }

  /// Removes a chunk of a blob.
  func removeChunk(_ key: [UInt8]) throws {
    try key.lend { _ = try transaction.delete(tables.blobs, $0) }
  }

  /// Stores a chunk of a blob.
  func putChunk(_ key: [UInt8], _ chunk: [UInt8]) throws {
    try key.lend { key in try chunk.lend { try transaction.put(tables.blobs, key, $0) } }
  }

  /// Writes the head and commits durably.
  consuming func commit(head: LogHead) throws {
    var head = head
    head.transaction = transaction.access.number
    let isForgotten = bugs.contains(.headNotUpdated) && head.sequence.rawValue % 5 == 0
    if !isForgotten { try put("head", head.stored()) }
    try transaction.commit()
  }
}
