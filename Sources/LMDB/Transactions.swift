import CLMDB
import Synchronization

/// What both kinds of transactions can do: look up, and walk.
///
/// It is a borrowed view: valid only while the transaction that lent it lives. Whoever stores one
/// must own that transaction.
@safe package struct Access: @unchecked Sendable {
  // What makes it Sendable: a reader's pages never change, and all tables that a reader touches
  // are resolved when it begins (`ReadTransaction.init`), so that looking up only reads. A writer's
  // view stays on the writer's thread; `Transaction` checks that.
  @usableFromInline let handle: OpaquePointer

  /// Looks a key up and lends its value.
  ///
  /// - Complexity: one descent of the tree, 0.2 to 0.7 µs.
  @inlinable
  package func get<R>(
    _ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    if key.byteCount == 0 || key.byteCount > keyBytesMax { return nil }
    var found = unsafe MDB_val()
    let code = unsafe key.withUnsafeBytes { bytes in
      var wanted = unsafe MDB_val(bytes)
      return unsafe mdb_get(handle, table.index, &wanted, &found)
    }
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw Access.failure(code) }
    return try unsafe found.lend(body)
  }

  @usableFromInline
  static func failure(_ code: Int32) -> StorageError { StorageError(code: code, while: "reading") }

  /// How many entries a table has.
  package func count(_ table: Table) throws -> Int {
    var info = MDB_stat()
    try check(unsafe mdb_stat(handle, table.index, &info), "counting entries")
    return info.ms_entries
  }

  /// The bytes of the pages that a table takes.
  package func size(_ table: Table) throws -> UInt64 {
    let (_, branch, leaf, overflow, pageBytes) = try pages(table)
    return (branch + leaf + overflow) * pageBytes
  }

  /// How deep a table's tree is, and how many pages of each kind it takes.
  package func pages(_ table: Table) throws -> (
    depth: Int, branch: UInt64, leaf: UInt64, overflow: UInt64, pageBytes: UInt64
  ) {
    var info = MDB_stat()
    try check(unsafe mdb_stat(handle, table.index, &info), "measuring a table")
    return (
      Int(info.ms_depth), UInt64(info.ms_branch_pages), UInt64(info.ms_leaf_pages),
      UInt64(info.ms_overflow_pages), UInt64(info.ms_psize)
    )
  }

  /// LMDB's own number of this transaction.
  package var number: UInt64 { UInt64(unsafe mdb_txn_id(handle)) }
}

/// The longest key that LMDB takes, in bytes.
package let keyBytesMax = 511

extension MDB_val {
  @inlinable
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  /// Lends the bytes in the map; they are valid until the transaction ends or writes.
  @inlinable
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
    return try unsafe body(bytes.bytes)
  }
}

/// A fixed view of the environment. It ends when it goes out of scope; its slot is used again.
@safe package struct ReadTransaction: ~Copyable, Sendable {
  private let environment: Environment
  private let reader: ReaderHandle

  /// The view for looking up.
  package var access: Access { unsafe Access(handle: reader.handle) }

  /// Begins one: under 0.2 µs when a slot is free.
  ///
  /// - Parameters:
  ///   - environment: Where to read.
  ///   - tables: The tables that will be read; resolving them here makes reading free of side
  ///     effects, and so safe on several threads.
  /// - Throws: ``StorageError``: `.busy` when all 1,024 slots are taken, `.closed`.
  package init(_ environment: Environment, tables: [Table]) throws {
    try environment.checkUsable(forWriting: false)
    reader = try ReadTransaction.begin(environment, tables)
    self.environment = environment
  }

  deinit {
    unsafe mdb_txn_reset(reader.handle)
    environment.idleReaders.withLock { $0.append(reader) }
    environment.gate.leave()
  }

  private static func begin(_ environment: Environment, _ tables: [Table]) throws -> ReaderHandle {
    var attempts = 0
    while true {
      try environment.enter()
      var handle: OpaquePointer?
      let code = unsafe start(environment, &handle)
      if code == MDB_SUCCESS, let handle = unsafe handle {
        return unsafe try resolve(tables, ReaderHandle(handle: handle), environment)
      }
      // Inside the gate, so that the environment is not closed meanwhile.
      if code == MDB_READERS_FULL { environment.clearStaleReaders() }
      environment.gate.leave()
      attempts += 1
      guard attempts < 4, code == MDB_READERS_FULL || code == MDB_MAP_RESIZED else {
        throw StorageError(code: code, while: "beginning to read")
      }
      if code == MDB_MAP_RESIZED { try environment.resize(to: 0) }
    }
  }

  /// Gives the transaction back, or ends it where it meets damage.
  private static func resolve(
    _ tables: [Table], _ reader: ReaderHandle, _ environment: Environment
  ) throws -> ReaderHandle {
    do {
      let access = unsafe Access(handle: reader.handle)
      for table in tables { _ = try access.count(table) }
      return reader
    } catch {
      unsafe mdb_txn_abort(reader.handle)
      environment.gate.leave()
      throw error
    }
  }

  private static func start(_ environment: Environment, _ handle: inout OpaquePointer?) -> Int32 {
    if let idle = environment.idleReaders.withLock({ $0.popLast() }) {
      let code = unsafe mdb_txn_renew(idle.handle)
      if code == MDB_SUCCESS {
        unsafe handle = unsafe idle.handle
      } else {
        unsafe mdb_txn_abort(idle.handle)
      }
      return code
    }
    return unsafe mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &handle)
  }
}

/// A writer's cursors, one for each table, where it looked something up last: for reading and
/// writing near that place. LMDB keeps them right through all writes, and frees them with the
/// transaction.
@safe private final class NearCursors {
  /// By the table's index.
  private var handles: [OpaquePointer?] = unsafe []

  /// The cursor on a table, if there is one.
  @inline(__always)
  func cursor(on table: Table) -> OpaquePointer? {
    let index = Int(table.index)
    return unsafe index < handles.count ? handles[index] : nil
  }

  func open(in transaction: OpaquePointer, on table: Table) -> Int32 {
    while unsafe handles.count <= Int(table.index) { unsafe handles.append(nil) }
    return unsafe mdb_cursor_open(transaction, table.index, &handles[Int(table.index)])
  }

  func close(on table: Table) {
    guard let open = unsafe cursor(on: table) else { return }
    unsafe mdb_cursor_close(open)
    unsafe handles[Int(table.index)] = nil
  }

  func closeAll() {
    while let last = unsafe handles.popLast() {
      if let open = unsafe last { unsafe mdb_cursor_close(open) }
    }
  }
}

/// How a put treats what is there.
package enum PutMode: Sendable {
  /// Replaces.
  case replace
  /// The key is larger than all others in the table.
  case append
}

/// The writer. LMDB has one for each environment; beginning a second waits for the first to end.
///
/// The type is noncopyable, so the compiler proves that the transaction ends once: `commit`
/// consumes it, and leaving scope any other way aborts. It must begin and end on one thread (H7).
///
/// Savepoints are LMDB's nested transactions, kept as a stack: the last one is what reads and
/// writes go to.
@safe package struct WriteTransaction: ~Copyable {
  private let environment: Environment
  private var stack: [OpaquePointer]
  private let thread = Platform.threadIdentity()
  private let near = NearCursors()

  /// Begins; waits for another process's writer without a limit, so hold a ``FileLock`` first.
  package init(_ environment: Environment) throws {
    try environment.checkUsable(forWriting: true)
    unsafe stack = [try WriteTransaction.begin(environment)]
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
        throw environment.diagnosed(StorageError(code: code, while: "beginning to write"))
      }
      try environment.resize(to: 0)
    }
    throw StorageError(.busy, "the map keeps being resized")
  }

  /// The view for looking up, which sees what was written; it changes with each savepoint.
  package var access: Access { unsafe Access(handle: stack[stack.count - 1]) }

  /// Looks a key up that may be written next, or is near the last one: within the same page that
  /// costs a search of the page, not a descent from the root, and so does `put` of that key.
  ///
  /// - Complexity: 0.1 to 0.7 µs.
  @inline(__always)
  package func get<R>(
    _ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard let cursor = unsafe try cursor(on: table) else { return try access.get(table, key, body) }
    try checkKey(key)
    var found = unsafe MDB_val()
    let code = unsafe key.withUnsafeBytes { bytes in
      var wanted = unsafe MDB_val(bytes)
      return unsafe mdb_cursor_get(cursor, &wanted, &found, MDB_SET)
    }
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw StorageError(code: code, while: "reading") }
    return try unsafe found.lend(body)
  }

  /// The cursor on a table, made where needed; nil inside a savepoint.
  @inline(__always)
  private func cursor(on table: Table) throws -> OpaquePointer? {
    if let cursor = unsafe near.cursor(on: table) { return unsafe cursor }
    guard unsafe stack.count == 1 else { return nil }
    let code = unsafe near.open(in: stack[0], on: table)
    if code != MDB_SUCCESS {
      throw environment.diagnosed(StorageError(code: code, while: "opening a cursor"))
    }
    return unsafe near.cursor(on: table)
  }

  /// Writes an entry.
  ///
  /// - Throws: ``StorageError``; `.mapFull` makes the whole transaction unusable.
  @inline(__always)
  package func put(
    _ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode = .replace
  ) throws {
    try checkKey(key)
    let code = unsafe key.withUnsafeBytes { keyBytes in
      unsafe value.withUnsafeBytes { valueBytes in
        var key = unsafe MDB_val(keyBytes)
        var value = unsafe MDB_val(valueBytes)
        if mode == .replace, let cursor = unsafe near.cursor(on: table) {
          return unsafe mdb_cursor_put(cursor, &key, &value, 0)
        }
        return unsafe mdb_put(
          stack[stack.count - 1], table.index, &key, &value,
          mode == .append ? UInt32(MDB_APPEND) : 0)
      }
    }
    if code != MDB_SUCCESS {
      throw environment.diagnosed(StorageError(code: code, while: "writing"))
    }
  }

  /// Removes an entry.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  package func delete(_ table: Table, _ key: RawSpan) throws -> Bool {
    try checkKey(key)
    near.close(on: table)  // rather than rely on where a deletion leaves it
    let code = unsafe key.withUnsafeBytes { bytes in
      var key = unsafe MDB_val(bytes)
      return unsafe mdb_del(stack[stack.count - 1], table.index, &key, nil)
    }
    if code == MDB_NOTFOUND { return false }
    if code != MDB_SUCCESS {
      throw environment.diagnosed(StorageError(code: code, while: "deleting"))
    }
    return true
  }

  @inline(__always)
  private func checkKey(_ key: RawSpan) throws {
    guard key.byteCount > 0, key.byteCount <= keyBytesMax else {
      throw StorageError(
        .invalid, "a key of \(key.byteCount) bytes; 1 to \(keyBytesMax) are allowed")
    }
    assert(thread == Platform.threadIdentity(), "a write transaction left its thread")
  }

  /// Begins a savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func savepoint() throws -> Access {
    near.closeAll()
    var handle: OpaquePointer?
    let code = unsafe mdb_txn_begin(environment.handle, stack[stack.count - 1], 0, &handle)
    guard code == MDB_SUCCESS, let handle = unsafe handle else {
      throw environment.diagnosed(StorageError(code: code, while: "beginning a savepoint"))
    }
    unsafe stack.append(handle)
    return access
  }

  /// Keeps what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func release() throws -> Access {
    precondition(savepoints > 0, "release without a savepoint")
    let code = unsafe mdb_txn_commit(stack.removeLast())
    if code != MDB_SUCCESS {
      throw environment.diagnosed(StorageError(code: code, while: "ending a savepoint"))
    }
    return access
  }

  /// Undoes what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func rollBack() -> Access {
    precondition(savepoints > 0, "rollBack without a savepoint")
    unsafe mdb_txn_abort(stack.removeLast())
    return access
  }

  /// How many savepoints are open.
  package var savepoints: Int { unsafe stack.count - 1 }

  /// Makes the changes visible, and durable where the environment is synced.
  ///
  /// - Throws: ``StorageError``. After `.diskFull` nothing was stored; after `.inputOutput` the
  ///   outcome is unknown and the environment is poisoned.
  package consuming func commit() throws {
    precondition(savepoints == 0, "commit inside a savepoint")
    let code = unsafe mdb_txn_commit(stack.removeLast())
    if code != MDB_SUCCESS {
      if environment.plantedBugs.contains(.errorIgnored) { return }
      throw environment.diagnosed(commit: code)
    }
    environment.committed()
  }
}
