// Reading a transaction's pages without LMDB.
//
//     mdb_txn_begin ──pins──▶ pages of transaction n
//     meta page n & 1 ──▶ main table ──▶ the tables' trees      resolved once for each transaction
//     lookup, walk    ──▶ page by page through our own map, each bound checked
//
// LMDB trusts its pages: damage makes it read outside of them, abort, or answer wrongly. So LMDB
// only pins the pages that a reader needs, and they are read here. A lookup costs as much as
// LMDB's.
//
// Damage that the structure of the pages does not show is found by the order of keys and by the
// entries' checksums:
//
// 1. An entry that is found has a checksum that covers its key.
// 2. A key that is not found lies between two neighbors. A search that a damaged key misleads ends
//    beside that key, so the neighbors' checksums reveal it, or their order if an offset leads to
//    the node of another key; a search that a damaged or exchanged branch misleads ends at the edge
//    of a leaf, and edges are compared with the branches above, whose order is checked as well, and
//    the adjacent leaf.
// 3. A walk ascends, and each page that it enters is filled, and keeps within the bounds above it.

import CLMDB
import Synchronization

extension TreeSummary {
  /// Reads the summary at a place in the map.
  fileprivate init(at start: UnsafeRawPointer) {
    let stored = unsafe UnsafeRawBufferPointer(start: start, count: PageFormat.summarySize)
    unsafe self.init(stored.bytes)
  }

  /// The tree, if it can be one in a file with `limit` pages.
  fileprivate func checked(limit: UInt64) throws(StorageError) -> TreeSummary {
    if flags == 0, limit > 0, fault(lastPage: limit - 1) == nil { return self }
    throw StorageError(.corrupt, "the data file is damaged: a table's summary is impossible")
  }
}

/// A table's name and its handle.
struct NamedTable: Sendable {
  let name: [UInt8]
  let index: UInt32
}

/// The pages that a read transaction sees.
@safe final class SnapshotPages: @unchecked Sendable {
  // It is Sendable because nothing in it changes, and neither do pages while a reader pins them.

  /// LMDB's number of the transaction.
  let transaction: UInt64
  let map: PageMap
  let pages: MappedPages
  /// Converts an error in reading into the one that the reader's caller expects.
  let readingError: @Sendable (StorageError) -> any Error
  /// The trees, by the tables' handles.
  let trees: [TreeSummary]

  /// Resolves the tables of a transaction.
  ///
  /// - Parameters:
  ///   - meta: The fields of the transaction's meta page; a reader must pin it.
  ///   - map: The map that holds its pages.
  ///   - pagesInFile: The number of pages in the file.
  ///   - tables: The tables' names and handles, ascending by name.
  ///   - readingError: Converts an error in reading into the one that the reader's caller expects.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  init(
    _ meta: MetaFields, _ map: PageMap, pagesInFile: UInt64, _ tables: [NamedTable],
    _ readingError: @escaping @Sendable (StorageError) -> any Error
  ) throws(StorageError) {
    self.readingError = readingError
    transaction = meta.transaction
    self.map = map
    let limit = min(meta.lastPage &+ 1, pagesInFile, map.pageCount)
    let pages = unsafe MappedPages(start: map.start, limit: limit)
    self.pages = pages
    let main = try meta.main.checked(limit: limit)
    if main.depth == 0 { throw SnapshotPages.missing(main) }
    var trees = Array(repeating: TreeSummary(), count: 1 + Int(tables.map(\.index).max() ?? 0))
    var last: (leaf: MappedPage, index: Int)?
    for table in tables {
      trees[Int(table.index)] = try SnapshotPages.tree(table.name, in: main, pages, near: &last)
    }
    self.trees = trees
  }

  /// The tree of a table, according to the main table. A table that was never written to is in the
  /// main table as well, since opening it for the first time creates it.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - main: The main table.
  ///   - pages: The pages of the transaction.
  ///   - last: The entry of the table before, or nil. Few tables fit one leaf, so that the next
  ///     entry is mostly this table's.
  /// - Returns: The tree.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  private static func tree(
    _ name: [UInt8], in main: TreeSummary, _ pages: MappedPages,
    near last: inout (leaf: MappedPage, index: Int)?
  ) throws(StorageError) -> TreeSummary {
    unsafe try name.withUnsafeBufferPointer { name throws(StorageError) in
      let wanted = UnsafeRawBufferPointer(name)
      var (index, isThere) = ((last?.index ?? -1) + 1, false)
      var leaf = last?.leaf
      if let leaf, index < leaf.count {
        isThere = unsafe try leaf.key(index).order(to: wanted) == 0
      }
      if !isThere { (leaf, index, isThere) = unsafe try pages.locate(wanted, in: main) }
      guard isThere, let leaf else { throw SnapshotPages.missing(main) }
      last = (leaf, index)
      let (flags, key, size) = unsafe try leaf.entry(index)
      guard flags == PageFormat.NodeFlags.summary, size == PageFormat.summarySize,
        let end = unsafe key.baseAddress.map({ unsafe $0 + key.count })
      else { throw leaf.fault("a table's entry is damaged") }
      return unsafe try TreeSummary(at: end).checked(limit: pages.limit)
    }
  }

  private static func missing(_ main: TreeSummary) -> StorageError {
    MappedPage.fault(main.root, "a table is missing")
  }

  /// Looks a key up.
  ///
  /// - Returns: The value without its seal; nil if there is no entry.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  func find(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StorageError) -> MDB_val? {
    let tree = trees[Int(table.index)]
    if tree.depth == 0 { return nil }
    let (leaf, index, isExact) = unsafe try pages.locate(key, in: tree)
    if isExact { return unsafe try opened(leaf, index, table) }
    unsafe try checkAbsent(key, table, leaf, index)
    return nil
  }

  /// Looks a key up: where it is known to be, or first on the leaf of the last lookup if it may be
  /// there.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The key.
  ///   - last: The leaf of the last lookup; afterwards that of this one.
  ///   - known: Keys that were looked for together; nil where none were.
  /// - Returns: The value without its seal; nil if there is no entry.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  func find(
    _ table: Table, _ key: UnsafeRawBufferPointer, near last: inout MappedPage?,
    _ known: inout JointLookup?
  ) throws(StorageError) -> MDB_val? {
    let tree = trees[Int(table.index)]
    if tree.depth == 0 { return nil }
    if known?.isPending == true { known?.descend(pages, tree) }
    if let (leaf, index) = unsafe known?.take(key) {
      last = leaf
      return unsafe try opened(leaf, index, table)
    }
    if let leaf = last {
      let (index, isExact) = unsafe try leaf.lowerBound(key, from: 0)
      if isExact { return unsafe try opened(leaf, index, table) }
      if index > 0, index < leaf.count {
        unsafe try checkAbsent(key, table, leaf, index)
        return nil
      }
    }
    let (leaf, index, isExact) = unsafe try pages.locate(key, in: tree)
    last = leaf
    if isExact { return unsafe try opened(leaf, index, table) }
    unsafe try checkAbsent(key, table, leaf, index)
    return nil
  }

  @inline(__always)
  private func opened(
    _ leaf: MappedPage, _ index: Int, _ table: Table
  ) throws(StorageError) -> MDB_val {
    let (key, value) = unsafe try pages.entry(leaf, index)
    return unsafe MDB_val(try table.seal.open(key, value))
  }

  // MARK: Absent keys

  /// Checks that a key that was not found could not have been overlooked.
  private func checkAbsent(
    _ key: UnsafeRawBufferPointer, _ table: Table, _ leaf: MappedPage, _ index: Int
  ) throws(StorageError) {
    if index > 0, index < leaf.count {
      try leaf.checkOrder(at: index, isBranch: false)
      try pages.checkSeal(leaf, index &- 1, table)
      return try pages.checkSeal(leaf, index, table)
    }
    // At the edge of a leaf the branches above matter as well.
    var cursor = PageCursor(self, table)
    _ = unsafe try cursor.seek(key)
  }
}

/// The fields of a transaction's meta page.
struct MetaFields: Equatable {
  let transaction: UInt64
  let lastPage: UInt64
  /// The main table.
  let main: TreeSummary
  /// True if the transaction after the next one may have begun to overwrite it.
  let isUnsettled: Bool

  private static let mainOffset = 40 + PageFormat.summarySize
  private static let lastPageOffset = 136
  private static let transactionOffset = 144

  /// - Returns: nil if the page is no longer the transaction's. The transaction after the next one
  ///   writes to the same page, and not before the other page belongs to the next one.
  init?(_ start: UnsafeRawPointer, _ transaction: UInt64) {
    let page = unsafe start + Int(transaction & 1) * PageFormat.pageSize
    let other = unsafe start + Int(~transaction & 1) * PageFormat.pageSize
    let offset = MetaFields.transactionOffset
    self.transaction = transaction
    lastPage = unsafe page.loadUnaligned(
      fromByteOffset: MetaFields.lastPageOffset, as: UInt64.self)
    main = unsafe TreeSummary(at: page + MetaFields.mainOffset)
    let number = unsafe page.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let next = unsafe other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    isUnsettled = next == transaction &+ 1
    if number != transaction { return nil }
  }
}
