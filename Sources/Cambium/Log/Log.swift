import LMDB
import Synchronization

/// The log: every transaction record, in order, in an environment of its own. It is the database;
/// everything else can be derived from it.
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
  /// The damage found so far.
  let damage = LogDamage()
  /// The size of the newest transaction's operations in bytes: the next is often similar.
  let newestBytes = Atomic<Int>(0)

  /// Opens the log in a directory that exists. It sets the options' tables and synchronization
  /// itself.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` if the file is another program's; it is
  ///   not touched then.
  init(at path: String, _ options: Environment.Options) throws {
    try Log.checkFormat(at: path)
    var options = options
    options.tables = LogTables.names
    options.synced = true
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
  /// chance to follow them: the way to the last record. `verify` checks all pages.
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

  /// The mark of the state, read without LMDB; nil if there is none, or it is damaged.
  private static func mark(in file: String) throws -> StateMark? {
    let name = Array("state".utf8)
    guard let sealed = try PageLookup.value(in: file, table: "meta", key: "state") else {
      return nil
    }
    return try? sealed.lend { try MetaEntry.open($0, name: name) { try StateMark($0) } }
  }

  /// True if a record is the next in the chain after the one with the given link.
  func isNext(_ record: TransactionRecord, after link: [UInt8]) -> Bool {
    record.chained(to: link) == record.link
  }

  /// Lends a short-lived view of the log.
  func read<R>(_ body: (LogReader) throws -> R) throws -> R {
    let transaction = try ReadTransaction(environment, tables: [])
    return try body(LogReader(access: transaction.access, tables: tables, damage: damage))
  }

  /// Lends a view of the committed log to a caller that is about to write; the writer's lock is
  /// held.
  ///
  /// A process that was killed right after it wrote LMDB's meta page has not published it to
  /// readers: they stay one transaction behind until the next writer begins. A write transaction
  /// does not.
  func readNewest<R>(_ body: (LogReader) throws -> R) throws -> R {
    let writer = try LogWriter(self)
    return try body(writer.reader)
  }

  // MARK: The file

  /// The number of the newest commit by any process.
  var newestCommit: UInt64 { get throws { try environment.usage().transaction } }

  /// The directory that holds the log.
  var path: String { environment.path }

  /// The bytes of the pages in use.
  var usedBytes: Int { get throws { try environment.usage().usedBytes } }

  /// Checks that this process may still use the file: that it was not forked or replaced.
  func checkUsable() throws { try environment.health.check(forWriting: false) }

  /// Ensures that the map has room for a commit of `bytes` bytes.
  func makeRoom(for bytes: Int) throws {
    try environment.growMap(headroom: 4 * bytes)
  }

  /// Enlarges the map.
  func grow(for bytes: Int) throws { try environment.growMap(headroom: 2 * bytes + (64 << 20)) }

  func close() { environment.close() }

  /// The bytes of the pages of its tables, with or without those of the records.
  func pageBytes(withRecords: Bool = true) throws -> UInt64 {
    let names = LogTables.names.filter { withRecords || $0 != "records" }
    return try read { try environment.pageBytes(names, $0.access) }
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
  /// (first, last sequence number u64), big-endian → a sealed segment of records.
  let segments: Table
  /// (content hash, chunk number u32 big-endian) → a chunk of a blob.
  let blobs: Table
  /// Name → entry; see LogEntries.swift.
  let meta: Table

  static let names = ["records", "segments", "blobs", "meta"]

  init(_ environment: Environment) throws {
    records = try environment.table("records")
    segments = try environment.table("segments").sealed(.ownLeading)
    blobs = try environment.table("blobs").sealed(.ownLeading)
    meta = try environment.table("meta").sealed(.ownTrailing)
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

  /// The maximum length of a record in one entry; a longer one continues in further parts.
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

  /// The names of the entries in the meta table that start with a prefix.
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
      let record = try bytes.lend { try TransactionRecord($0) }
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

  /// The last record before the first damaged one: `head` if all are sound.
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

extension Environment {
  /// The bytes of the pages that some tables take.
  func pageBytes(_ names: [String], _ access: Access) throws -> UInt64 {
    try names.reduce(0) { try $0 + access.size(table($1)) }
  }
}
