import LMDB
import Synchronization

/// The log: every transaction record, in order, in an environment of its own and a tail in front
/// of it. It is the database; everything else can be derived from it.
///
/// Invariants:
/// 1. Every number after the baseline's, up to the head's, has exactly one record. Proved by
///    `verify`, which reads them all.
/// 2. Each record's link follows from the one before. Proved by `verify`; made by
///    `TransactionRecord`.
/// 3. Every write transaction of LMDB rewrites the head with its own number. `LogWriter.commit`
///    does it; checked when opening.
///
/// It has two doors, and the other layers know nothing of what lies behind them. `LogReader` and
/// `LogWriter` give and take the content. LogFile.swift is for code that must look at the pages of
/// the file.
final class Log: Sendable {
  /// The environment that holds the content; Tools/tidy finds its name outside this folder.
  let lmdb: Environment
  let tables: LogTables
  /// The newest records, if they are not in LMDB yet.
  let tail: Tail
  /// The damage found so far.
  let damage = LogDamage()
  let sizes: RecordSizes
  let compressor = ZstandardCompressor()
  /// The most bytes that LMDB's file may grow to.
  let bytesMax: Int
  /// True once what this process has found is durable.
  private let isFoundDurable = Atomic(false)
  /// The entries with which the last group of writes began.
  let kept = KeptEntries()

  /// Opens the log in a directory that exists. It sets the options' tables and synchronization
  /// itself.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - options: The options of its environment.
  ///   - sizes: The sizes on which the entries of records depend.
  ///   - tailSizes: The sizes of its tail; without them commits do not go to one.
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` if the file is another program's; it is
  ///   not touched then.
  init(
    at path: String, _ options: Environment.Options, records sizes: RecordSizes = RecordSizes(),
    tail tailSizes: TailSizes = TailSizes()
  ) throws {
    self.sizes = sizes
    bytesMax = options.mapSizeMax
    tail = Tail(at: Tail.path(in: path), tailSizes, isReadOnly: options.readOnly)
    try Log.checkFormat(at: path)
    var options = options
    options.tables = LogTables.names
    options.synced = true
    lmdb = try Environment(at: path, options)
    tables = try LogTables(lmdb)
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
        reason: "the newest record of the log lies in damaged pages: \(error.reason); "
          + "`cambium repair` says what can be saved")
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
  ///
  /// - Parameters:
  ///   - known: A record that is known to be committed, if the view needs none after it.
  ///   - body: Takes the view.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error of the body; ``StorageError``, ``DatabaseError``.
  func read<R>(upTo known: SequenceNumber? = nil, _ body: (LogReader) throws -> R) throws -> R {
    var sight: Tail.Sight?
    while true {
      let transaction = try ReadTransaction(lmdb, tables: [])
      if let reader = try reader(transaction.access, upTo: known, &sight) {
        return try body(reader)
      }
    }
  }

  /// A view of LMDB together with the tail that continues it.
  ///
  /// - Parameters:
  ///   - access: The view of LMDB.
  ///   - known: A record that is known to be committed, if the view needs none after it.
  ///   - sight: The frames that were seen with an earlier view of LMDB; nil at first.
  /// - Returns: Nil if the caller must begin another view, and ask again.
  /// - Throws: ``StorageError``, ``DatabaseError``.
  func reader(
    _ access: Access, upTo known: SequenceNumber? = nil, _ sight: inout Tail.Sight?
  ) throws -> LogReader? {
    let stored = LogReader(access: access, tables: tables, damage: damage)
    let look =
      if let sight, sight.transaction == stored.transaction { tail.adopt(sight) } else {
        try tail.look(stored.transaction, upTo: known) { try Tail.Base(stored) }
      }
    switch look {
    case .view(let view):
      return LogReader(access: access, tables: tables, damage: damage, tail: view)
    case .unverified(let seen): sight = seen
    case .outdated: sight = nil
    }
    return nil
  }

  /// Lends a view of the committed log to a caller that is about to write; the writer's lock is
  /// held.
  ///
  /// A process that was killed right after it wrote LMDB's meta page has not published it to
  /// readers: they stay one transaction behind until the next writer begins. A write transaction
  /// does not.
  func readNewest<R>(_ body: (LogReader) throws -> R) throws -> R {
    let transaction = try WriteTransaction(lmdb)
    let stored = LogReader(access: transaction.access, tables: tables, damage: damage)
    let view = try tail.newestDurable(stored.transaction - 1) { try Tail.Base(stored) }
    noteDamage(in: view)
    return try body(
      LogReader(access: transaction.access, tables: tables, damage: damage, tail: view))
  }

  /// The tail as a writer sees it, whose transaction of LMDB has changed nothing yet.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` if one of its records is damaged.
  func newestTail(before writer: LogReader) throws -> TailView? {
    let view = try tail.newest(writer.transaction - 1) { try Tail.Base(writer) }
    noteDamage(in: view)
    if view?.missed != nil { try damage.checkNone() }
    return view
  }

  /// Notes the first damaged record of a tail.
  func noteDamage(in tail: TailView?) {
    if let missed = tail?.missed { damage.note(missed, "its frame in the log's tail is damaged") }
  }

  /// Makes durable what was there when the log was opened, before the first commit of LMDB: one
  /// of another process may have failed and be on the disk, but not in memory, where the next
  /// begins and writes over its pages.
  func syncFound() throws {
    if isFoundDurable.load(ordering: .relaxed) { return }
    do { try lmdb.sync() } catch {
      // The system would let the next one succeed, without what was lost.
      lmdb.health.poison(error)
      throw error
    }
    isFoundDurable.store(true, ordering: .relaxed)
  }

  // MARK: The file

  /// True unless an I/O error keeps this process from writing to the log.
  var isWritable: Bool { lmdb.health.failure == nil }

  /// The number of the newest commit by any process.
  var newestCommit: UInt64 { get throws { try lmdb.usage().transaction } }

  /// The directory that holds the log.
  var path: String { lmdb.path }

  /// The bytes that the file takes on disk.
  var allocatedBytes: UInt64 { lmdb.allocatedBytes }

  /// The bytes of the pages and of the tail's frames in use.
  var usedBytes: Int { get throws { try lmdb.usage().usedBytes + tail.usedBytes } }

  /// Checks that this process may still use the file: that it was not forked or replaced.
  func checkUsable() throws { try lmdb.health.check() }

  func close() { lmdb.close() }

  /// The bytes of the pages of its tables, with or without those of the records.
  func pageBytes(withRecords: Bool = true) throws -> UInt64 {
    try read { try $0.tableUsage() }.reduce(0) {
      $0 + (withRecords || $1.name != "records" ? $1.bytes : 0)
    }
  }

  /// Checks format and head.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``, ``DatabaseError/corrupt(reason:)``.
  func check() throws {
    try checkFormat()
    try read { reader in
      let head = try reader.head()
      guard head.transaction == reader.transaction else {
        throw DatabaseError.corrupt(
          reason: "the log's newest page is torn or rolled back: it should be transaction "
            + "\(head.transaction), and is \(reader.transaction)")
      }
      try checkTail(reader)
    }
  }
}

extension Log {
  /// Checks the format, before anything else is read.
  private func checkFormat() throws {
    let transaction = try ReadTransaction(lmdb, tables: [])
    let stored = LogReader(access: transaction.access, tables: tables, damage: damage)
    try stored.format().checkKnown(path)
  }

  /// Checks that the tail is there, unless it is known to be empty.
  private func checkTail(_ reader: LogReader) throws {
    guard let mark = try reader.tailMark(), try reader.stateMark()?.isClean == false else { return }
    let file = Tail.path(in: path)
    if Files.isFile(file), Files.size(of: file) == mark.bytes { return }
    throw DatabaseError.corrupt(
      reason: "\(file) is missing or cut short, and may have held the newest transactions; put it "
        + "back, or let `cambium repair` go on without it")
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

extension TransactionRecord {
  /// The bytes of the keys and values of its entries in the log, if it is not compressed.
  var entryBytes: Int {
    let (count, most) = (storedCount, LogTables.partBytesMax)
    return count + (count + most - 1) / most * LogTables.recordKeyCount
  }
}
