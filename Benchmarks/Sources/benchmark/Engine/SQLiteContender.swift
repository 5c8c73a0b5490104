import CSQLite

/// SQLite as its users run it: prepared statements, WAL, a flush per commit, a memory map.
@safe final class SQLiteContender: Contender {
  static let name = "SQLite"

  private let database: SQLiteDatabase
  private let insert: Statement
  private let selectName: Statement
  private let selectItem: Statement
  private let selectSum: Statement
  private let updateCount: Statement

  init(directory: String) throws {
    database = try SQLiteDatabase(path: directory + "/items.sqlite")
    for sql in [
      "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA mmap_size = 1073741824",
      "PRAGMA cache_size = -65536",
      """
      CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, city TEXT, note TEXT, count INTEGER,
      score INTEGER, weight REAL, active INTEGER)
      """,
    ] { try database.run(sql) }
    insert = try database.prepare("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    selectName = try database.prepare("SELECT name FROM items WHERE id = ?")
    selectItem = try database.prepare(
      "SELECT name, city, note, count, score, weight, active FROM items WHERE id = ?")
    selectSum = try database.prepare("SELECT sum(score) FROM items")
    updateCount = try database.prepare("UPDATE items SET count = ? WHERE id = ?")
  }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      try database.transaction {
        for offset in piece {
          try store(items[items.startIndex + offset], key: first + offset)
        }
      }
    }
  }

  private func store(_ item: Item, key: Int) throws {
    insert.bind(1, Int64(key))
    insert.bind(5, item.count)
    insert.bind(6, item.score)
    insert.bind(7, item.weight)
    insert.bind(8, Int64(item.active ? 1 : 0))
    try insert.binding(item.name, at: 2) {
      try insert.binding(item.city, at: 3) {
        try insert.binding(item.note, at: 4) { try insert.runOnce() }
      }
    }
  }

  func readName(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.transaction {
      for key in keys {
        selectName.bind(1, Int64(key))
        guard try selectName.step() else { throw BenchmarkError("SQLite has no \(key)") }
        digest.add(selectName.text(0))
        selectName.reset()
      }
    }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.transaction {
      for key in keys {
        selectItem.bind(1, Int64(key))
        guard try selectItem.step() else { throw BenchmarkError("SQLite has no \(key)") }
        let item = Item(
          name: selectItem.text(0), city: selectItem.text(1), note: selectItem.text(2),
          count: selectItem.integer(3), score: selectItem.integer(4),
          weight: selectItem.double(5), active: selectItem.integer(6) != 0)
        digest.add(item)
        selectItem.reset()
      }
    }
    return digest
  }

  func sumScores() throws -> Int64 {
    guard try selectSum.step() else { throw BenchmarkError("SQLite has no sum") }
    defer { selectSum.reset() }
    return selectSum.integer(0)
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      try database.transaction {
        for change in changes[piece] {
          updateCount.bind(1, change.count)
          updateCount.bind(2, Int64(change.key))
          try updateCount.runOnce()
        }
      }
    }
  }
}

/// One connection, for one thread.
@safe private final class SQLiteDatabase {
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
@safe private final class Statement {
  private let handle: OpaquePointer

  init(handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ index: Int32, _ value: Int64) { unsafe sqlite3_bind_int64(handle, index, value) }

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

  /// Whether there is a row.
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

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

  func text(_ column: Int32) -> String {
    let start = unsafe sqlite3_column_text(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
