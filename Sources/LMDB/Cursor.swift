// Walking a table. What is called for each entry is inlined into the callers' module, since a
// generic function that is not looks its types up in every call.

import CLMDB

/// A place in a table, for walking it in key order. It must end before its transaction does.
@safe package struct Cursor: ~Copyable {
  @usableFromInline let handle: OpaquePointer
  @usableFromInline var key = unsafe MDB_val()
  @usableFromInline var value = unsafe MDB_val()

  /// Opens a cursor that stands nowhere.
  package init(_ access: Access, _ table: Table) throws {
    var opened: OpaquePointer?
    try check(unsafe mdb_cursor_open(access.handle, table.index, &opened), "opening a cursor")
    guard let opened = unsafe opened else { throw StorageError(.invalid, "no cursor") }
    unsafe handle = unsafe opened
  }

  deinit { unsafe mdb_cursor_close(handle) }

  /// Goes to the first entry at or after a key.
  ///
  /// - Returns: Whether there is one.
  @inlinable
  package mutating func seek(_ wanted: RawSpan) throws -> Bool {
    unsafe wanted.withUnsafeBytes { unsafe key = unsafe MDB_val($0) }
    return try move(MDB_SET_RANGE)
  }

  /// Goes to the last entry before a key.
  ///
  /// - Returns: Whether there is one.
  package mutating func seekBefore(_ bound: RawSpan) throws -> Bool {
    try seek(bound) ? try move(MDB_PREV) : try move(MDB_LAST)
  }

  /// Goes to the first entry of the table.
  package mutating func first() throws -> Bool { try move(MDB_FIRST) }

  /// Goes to the last entry of the table.
  package mutating func last() throws -> Bool { try move(MDB_LAST) }

  /// Goes to the next entry.
  @inlinable
  package mutating func next() throws -> Bool { try move(MDB_NEXT) }

  /// Goes to the entry before.
  @inlinable
  package mutating func previous() throws -> Bool { try move(MDB_PREV) }

  @inlinable
  mutating func move(_ operation: MDB_cursor_op) throws -> Bool {
    let code = unsafe mdb_cursor_get(handle, &key, &value, operation)
    if code == MDB_NOTFOUND { return false }
    if code != MDB_SUCCESS { throw Cursor.failure(code) }
    return true
  }

  @usableFromInline
  static func failure(_ code: Int32) -> StorageError {
    StorageError(code: code, while: "walking a table")
  }

  /// Lends key and value of the entry that the cursor stands on.
  @inlinable
  package func withEntry<R>(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> R) rethrows -> R {
    try unsafe key.lend { key in try unsafe value.lend { value in try body(key, value) } }
  }
}
