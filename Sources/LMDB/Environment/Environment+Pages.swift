// The pages that readers see, shared by all readers of one moment.

import CLMDB
import Synchronization

extension Environment {
  /// The pages of the moment that a reader pins. Called inside the gate.
  ///
  /// - Parameter reader: LMDB's transaction, renewed if a writer has committed in the meantime.
  /// - Returns: nil if the address space has no room for a map of our own.
  /// - Throws: ``StorageError``, of kind `.corrupt` if a page on the way to the tables is damaged.
  func pages(pinnedBy reader: OpaquePointer) throws(StorageError) -> SnapshotPages? {
    let number = UInt64(unsafe mdb_txn_id(reader))
    let newest = newestPages.withLock { $0 }
    if let newest, newest.transaction == number { return newest }
    return unsafe try resolve(reader, newest?.map)
  }

  private func resolve(
    _ reader: OpaquePointer, _ known: PageMap?
  ) throws(StorageError) -> SnapshotPages? {
    var map: PageMap
    if let known {
      map = known
    } else {
      guard let first = PageMap(try dataDescriptor(), pages: 0) else { return nil }
      map = first
    }
    let meta = unsafe try settledMeta(reader, map)
    let pagesInFile = try map.pagesInFile()
    if meta.lastPage >= map.pageCount {
      guard let larger = map.enlarged(pages: min(meta.lastPage &+ 1, pagesInFile)) else {
        return nil
      }
      map = larger
    }
    let pages = try SnapshotPages(meta, map, pagesInFile: pagesInFile, namedTables, readingError)
    newestPages.withLock { $0 = pages }
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
