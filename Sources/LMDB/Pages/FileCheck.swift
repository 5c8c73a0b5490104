/// Refuses a `data.mdb` that would crash LMDB, before LMDB maps it.
///
/// LMDB trusts its two meta pages: a file cut short opens without an error and kills the process
/// with SIGBUS at the first page that is missing. This reads both meta pages and the file's size,
/// in a few calls of `pread` (7 µs); ``PageWalker`` reads all pages.
///
/// A sound file may be shorter than its last page number says: pages that one transaction both took
/// from the end of the file and freed were never written (about one commit in a hundred when tables
/// shrink and grow). Only then is the free list read too, which must contain every missing page.
///
/// Only the newer meta page must point to existing pages. The older one may not, after its write
/// failed: LMDB then restores its transaction's number, but not its roots, and never follows them.
///
/// Another process may commit meanwhile. A check that fails while the meta pages change is
/// repeated.
package enum FileCheck {
  /// The page size that a file must have.
  package static let pageSize = PageFormat.pageSize

  /// Checks the file at `path`, which LMDB has not opened yet.
  ///
  /// - Returns: The newest meta page.
  /// - Throws: ``FileDamage``. A directory, fifo or device is refused without blocking.
  @discardableResult
  package static func check(_ path: String) throws(FileDamage) -> MetaPage {
    let file = try PageFile(path: path)
    defer { file.close() }
    return try check(file)
  }

  /// Checks an open file; the descriptor stays open, and its position is unchanged.
  @discardableResult
  package static func check(descriptor: CInt) throws(FileDamage) -> MetaPage {
    try check(PageFile(descriptor: descriptor))
  }

  /// The page size that the file at `path` was created with, even one that we do not support.
  package static func pageSize(of path: String) throws(FileDamage) -> Int {
    let file = try PageFile(path: path)
    defer { file.close() }
    let meta = try MetaPages(file)[0]
    guard meta.isMeta, meta.version == PageFormat.version else {
      throw .notEnvironment(reason: "page 0 is no meta page")
    }
    return Int(meta.pageSize)
  }

  static func check(_ file: PageFile) throws(FileDamage) -> MetaPage {
    try settled(file) { () throws(FileDamage) in try check(file, MetaPages(file)) }
  }

  /// Reads something, and repeats it if it fails and the meta pages change in the meantime.
  static func settled<R>(
    _ file: PageFile, _ body: () throws(FileDamage) -> R
  ) throws(FileDamage) -> R {
    var attempts = 0
    while true {
      let metas = try MetaPages(file)
      do {
        return try body()
      } catch {
        attempts += 1
        let isSettled = try MetaPages(file) == metas
        if isSettled || attempts == 10 { throw error }
      }
    }
  }

  /// Opens a file, and reads something in it as of its newest transaction, as ``settled(_:_:)``
  /// does.
  static func reading<R>(
    _ path: String, _ body: (PageFile, MetaPage) throws(FileDamage) -> R
  ) throws(FileDamage) -> R {
    let file = try PageFile(path: path)
    defer { file.close() }
    return try settled(file) { () throws(FileDamage) in try body(file, check(file)) }
  }

  private static func check(_ file: PageFile, _ metas: MetaPages) throws(FileDamage) -> MetaPage {
    let pages = try file.pageCount()
    let first = try metas.identified(0)
    let second = try metas.identified(1)
    if let reason = mismatch(first, second) { throw .damaged(page: nil, reason: reason) }
    let newest = first.transactionID >= second.transactionID ? first : second
    try checkBounds(newest, pagesInFile: pages)
    if pages <= newest.lastPage { try checkMissingPages(file, newest, from: pages) }
    return newest
  }

  /// Every page after the end of the file must be in the free list.
  private static func checkMissingPages(
    _ file: PageFile, _ meta: MetaPage, from end: UInt64
  ) throws(FileDamage) {
    var walk = PageWalk(file: file, meta: meta, pagesInFile: end) { _, _ in true }
    walk.walkFreeList()
    if let finding = walk.findings.first {
      throw .damaged(page: finding.page, reason: "the file is cut short: \(finding.reason)")
    }
    guard (end...meta.lastPage).allSatisfy(walk.free.contains), !walk.free.contains(meta.main.root)
    else {
      throw .damaged(
        page: end, reason: "the file is cut short: it ends here, but has \(meta.lastPage + 1) pages"
      )
    }
  }
}

/// The two meta pages as they were at one moment.
struct MetaPages: Equatable {
  private let metas: [MetaPage]

  init(_ file: PageFile) throws(FileDamage) {
    var metas: [MetaPage] = []
    do {
      for number in 0..<PageFormat.metaPages { metas.append(try MetaPage(file.page(number))) }
    } catch {
      let isForeign = error.code == 0 && !metas.contains(where: \.isMeta)
      throw isForeign ? .notEnvironment(reason: error.reason) : FileDamage(error)
    }
    self.metas = metas
  }

  /// A meta page, not yet checked.
  subscript(index: Int) -> MetaPage { metas[index] }

  /// A meta page that LMDB wrote; the pages that it points to are not yet checked.
  func identified(_ index: Int) throws(FileDamage) -> MetaPage {
    let meta = metas[index]
    if !meta.isMeta, metas.contains(where: \.isMeta) {
      throw .damaged(page: meta.number, reason: "it is no meta page")
    }
    try FileCheck.checkIdentity(meta)
    return meta
  }

  /// True if a meta page is the older of two that LMDB wrote, and therefore not followed.
  func isSpoiledOlder(_ index: Int) -> Bool {
    guard (try? identified(0)) != nil, (try? identified(1)) != nil else { return false }
    return metas[index].transactionID < metas[1 - index].transactionID
      && FileCheck.mismatch(metas[0], metas[1]) == nil
  }

  /// A meta page that is safe for LMDB.
  func checked(_ index: Int, pagesInFile: UInt64) throws(FileDamage) -> MetaPage {
    let meta = try identified(index)
    try FileCheck.checkBounds(meta, pagesInFile: pagesInFile)
    return meta
  }
}

extension FileCheck {
  /// Checks that LMDB 0.9 wrote a meta page, with our page size and without special flags.
  static func checkIdentity(_ meta: MetaPage) throws(FileDamage) {
    guard meta.isMeta else {
      if meta.magic.byteSwapped == PageFormat.magic {
        throw .unsupported(reason: "it is of a machine with the other byte order")
      }
      throw .notEnvironment(reason: "page \(meta.number) is no meta page")
    }
    guard meta.version == PageFormat.version else {
      throw .unsupported(reason: "its format version is \(meta.version), not \(PageFormat.version)")
    }
    guard meta.pageSize == PageFormat.pageSize else {
      throw .unsupported(reason: "its pages have \(meta.pageSize) bytes, not \(pageSize)")
    }
    guard meta.freeList.flags == PageFormat.integerKeys, meta.main.flags == 0 else {
      let flags = "\(meta.freeList.flags.hexadecimal) and \(meta.main.flags.hexadecimal)"
      throw .unsupported(reason: "meta page \(meta.number) has the flags \(flags)")
    }
  }

  /// Checks that everything that a meta page points to can exist.
  static func checkBounds(_ meta: MetaPage, pagesInFile: UInt64) throws(FileDamage) {
    func damaged(_ reason: String) -> FileDamage { .damaged(page: meta.number, reason: reason) }
    // Missing pages are in the free list, which has at most 512 numbers per page.
    let (limit, overflow) = pagesInFile.multipliedReportingOverflow(by: 513)
    guard !overflow, meta.lastPage >= PageFormat.metaPages - 1, meta.lastPage < limit else {
      throw damaged("it says that \(meta.lastPage) is the last page of \(pagesInFile) in the file")
    }
    // 2^48 bytes are more than any machine maps, and page numbers in branches have 48 bits.
    guard meta.mapSize <= 1 << 48, meta.mapSize / UInt64(pageSize) > meta.lastPage else {
      throw damaged("its map has \(meta.mapSize) bytes, for \(meta.lastPage) pages")
    }
    for (name, tree) in [("free list", meta.freeList), ("main table", meta.main)] {
      if let reason = tree.fault(lastPage: meta.lastPage) { throw damaged("\(name): \(reason)") }
      guard tree.isEmpty || tree.root < pagesInFile else {
        throw damaged("\(name): the root, page \(tree.root), lies after the end of the file")
      }
    }
  }

  /// The reason why two meta pages cannot belong together; nil if they can. Transaction *n* writes
  /// page *n* & 1, so they always hold consecutive numbers, except in a file without transactions.
  static func mismatch(_ first: MetaPage, _ second: MetaPage) -> String? {
    let (even, odd) = (first.transactionID, second.transactionID)
    let succeed = even.isMultiple(of: 2) && (even &+ 1 == odd || (odd &+ 1 == even && even > 0))
    if succeed || (even == 0 && odd == 0) { return nil }
    return "the meta pages hold the transactions \(even) and \(odd), which do not follow each other"
  }
}
