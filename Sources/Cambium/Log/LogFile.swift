// The second door: the pages of the log's file. The first gives the content, and cannot say what is
// wrong with the file that holds it. So verification and the scrub check pages, sizes counts them,
// vacuum copies them, and repair scans a file that LMDB must not be given, because a damaged page
// could end the process. A copy has the tail's records in its pages; a scan reads the tail's file
// after the pages.

import LMDB

extension Log {
  /// Checks the pages of the newest moment, beside readers and writers.
  func walkPages(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool
  ) throws -> PageWalker.Report {
    try lmdb.walkPages(progress: progress)
  }

  /// Lends a moment of the log, and how LMDB's file uses its pages then.
  func measure<R>(_ body: (LogReader, PageUsage) throws -> R) throws -> R {
    var sight: Tail.Sight?
    while true {
      let result = try lmdb.pinned(reading: true) { access, walker in
        try reader(access, &sight).map { try body($0, try PageUsage(walker)) }
      }
      if let result { return result }
    }
  }

  /// The tables whose pages `scrub` reads.
  static let scrubbedTables = LogTables.names

  /// Reads some pages of a table, and checks their entries and records.
  ///
  /// - Parameters:
  ///   - table: One of `scrubbedTables`.
  ///   - key: The key after which to begin; nil begins with the first.
  ///   - budget: The number of bytes after which no further page is begun.
  ///   - note: Takes each damaged record.
  /// - Returns: The part that was read.
  /// - Throws: `FileDamage` for a damaged page or entry, ``DatabaseError``.
  func scrub(
    _ table: String, behind key: [UInt8]?, budget: Int,
    _ note: (SequenceNumber, _ reason: String) -> Void
  ) throws -> PageScrub.ScrubbedPages {
    try PageScrub.run(lmdb, table, tables[table], behind: key, budget: budget) { key, value in
      guard table == "records", key.count == LogTables.recordKeyCount else { return }
      let sequence = SequenceNumber(try key.lend { try $0.bigEndian(at: 0) })
      do { try checkRecord(sequence, key, value) } catch DatabaseError.corrupt(let reason) {
        note(sequence, reason)
      }
    }
  }

  /// Checks a record that has one part; a longer one when its first part comes.
  private func checkRecord(
    _ sequence: SequenceNumber, _ key: [UInt8], _ value: [UInt8]
  ) throws {
    guard key[8...].allSatisfy({ $0 == 0 }) else { return }
    if try value.lend({ try RecordEntry.count(startingWith: $0) }) > value.count {
      _ = try read { try $0.record(sequence) }
    } else {
      _ = try value.lend { try RecordEntry.record($0) }
    }
  }

  /// The moments that readers of all processes hold.
  func heldMoments() throws -> [HeldMoment] { try lmdb.heldMoments() }

  /// Copies the newest moment without free pages into a directory, beside readers and writers. The
  /// copy has no tail: its records are in LMDB.
  ///
  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - options: The options to open the copy with.
  /// - Throws: ``StorageError``, ``DatabaseError``; what was copied is left then.
  func copy(to directory: String, _ options: Environment.Options) throws {
    try EnvironmentCopy(of: lmdb, to: "\(directory)/data.mdb").run()
    let copy = try Log(at: directory, options)
    defer { copy.close() }
    try copy.detach(from: self)
  }

  /// Makes a copied environment the log that it is a copy of.
  ///
  /// LMDB renumbers the transactions of a copy, and the head holds that number.
  private func detach(from source: Log) throws {
    var head = try readNewest { try $0.storedHead() }
    try write(head: head) { try $0.removeEntry("tail") }
    let newest = try source.read { try $0.head().sequence }
    while head.sequence < newest {
      let records = try source.read {
        try $0.records(after: head.sequence, bytes: 1 << 20)
      }
      for record in records { head.advance(to: record) }
      try append(records, head: head)
    }
  }
}

/// The log's file in a database that nobody has open, or nobody writes to.
struct LogFile {
  let database: String

  var path: String { "\(database)/log/data.mdb" }

  init(of database: String) { self.database = database }

  var exists: Bool { Files.exists(path) }

  /// - Throws: ``DatabaseError/busy(reason:)`` where another process has it open.
  func checkUnused() throws {
    guard Files.isUnused(path) else {
      throw DatabaseError.busy(reason: "another process has \(database) open; close it there first")
    }
  }

  /// Puts another log in the place of this one, neither of which names a tail any more. The name is
  /// durable with a sync.
  func replace(with other: String) throws {
    // It may still hold what was erased.
    if Files.exists(tail) {
      try Files.remove(tail)
      try Files.sync("\(database)/log")
    }
    try Files.sync(other)
    try Files.replace(path, with: other)
  }

  private var tail: String { Tail.path(in: "\(database)/log") }

  /// Walks all pages; see `PageWalker.walk`.
  func walkPages(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool = { _, _ in true }
  ) throws -> PageWalker.Report {
    try PageWalker.walk(path, progress: progress)
  }

  /// Scans the records after a baseline, and then those of the tail; see `RecordScan`.
  func records(
    after baseline: BaselineMark, head: SequenceNumber?, tail: [TransactionRecord]
  ) throws -> RecordScan {
    try RecordScan(path, after: baseline, head: head, tail: tail)
  }

  /// The records of the tail.
  ///
  /// - Parameters:
  ///   - mark: The mark under which the log names it.
  ///   - head: The head of what LMDB holds; nil if it is damaged.
  /// - Returns: The records; nil if the file is missing or cut short.
  /// - Throws: ``StorageError`` if it cannot be read.
  func tailRecords(_ mark: TailMark, after head: LogHead?) throws -> [TransactionRecord]? {
    guard let file = try PrewrittenFile(tail, isReadOnly: true), file.size == mark.bytes else {
      return nil
    }
    var scan = TailScan(file, seed: mark.seed)
    return try scan.frames(after: head).map(\.record)
  }

  /// Scans the stored segments.
  func segments() throws -> TableScan { try TableScan(path, table: "segments") }

  /// Scans the stored chunks of blobs.
  func chunks() throws -> TableScan { try TableScan(path, table: "blobs") }

  /// Scans the small entries.
  func entries() throws -> TableScan { try TableScan(path, table: "meta") }
}
