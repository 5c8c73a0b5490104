// Cursors over a table. The functions that are called for each entry are inlined into the callers'
// module, since a generic function that is not inlined looks its types up in every call.

import CLMDB

/// A place in a table, for walking it in key order. It must end before its transaction does.
@safe public struct Cursor: ~Copyable {
  /// LMDB's cursor, in a writer's transaction.
  private let handle: OpaquePointer?
  /// Our own, in a reader's.
  private var reading: PageCursor?
  private let access: Access
  private let table: Table
  @usableFromInline var key = unsafe MDB_val()
  @usableFromInline var value = unsafe MDB_val()
  /// The entries that a walk has read ahead.
  @usableFromInline var batch = EntryBatch()

  /// Opens a cursor that has no position yet.
  @usableFromInline
  package init(_ access: Access, _ table: Table) throws {
    self.table = table
    self.access = access
    if let pages = access.pages {
      reading = PageCursor(pages, table)
      unsafe handle = nil
      return
    }
    var opened: OpaquePointer?
    try check(unsafe mdb_cursor_open(try access.handle, table.index, &opened), "opening a cursor")
    guard let opened = unsafe opened else { throw StorageError(.invalid, "no cursor") }
    unsafe handle = unsafe opened
    reading = nil
  }

  deinit { if let handle = unsafe handle { unsafe mdb_cursor_close(handle) } }

  /// Goes to the first entry at or after a key.
  ///
  /// - Returns: True if there is one.
  /// - Throws: ``StorageError`` of kind `.corrupt` if the entry, or the one before the key, does
  ///   not match its checksum, or a page on the way is damaged. The other moves throw the same.
  @usableFromInline
  package mutating func seek(_ wanted: RawSpan) throws -> Bool {
    try unsafe wanted.withUnsafeBytes { wanted in
      if reading != nil {
        do throws(StorageError) { return unsafe arrive(try reading?.seek(wanted)) } catch {
          throw told(error)
        }
      }
      unsafe key = unsafe MDB_val(wanted)
      return try move(MDB_SET_RANGE)
    }
  }

  /// Goes to the last entry before a key.
  ///
  /// - Returns: True if there is one.
  package mutating func seekBefore(_ bound: RawSpan) throws -> Bool {
    try seek(bound) ? try previous() : try last()
  }

  /// Goes to the first entry of the table.
  @usableFromInline
  package mutating func first() throws -> Bool {
    if reading != nil {
      do throws(StorageError) { return arrive(try reading?.goToEdge(isLast: false)) } catch {
        throw told(error)
      }
    }
    return try move(MDB_FIRST)
  }

  /// Goes to the last entry of the table.
  package mutating func last() throws -> Bool {
    if reading != nil {
      do throws(StorageError) { return arrive(try reading?.goToEdge(isLast: true)) } catch {
        throw told(error)
      }
    }
    return try move(MDB_LAST)
  }

  /// Goes to the next entry.
  package mutating func next() throws -> Bool {
    if reading != nil {
      do throws(StorageError) { return arrive(try reading?.next()) } catch { throw told(error) }
    }
    return try move(MDB_NEXT)
  }

  /// Goes to the previous entry.
  package mutating func previous() throws -> Bool {
    if reading != nil {
      do throws(StorageError) { return arrive(try reading?.previous()) } catch { throw told(error) }
    }
    return try move(MDB_PREV)
  }

  /// Visits the current entry and those on one side of it, until `body` returns false or there are
  /// no more: quicker than a step and a look at each. The cursor has no place afterwards.
  ///
  /// - Parameters:
  ///   - isReversed: True to go to the entries before.
  ///   - body: Takes the key and the value.
  /// - Throws: Any error that `body` throws; ``StorageError`` as ``seek(_:)`` does.
  @inlinable @inline(__always)
  public mutating func walk(
    isReversed: Bool, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try walkBatches(isReversed: isReversed) { batch in
      for index in 0..<batch.count {
        guard try batch.lend(index, body) else { return false }
      }
      return true
    }
  }

  /// As ``walk(isReversed:_:)``, but `body` takes some entries at a time.
  @inlinable @inline(__always)
  public mutating func walkBatches(
    isReversed: Bool, _ body: (inout EntryBatch) throws -> Bool
  ) throws {
    batch.restart()
    while try readBatch(isReversed: isReversed), try body(&batch) {}
  }

  /// Reads the next entries of a walk: of our own pages as many as lie on one leaf, else one, since
  /// a writer's entries move when it writes.
  @usableFromInline
  mutating func readBatch(isReversed: Bool) throws -> Bool {
    if reading != nil {
      do throws(StorageError) {
        return try reading?.read(&batch, isReversed: isReversed) ?? false
      } catch { throw told(error) }
    }
    if !batch.begin(upTo: 1), try !move(isReversed ? MDB_PREV : MDB_NEXT) { return false }
    unsafe batch.add(key.bytes, value.bytes)
    return true
  }

  /// Takes over the entry that our own cursor has reached.
  @inline(__always)
  private mutating func arrive(_ isThere: Bool?) -> Bool {
    guard isThere == true, let entry = unsafe reading?.entry else { return false }
    unsafe key = unsafe MDB_val(entry.key)
    unsafe value = unsafe MDB_val(entry.value)
    return true
  }

  /// Converts damage into the error that the caller expects.
  private func told(_ error: StorageError) -> any Error {
    access.pages?.readingError(error) ?? error
  }

  private mutating func move(_ operation: MDB_cursor_op) throws(StorageError) -> Bool {
    let code = unsafe mdb_cursor_get(handle, &key, &value, operation)
    if code == MDB_NOTFOUND { return false }
    if code != MDB_SUCCESS { throw StorageError(code: code, while: "walking a table") }
    if table.seal == .short {
      unsafe value = unsafe MDB_val(try table.seal.open(key.bytes, value.bytes))
    }
    return true
  }

  /// Lends the key and value of the cursor's current entry.
  @inlinable @inline(__always)
  public func withEntry<R>(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> R) rethrows -> R {
    try unsafe key.lend { key in try unsafe value.lend { value in try body(key, value) } }
  }
}
