// The second door: the pages of the log's file. The first gives the content, and cannot say what is
// wrong with the file that holds it. So verification and the scrub check pages, sizes counts them,
// vacuum copies them, and repair scans a file that LMDB must not be given, because a damaged page
// could end the process. A file in front of the environment would be checked, measured, copied and
// scanned by the same calls.

import LMDB

extension Log {
  /// Checks the pages of the newest moment, beside readers and writers.
  func walkPages(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool
  ) throws -> PageWalker.Report {
    try lmdb.walkPages(progress: progress)
  }

  /// Lends a moment of the log, and how the file uses its pages.
  func measure<R>(_ body: (LogReader, PageUsage) throws -> R) throws -> R {
    try lmdb.pinned(reading: true) { access, walker in
      let usage = try PageUsage(walker)
      return try body(LogReader(access: access, tables: tables, damage: damage), usage)
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
    if try value.lend({ try TransactionRecord.count(startingWith: $0) }) > value.count {
      guard key.last == 0 else { return }
      _ = try read { try $0.record(sequence) }
    } else if key[8...].allSatisfy({ $0 == 0 }) {
      _ = try value.lend { try TransactionRecord($0) }
    }
  }

  /// The moments that readers of all processes hold.
  func heldMoments() throws -> [HeldMoment] { try lmdb.heldMoments() }

  /// Copies the newest moment without free pages into a directory, beside readers and writers.
  ///
  /// LMDB renumbers the transactions of a copy, so its head must be written before it is used.
  func copy(to directory: String) throws {
    try EnvironmentCopy(of: lmdb, to: "\(directory)/data.mdb").run()
  }

  /// Copies the newest moment without free pages into a directory, and closes this log.
  func copyAndClose(to directory: String, _ options: Environment.Options) throws {
    let head = try read { try $0.head() }
    try copy(to: directory)
    close()
    // LMDB renumbers the transactions of a copy, and the head holds that number.
    let copy = try Log(at: directory, options)
    defer { copy.close() }
    try copy.write(head: head) { _ in }
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

  /// Puts another database's log in the place of this one. The name is durable with a sync.
  func replace(with other: LogFile) throws {
    try Files.sync(other.path)
    try Files.replace(path, with: other.path)
  }

  /// Walks all pages; see `PageWalker.walk`.
  func walkPages(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool = { _, _ in true }
  ) throws -> PageWalker.Report {
    try PageWalker.walk(path, progress: progress)
  }

  /// Scans the records after a baseline; see `RecordScan`.
  func records(after baseline: BaselineMark, head: SequenceNumber?) throws -> RecordScan {
    try RecordScan(path, after: baseline, head: head)
  }

  /// Scans the stored segments.
  func segments() throws -> TableScan { try TableScan(path, table: "segments") }

  /// Scans the stored chunks of blobs.
  func chunks() throws -> TableScan { try TableScan(path, table: "blobs") }

  /// Scans the small entries.
  func entries() throws -> TableScan { try TableScan(path, table: "meta") }
}
