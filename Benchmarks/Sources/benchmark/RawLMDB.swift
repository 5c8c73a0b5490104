import CLMDBRaw

/// LMDB with no more than a peer needs: an environment, its tables, one transaction at a time.
///
/// The bytes that a cursor returns stay in the map, and are valid until the next write or the end
/// of the transaction.
@safe final class RawEnvironment {
  let handle: OpaquePointer

  init(at path: String, flags: Int32, mapBytes: Int = 4 << 30) throws {
    var environment: OpaquePointer?
    unsafe try check(mdb_env_create(&environment), "mdb_env_create")
    guard let environment = unsafe environment else { throw BenchmarkError("no LMDB environment") }
    unsafe handle = environment
    unsafe try check(mdb_env_set_mapsize(handle, mapBytes), "mdb_env_set_mapsize")
    unsafe try check(mdb_env_set_maxdbs(handle, 4), "mdb_env_set_maxdbs")
    let allFlags = UInt32(flags | MDB_NORDAHEAD | MDB_NOTLS)
    unsafe try check(mdb_env_open(handle, path, allFlags, 0o644), "mdb_env_open")
  }

  deinit { unsafe mdb_env_close(handle) }

  /// Bytes up to the last page that was ever used.
  var usedBytes: Int {
    var information = unsafe MDB_envinfo()
    var statistics = MDB_stat()
    unsafe mdb_env_info(handle, &information)
    unsafe mdb_env_stat(handle, &statistics)
    return unsafe (information.me_last_pgno + 1) * Int(statistics.ms_psize)
  }

  func begin(readOnly: Bool = false) throws -> RawTransaction {
    var transaction: OpaquePointer?
    let flags = readOnly ? UInt32(MDB_RDONLY) : 0
    unsafe try check(mdb_txn_begin(handle, nil, flags, &transaction), "mdb_txn_begin")
    guard let transaction = unsafe transaction else { throw BenchmarkError("no transaction") }
    return unsafe RawTransaction(handle: transaction)
  }
}

/// An open transaction; whoever began it commits or aborts it.
@safe struct RawTransaction {
  let handle: OpaquePointer

  func table(_ name: String, flags: Int32 = 0) throws -> MDB_dbi {
    var table = MDB_dbi()
    let allFlags = UInt32(MDB_CREATE | flags)
    unsafe try check(mdb_dbi_open(handle, name, allFlags, &table), "mdb_dbi_open")
    return table
  }

  func cursor(_ table: MDB_dbi) throws -> RawCursor {
    var cursor: OpaquePointer?
    unsafe try check(mdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
    guard let cursor = unsafe cursor else { throw BenchmarkError("no cursor") }
    return unsafe RawCursor(handle: cursor)
  }

  /// Bytes in the pages of one table.
  func bytes(of table: MDB_dbi) -> Int {
    var statistics = MDB_stat()
    unsafe mdb_stat(handle, table, &statistics)
    let pages =
      statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
    return pages * Int(statistics.ms_psize)
  }

  func commit() throws { unsafe try check(mdb_txn_commit(handle), "mdb_txn_commit") }

  func abort() { unsafe mdb_txn_abort(handle) }
}

/// A position in one table.
@safe struct RawCursor {
  let handle: OpaquePointer

  /// Moves, and returns the value there; `key` is read or written as the move says.
  @inline(__always)
  func move(_ operation: MDB_cursor_op, _ key: inout MDB_val) throws -> UnsafeRawBufferPointer? {
    var value = unsafe MDB_val()
    let code = unsafe mdb_cursor_get(handle, &key, &value, operation)
    if code == MDB_NOTFOUND { return nil }
    try check(code, "mdb_cursor_get")
    return unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }

  @inline(__always)
  func put(_ key: MDB_val, _ value: UnsafeRawBufferPointer, flags: Int32 = 0) throws {
    var key = unsafe key
    var stored = unsafe MDB_val(
      mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
    unsafe try check(mdb_cursor_put(handle, &key, &stored, UInt32(flags)), "mdb_cursor_put")
  }

  /// Removes the entry at the cursor.
  @inline(__always)
  func delete() throws { unsafe try check(mdb_cursor_del(handle, 0), "mdb_cursor_del") }

  /// Cursors of a read transaction outlive it, so they are closed by hand.
  func close() { unsafe mdb_cursor_close(handle) }
}

/// Throws what LMDB says about a code other than zero.
@inline(__always)
func check(_ code: Int32, _ call: StaticString) throws {
  if code != MDB_SUCCESS { throw lmdbError(code, call) }
}

private func lmdbError(_ code: Int32, _ call: StaticString) -> BenchmarkError {
  let text = unsafe String(cString: mdb_strerror(code))
  return BenchmarkError("\(call): \(text)")
}
