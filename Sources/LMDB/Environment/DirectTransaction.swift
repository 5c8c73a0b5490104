import CLMDB

/// A writer's cursors, one for each table, at the place of the last lookup: for reading and
/// writing near that place. LMDB keeps them valid through all writes, and frees them with the
/// transaction.
@safe private struct NearCursors: ~Copyable {
  /// The cursors, by the table's index; LMDB's own two tables come first.
  private let handles: UnsafeMutableBufferPointer<OpaquePointer?>

  init() {
    unsafe handles = .allocate(capacity: Environment.tablesMax + 2)
    unsafe handles.initialize(repeating: nil)
  }

  deinit { unsafe handles.deallocate() }

  /// The cursor on a table, if there is one.
  @inline(__always)
  func cursor(on table: Table) -> OpaquePointer? { unsafe handles[Int(table.index)] }

  func open(in transaction: OpaquePointer, on table: Table) -> Int32 {
    unsafe mdb_cursor_open(transaction, table.index, &handles[Int(table.index)])
  }

  func close(on table: Table) {
    guard let open = unsafe cursor(on: table) else { return }
    unsafe mdb_cursor_close(open)
    unsafe handles[Int(table.index)] = nil
  }

  func closeAll() {
    for index in unsafe handles.indices {
      guard let open = unsafe handles[index] else { continue }
      unsafe mdb_cursor_close(open)
      unsafe handles[index] = nil
    }
  }
}

/// LMDB's writer. It has one for each environment; beginning a second waits for the first to end.
///
/// It must begin and end on one thread (H7).
///
/// Savepoints are LMDB's nested transactions, kept as a stack: reads and writes go to the last
/// one.
@safe struct DirectTransaction: ~Copyable {
  private let environment: Environment
  private var stack: [OpaquePointer]
  private let thread = Platform.threadIdentity()
  private let near = NearCursors()

  /// Begins; waits for another process's writer without a limit, so hold a ``FileLock`` first.
  init(_ environment: Environment) throws {
    try environment.health.checkWritable()
    unsafe stack = [try DirectTransaction.begin(environment)]
    self.environment = environment
  }

  deinit {
    var open = unsafe stack.count
    while open > 0 {
      open -= 1
      unsafe mdb_txn_abort(stack[open])
    }
    environment.gate.leave()
  }

  private static func begin(_ environment: Environment) throws -> OpaquePointer {
    for _ in 0..<4 {
      try environment.enter()
      var handle: OpaquePointer?
      let code = unsafe mdb_txn_begin(environment.handle, nil, 0, &handle)
      if code == MDB_SUCCESS, let handle = unsafe handle { return unsafe handle }
      environment.gate.leave()
      guard code == MDB_MAP_RESIZED else {
        throw environment.health.diagnosed(StorageError(code: code, while: "beginning to write"))
      }
      try environment.resize(to: 0)
    }
    throw StorageError(.busy, "the map keeps being resized")
  }

  /// The view for lookups, which includes this transaction's writes; it changes with each
  /// savepoint.
  var access: Access { unsafe Access(handle: stack[stack.count - 1]) }

  /// Looks up a key that may be written next, or is near the last one. Within the same page the
  /// cost is a search of the page instead of a descent from the root, and so is that of a `put` of
  /// the key.
  ///
  /// - Complexity: 0.1 to 0.7 µs.
  func find(_ table: Table, _ key: UnsafeRawBufferPointer) throws -> MDB_val? {
    guard let cursor = unsafe try cursor(on: table) else {
      return unsafe try access.find(table, key)
    }
    try unsafe checkKey(key.bytes)
    var (wanted, found) = unsafe (MDB_val(key), MDB_val())
    let code = unsafe mdb_cursor_get(cursor, &wanted, &found, MDB_SET)
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw StorageError(code: code, while: "reading") }
    return unsafe table.seal == .short ? MDB_val(try table.seal.open(key, found.bytes)) : found
  }

  /// The cursor on a table, opened when first needed; nil inside a savepoint.
  @inline(__always)
  private func cursor(on table: Table) throws -> OpaquePointer? {
    if let cursor = unsafe near.cursor(on: table) { return unsafe cursor }
    guard unsafe stack.count == 1 else { return nil }
    let code = unsafe near.open(in: stack[0], on: table)
    try diagnose(code, while: "opening a cursor")
    return unsafe near.cursor(on: table)
  }

  /// Writes an entry.
  ///
  /// - Throws: ``StorageError``; `.mapFull` makes the whole transaction unusable.
  @inline(__always)
  func put(
    _ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode = .replace
  ) throws {
    try checkKey(key)
    let code = unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in
        if table.seal == .short { return unsafe putSealed(table, key, value, mode) }
        var stored = unsafe MDB_val(value)
        return unsafe put(table, key, &stored, mode, 0)
      }
    }
    try diagnose(code, while: "writing")
  }

  @inline(__always)
  private func put(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ value: inout MDB_val, _ mode: PutMode,
    _ flags: Int32
  ) -> Int32 {
    var key = unsafe MDB_val(key)
    if mode == .replace, let cursor = unsafe near.cursor(on: table) {
      return unsafe mdb_cursor_put(cursor, &key, &value, UInt32(flags))
    }
    let append = mode == .append ? MDB_APPEND : 0
    return unsafe mdb_put(
      stack[stack.count - 1], table.index, &key, &value, UInt32(flags | append))
  }

  @inline(__always)
  private func diagnose(_ code: Int32, while action: String) throws {
    if code == MDB_SUCCESS { return }
    throw environment.health.diagnosed(StorageError(code: code, while: action))
  }

  /// Lets LMDB reserve space, and fills it with the value and its seal.
  private func putSealed(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ mode: PutMode
  ) -> Int32 {
    let sum = unsafe Seal.sum(key, value)
    var room = unsafe MDB_val(mv_size: value.count + Seal.shortCount, mv_data: nil)
    let code = unsafe put(table, key, &room, mode, MDB_RESERVE)
    guard code == MDB_SUCCESS, let start = unsafe room.mv_data else { return code }
    unsafe UnsafeMutableRawBufferPointer(start: start, count: value.count).copyMemory(from: value)
    unsafe start.storeBytes(
      of: sum.littleEndian, toByteOffset: value.count, as: UInt32.self)
    return code
  }

  /// Removes an entry.
  ///
  /// - Returns: True if there was one.
  @discardableResult
  func delete(_ table: Table, _ key: RawSpan) throws -> Bool {
    try checkKey(key)
    near.close(on: table)  // rather than rely on where a deletion leaves it
    let code = unsafe key.withUnsafeBytes { bytes in
      var key = unsafe MDB_val(bytes)
      return unsafe mdb_del(stack[stack.count - 1], table.index, &key, nil)
    }
    if code == MDB_NOTFOUND { return false }
    try diagnose(code, while: "deleting")
    return true
  }

  @inline(__always)
  private func checkKey(_ key: RawSpan) throws {
    guard key.byteCount > 0, key.byteCount <= keyBytesMax else { throw StorageError(key) }
    assert(thread == Platform.threadIdentity(), "a write transaction left its thread")
  }

  /// Begins a savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  mutating func savepoint() throws -> Access {
    near.closeAll()
    var handle: OpaquePointer?
    let code = unsafe mdb_txn_begin(environment.handle, stack[stack.count - 1], 0, &handle)
    guard code == MDB_SUCCESS, let handle = unsafe handle else {
      throw environment.health.diagnosed(StorageError(code: code, while: "beginning a savepoint"))
    }
    unsafe stack.append(handle)
    return access
  }

  /// Keeps what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  mutating func release() throws -> Access {
    precondition(savepoints > 0, "release without a savepoint")
    let code = unsafe mdb_txn_commit(stack.removeLast())
    try diagnose(code, while: "ending a savepoint")
    return access
  }

  /// Undoes what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  mutating func rollBack() -> Access {
    precondition(savepoints > 0, "rollBack without a savepoint")
    unsafe mdb_txn_abort(stack.removeLast())
    return access
  }

  /// LMDB's number of the transaction.
  var number: UInt64 { access.number }

  /// The number of open savepoints.
  var savepoints: Int { unsafe stack.count - 1 }

  /// Makes the changes visible, and durable where the environment is synced.
  ///
  /// - Throws: ``StorageError``. After `.diskFull` nothing was stored; after `.inputOutput` the
  ///   outcome is unknown and the environment is poisoned.
  consuming func commit() throws {
    precondition(savepoints == 0, "commit inside a savepoint")
    let code = unsafe mdb_txn_commit(stack.removeLast())
    if code != MDB_SUCCESS {
      throw unsafe environment.health.diagnosed(commit: code, in: environment.handle)
    }
    environment.committed()
  }
}

extension StorageError {
  /// The error for a key that LMDB does not accept.
  init(_ key: RawSpan) {
    self.init(.invalid, "a key of \(key.byteCount) bytes; 1 to \(keyBytesMax) are allowed")
  }
}
