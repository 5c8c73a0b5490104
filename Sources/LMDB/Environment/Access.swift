import CLMDB
import Synchronization

/// The part that both kinds of transactions share: lookups and cursors.
///
/// It is a borrowed view, valid only while the transaction that lent it lives. Code that stores one
/// must own that transaction.
@safe package struct Access: @unchecked Sendable {
  // It is Sendable because a reader's pages never change, and all tables that a reader uses are
  // resolved when it begins (`ReadTransaction.init`), so a lookup only reads. A writer's view stays
  // on the writer's thread; `Database.Transaction` checks that.
  @usableFromInline let handle: OpaquePointer
  /// The pages that a reader reads; nil for a writer, whose changes are not in the file yet.
  ///
  /// It is not an `unowned(unsafe) let`: Swift 6.3 treats a large structure in which such an
  /// optional is nil as nil itself.
  private let unmanagedPages: Unmanaged<SnapshotPages>?

  init(handle: OpaquePointer, pages: SnapshotPages? = nil) {
    unsafe self.handle = unsafe handle
    unsafe unmanagedPages = pages.map { unsafe Unmanaged.passUnretained($0) }
  }

  @inline(__always)
  var pages: SnapshotPages? { unsafe unmanagedPages?.takeUnretainedValue() }

  /// Looks a key up and lends its value.
  ///
  /// - Complexity: one descent of the tree, 0.2 to 0.7 µs.
  @inlinable
  package func get<R>(
    _ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    if key.byteCount == 0 || key.byteCount > keyBytesMax { return nil }
    guard let found = unsafe try key.withUnsafeBytes({ unsafe try find(table, $0) }) else {
      return nil
    }
    return try unsafe found.lend(body)
  }

  /// The value of a key, without its seal.
  package func find(_ table: Table, _ key: UnsafeRawBufferPointer) throws -> MDB_val? {
    if let pages {
      do throws(StorageError) { return unsafe try pages.find(table, key) } catch {
        throw pages.readingError(error)
      }
    }
    var (wanted, found) = unsafe (MDB_val(key), MDB_val())
    let code = unsafe mdb_get(handle, table.index, &wanted, &found)
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw Access.failure(code) }
    return unsafe MDB_val(try table.seal.open(key, found.bytes))
  }

  @usableFromInline
  static func failure(_ code: Int32) -> StorageError { StorageError(code: code, while: "reading") }

  /// The number of entries in a table.
  package func count(_ table: Table) throws -> Int {
    if let pages { return Int(clamping: pages.trees[Int(table.index)].entries) }
    var info = MDB_stat()
    try check(unsafe mdb_stat(handle, table.index, &info), "counting entries")
    return info.ms_entries
  }

  /// The bytes of the pages that a table takes.
  package func size(_ table: Table) throws -> UInt64 {
    let (_, branch, leaf, overflow, pageBytes) = try pages(table)
    return (branch + leaf + overflow) * pageBytes
  }

  /// The depth of a table's tree, and the number of pages of each kind that it takes.
  package func pages(_ table: Table) throws -> (
    depth: Int, branch: UInt64, leaf: UInt64, overflow: UInt64, pageBytes: UInt64
  ) {
    if let pages {
      let tree = pages.trees[Int(table.index)]
      return (
        tree.depth, tree.branchPages, tree.leafPages, tree.overflowPages,
        UInt64(PageFormat.pageSize)
      )
    }
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

  var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }

  /// Lends the bytes in the map; they are valid until the transaction ends or writes.
  @inlinable @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
    return try unsafe body(bytes.bytes)
  }
}
