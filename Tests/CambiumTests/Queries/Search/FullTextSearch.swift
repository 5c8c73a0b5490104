import CSQLite

/// SQLite's full text search over some texts, in memory: what ours is compared with.
@safe final class FullTextSearch {
  struct Failure: Error { let message: String }

  private var handle: OpaquePointer?

  /// Takes the texts; their row numbers count from 1.
  init(_ texts: [(title: String, body: String)], tokenizer: String) throws {
    try unsafe check(sqlite3_open(":memory:", &handle))
    try run(
      "CREATE VIRTUAL TABLE texts USING fts5(title, body, tokenize = \"\(tokenizer)\"); BEGIN")
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(
      unsafe sqlite3_prepare_v2(handle, "INSERT INTO texts VALUES (?, ?)", -1, &statement, nil))
    for text in texts {
      for (index, text) in [text.title, text.body].enumerated() {
        try unsafe bind(statement, index + 1, text)
      }
      unsafe sqlite3_step(statement)
      try check(unsafe sqlite3_reset(statement))
    }
    try run("COMMIT")
  }

  deinit { unsafe sqlite3_close(handle) }

  /// The row numbers that a query finds, with their rank, the best first.
  func search(_ query: String) throws -> [(row: Int, score: Double)] {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    let text = "SELECT rowid, bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY 2, 1"
    try check(unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil))
    try unsafe bind(statement, 1, query)
    var found: [(row: Int, score: Double)] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      found.append(
        unsafe (Int(sqlite3_column_int64(statement, 0)), -sqlite3_column_double(statement, 1)))
    }
    try check(unsafe sqlite3_reset(statement))
    return found
  }

  private func bind(_ statement: OpaquePointer?, _ index: Int, _ text: String) throws {
    // SQLITE_TRANSIENT: SQLite takes a copy.
    let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    try check(unsafe sqlite3_bind_text(statement, Int32(index), text, -1, copied))
  }

  private func run(_ text: String) throws {
    try check(unsafe sqlite3_exec(handle, text, nil, nil, nil))
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw Failure(message: unsafe String(cString: sqlite3_errmsg(handle))) }
  }
}
