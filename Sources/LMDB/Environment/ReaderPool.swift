import CLMDB
import Synchronization

/// The readers of an environment: the slots of ended ones, which the next ones use again, and the
/// pages of the newest moment, which all readers of that moment share.
struct ReaderPool: ~Copyable, Sendable {
  /// Converts a reader's error into the one that is thrown to the environment's user.
  let readingError: @Sendable (StorageError) -> any Error
  private let tables: [NamedTable]
  let idle = Mutex<[ReaderHandle]>([])
  /// The pages that the newest reader reads, for the next one at the same moment.
  private let newest = Mutex<SnapshotPages?>(nil)

  init(
    _ tables: [String: Table], _ readingError: @escaping @Sendable (StorageError) -> any Error
  ) {
    self.tables = tables.map { NamedTable(name: Array($0.utf8), index: $1.index) }
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    self.readingError = readingError
  }

  /// Begins a reader, in the slot of an ended one if there is one.
  ///
  /// - Returns: LMDB's code.
  func begin(_ handle: inout OpaquePointer?, in environment: OpaquePointer) -> Int32 {
    guard let ended = idle.withLock({ $0.popLast() }) else {
      return unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &handle)
    }
    let code = unsafe mdb_txn_renew(ended.handle)
    if code == MDB_SUCCESS {
      unsafe handle = unsafe ended.handle
    } else {
      unsafe mdb_txn_abort(ended.handle)
    }
    return code
  }

  /// Ends a reader, and keeps its slot for the next one.
  func end(_ reader: ReaderHandle) {
    unsafe mdb_txn_reset(reader.handle)
    idle.withLock { $0.append(reader) }
  }

  /// Gives back the slots of ended readers.
  func discardIdle() {
    idle.withLock {
      for reader in $0 { unsafe mdb_txn_abort(reader.handle) }
      $0.removeAll()
    }
  }

  /// Gives back the slots and the pages.
  func discard() {
    discardIdle()
    newest.withLock { $0 = nil }
  }

  /// The pages of the moment that a reader pins. Called inside the gate.
  ///
  /// - Parameters:
  ///   - reader: LMDB's transaction, renewed if a writer has committed in the meantime.
  ///   - environment: The environment of these readers.
  /// - Returns: nil if the address space has no room for a map of our own.
  /// - Throws: ``StorageError``, of kind `.corrupt` if a page on the way to the tables is damaged.
  func pages(
    pinnedBy reader: OpaquePointer, of environment: Environment
  ) throws(StorageError) -> SnapshotPages? {
    let known = newest.withLock { $0 }
    if let known, known.transaction == UInt64(unsafe mdb_txn_id(reader)) { return known }
    var first = known?.map
    if first == nil { first = PageMap(try environment.dataDescriptor(), pages: 0) }
    guard var map = first else { return nil }
    let meta = unsafe try settledMeta(reader, map)
    let pagesInFile = try map.pagesInFile()
    if meta.lastPage >= map.pageCount {
      guard let larger = map.enlarged(pages: min(meta.lastPage &+ 1, pagesInFile)) else {
        return nil
      }
      map = larger
    }
    let pages = try SnapshotPages(meta, map, pagesInFile: pagesInFile, tables, readingError)
    newest.withLock { $0 = pages }
    return pages
  }

  /// The meta page of the moment that a reader pins. If a writer may be about to overwrite it, a
  /// newer one is read instead; if that writer has died, the page stays as it is.
  private func settledMeta(
    _ reader: OpaquePointer, _ map: PageMap
  ) throws(StorageError) -> MetaFields {
    var last: MetaFields?
    for _ in 0..<100 {
      let meta = unsafe MetaFields(map.start, UInt64(mdb_txn_id(reader)))
      if let meta, !meta.isUnsettled { return meta }
      if let meta, meta == last { return meta }
      last = meta
      unsafe mdb_txn_reset(reader)
      try check(unsafe mdb_txn_renew(reader), "beginning to read")
    }
    throw StorageError(.corrupt, "the data file is damaged: no meta page is of the newest moment")
  }
}

/// A reader's slot, ready to be used again.
@safe struct ReaderHandle: @unchecked Sendable {
  // It is Sendable because with MDB_NOTLS a reader belongs to no thread, and the pool hands it to
  // one owner at a time.
  let handle: OpaquePointer
}
