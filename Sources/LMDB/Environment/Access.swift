import CLMDB
import Synchronization

/// The part that both kinds of transactions share: lookups and cursors.
///
/// It is a borrowed view, valid only while the transaction that lent it lives. Code that stores one
/// must own that transaction.
@safe public struct Access: @unchecked Sendable {
  // It is Sendable because a reader's pages never change, and all tables that a reader uses are
  // resolved when it begins (`ReadTransaction.init`), so a lookup only reads. A writer's view stays
  // on the writer's thread; `Database.Transaction` checks that.
  /// LMDB's transaction; nil for a writer that has none yet.
  private let ownHandle: OpaquePointer?
  /// The pages that a reader reads; nil for a writer, whose changes are not in the file yet.
  ///
  /// It is not an `unowned(unsafe) let`: Swift 6.3 treats a large structure in which such an
  /// optional is nil as nil itself.
  private let unmanagedPages: Unmanaged<SnapshotPages>?
  /// The writer, if it may write behind.
  private let writer: UnsafeMutablePointer<EntryWriter>?

  init(handle: OpaquePointer, pages: SnapshotPages? = nil) {
    unsafe ownHandle = unsafe handle
    unsafe unmanagedPages = pages.map { unsafe Unmanaged.passUnretained($0) }
    unsafe writer = nil
  }

  /// The view of a writer that has no transaction of LMDB yet.
  init(writer: UnsafeMutablePointer<EntryWriter>) {
    unsafe ownHandle = nil
    unsafe unmanagedPages = nil
    unsafe self.writer = unsafe writer
  }

  /// LMDB's transaction, which a writer begins for this if it has none.
  var handle: OpaquePointer {
    get throws {
      if let handle = unsafe ownHandle { return unsafe handle }
      if let handle = unsafe try writer?.pointee.directHandle() ?? nil {
        return unsafe handle
      }
      throw StorageError(.badTransaction, "the transaction has ended")
    }
  }

  @inline(__always)
  var pages: SnapshotPages? { unsafe unmanagedPages?.takeUnretainedValue() }

  /// Looks a key up and lends its value.
  ///
  /// - Complexity: one descent of the tree, 0.2 to 0.7 µs.
  @inlinable
  public func get<R>(
    _ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    if key.byteCount == 0 || key.byteCount > keyBytesMax { return nil }
    guard let found = unsafe try key.withUnsafeBytes({ unsafe try find(table, $0) }) else {
      return nil
    }
    return try unsafe found.lend(body)
  }

  /// The value of a key, without its seal.
  @usableFromInline
  package func find(_ table: Table, _ key: UnsafeRawBufferPointer) throws -> MDB_val? {
    if let pages = unsafe unmanagedPages {
      // A lookup need not count a reference to them.
      return unsafe try pages._withUnsafeGuaranteedRef { pages in
        do throws(StorageError) { return unsafe try pages.find(table, key) } catch {
          throw pages.readingError(error)
        }
      }
    }
    if let writer = unsafe writer { return unsafe try writer.pointee.find(table, key) }
    var (wanted, found) = unsafe (MDB_val(key), MDB_val())
    let code = unsafe try mdb_get(handle, table.index, &wanted, &found)
    if code == MDB_NOTFOUND { return nil }
    if code != MDB_SUCCESS { throw Access.failure(code) }
    return unsafe MDB_val(try table.seal.open(key, found.bytes))
  }

  static func failure(_ code: Int32) -> StorageError { StorageError(code: code, while: "reading") }

  /// A table's tree: its depth, its entries and its pages of each kind.
  package func tree(_ table: Table) throws -> TreeSummary {
    if let pages { return pages.trees[Int(table.index)] }
    var info = MDB_stat()
    try check(unsafe mdb_stat(try handle, table.index, &info), "measuring a table")
    var tree = TreeSummary()
    tree.depth = Int(info.ms_depth)
    tree.branchPages = UInt64(info.ms_branch_pages)
    tree.leafPages = UInt64(info.ms_leaf_pages)
    tree.overflowPages = UInt64(info.ms_overflow_pages)
    tree.entries = UInt64(info.ms_entries)
    return tree
  }

  /// The number of entries in a table.
  package func count(_ table: Table) throws -> Int { Int(clamping: try tree(table).entries) }

  /// The bytes of the pages that a table takes.
  package func size(_ table: Table) throws -> UInt64 { try tree(table).bytes }

  /// LMDB's own number of this transaction; 0 for a writer that writes behind.
  package var number: UInt64 { unsafe ownHandle.map { UInt64(unsafe mdb_txn_id($0)) } ?? 0 }
}

/// The longest key that LMDB takes, in bytes.
@usableFromInline package let keyBytesMax = 511

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
