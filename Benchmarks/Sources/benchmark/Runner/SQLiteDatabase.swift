import CSQLite

/// One connection, for one thread.
@safe final class SQLiteDatabase {
  private let handle: OpaquePointer
  private var begin: Statement?
  private var commit: Statement?

  init(path: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      throw BenchmarkError("sqlite3_open_v2: \(code)")
    }
    unsafe self.handle = handle
    begin = try prepare("BEGIN")
    commit = try prepare("COMMIT")
  }

  /// Opens a database as SQLite's users do who want it fast: a write-ahead log, a memory map, and a
  /// cache of 64 MiB.
  ///
  /// - Parameters:
  ///   - path: The path; the database is made if there is none.
  ///   - isSoon: True to flush only where the log is checkpointed, false to flush each commit.
  /// - Throws: ``BenchmarkError``.
  convenience init(path: String, isSoon: Bool) throws {
    try self.init(path: path)
    for setting in [
      "journal_mode = WAL", "synchronous = \(isSoon ? "NORMAL" : "FULL")",
      "mmap_size = 1073741824", "cache_size = -65536",
    ] { try run("PRAGMA \(setting)") }
  }

  /// Statements are finalized by their owners; SQLite closes when the last is.
  deinit { unsafe sqlite3_close_v2(handle) }

  func run(_ sql: String) throws {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  func prepare(_ sql: String) throws -> Statement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else {
      throw BenchmarkError("\(sql): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    }
    return unsafe Statement(handle: statement)
  }

  func transaction(_ body: () throws -> Void) throws {
    try begin?.runOnce()
    try body()
    try commit?.runOnce()
  }
}

/// A prepared statement.
@safe final class Statement {
  private let handle: OpaquePointer

  init(handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ index: Int32, _ value: Int64) { unsafe sqlite3_bind_int64(handle, index, value) }

  func bind(_ index: Int32, _ value: Int64?) {
    if let value { bind(index, value) } else { bindNull(index) }
  }

  func bindNull(_ index: Int32) { unsafe sqlite3_bind_null(handle, index) }

  func bind(_ index: Int32, _ value: Double) { unsafe sqlite3_bind_double(handle, index, value) }

  /// Binds text, without a copy, for the time of the body.
  func binding(_ text: String, at index: Int32, _ body: () throws -> Void) throws {
    var text = text
    try text.withUTF8 { bytes in
      let start = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      unsafe sqlite3_bind_text(handle, index, start, Int32(bytes.count), nil)
      try body()
    }
  }

  /// Moves on to the next row; false if there is none.
  func step() throws -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw BenchmarkError("sqlite3_step: \(unsafe String(cString: sqlite3_errstr(code)))")
  }

  func reset() { unsafe sqlite3_reset(handle) }

  func runOnce() throws {
    _ = try step()
    reset()
  }

  func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

  func text(_ column: Int32) -> String {
    let start = unsafe sqlite3_column_text(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
