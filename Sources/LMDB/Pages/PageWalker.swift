/// Reads every page that a transaction can reach, and reports everything that LMDB could not have
/// written.
///
/// LMDB has no checksums and trusts its pages: one wrong bit in a page's structure can abort the
/// process, end it with a signal, or make it loop. This walk reads with `pread`, trusts nothing,
/// reads no page twice, and therefore ends. LMDB can safely read and write any file that it finds
/// sound. It cannot see damage inside keys and values; that is for the checksums of their owner.
///
/// It keeps two bits per page of the file, and a page per level of the tree.
///
/// A process that writes meanwhile reuses pages. Hold a read transaction of LMDB, which pins them,
/// and pass its number; or walk a file that no process writes. See ``PageFile`` for the reason why
/// opening `data.mdb` disturbs no lock.
package struct PageWalker: Sendable {
  /// The counts and findings of a walk.
  package struct Report: Sendable {
    /// The transaction whose pages were read.
    package let transactionID: UInt64
    /// The pages of the file, by its meta page; the last ones may not be in it yet.
    package let pages: UInt64
    /// The pages that the transaction reaches, with the two meta pages.
    package let used: UInt64
    /// The pages in the free list.
    package let free: UInt64
    package let freeList: TableReport
    /// The unnamed table that holds the names of all others.
    package let main: TableReport
    /// The named tables, in the order of their names.
    package let tables: [TableReport]
    /// At most ``findingsMax``, in the order in which they were found.
    package let findings: [Finding]
    /// The number of all findings, including those that are not listed.
    package let findingCount: Int

    /// True if nothing was found, so that LMDB can open this file.
    package var isSound: Bool { findingCount == 0 }
  }

  /// The numbers of pages and entries that were counted in one table.
  package struct TableReport: Equatable, Sendable {
    package let name: String
    package var depth = 0
    package var entries: UInt64 = 0
    package var branchPages: UInt64 = 0
    package var leafPages: UInt64 = 0
    package var overflowPages: UInt64 = 0

    package init(name: String) { self.name = name }
  }

  /// One thing that LMDB could not have written.
  package struct Finding: Equatable, Sendable, CustomStringConvertible {
    /// Nil if it concerns no page in particular.
    package let page: UInt64?
    package let table: String
    package let reason: String

    package var description: String {
      page.map { "\(table), page \($0): \(reason)" } ?? "\(table): \(reason)"
    }
  }

  /// The most findings, and the most tables, that are listed.
  package static let findingsMax = 100
  package static let tablesMax = 1000

  /// The meta page from which the walk starts.
  package let meta: MetaPage
  let file: PageFile
  private let pagesInFile: UInt64
  private let metaFindings: [Finding]

  /// Chooses the meta page of a transaction, or the newest that is sound.
  ///
  /// - Parameters:
  ///   - descriptor: The open data file. It stays open, and must be until the walk is over.
  ///   - transactionID: The transaction to read, one of the last two. Nil for the newest.
  /// - Throws: ``FileDamage`` if there is no such meta page, or none that is sound.
  package init(descriptor: CInt, transactionID: UInt64? = nil) throws(FileDamage) {
    try self.init(PageFile(descriptor: descriptor), transactionID)
  }

  /// Opens the file at `path`, walks it and closes it.
  ///
  /// - Throws: ``FileDamage`` as in ``init(descriptor:transactionID:)``, or `CancellationError`.
  package static func walk(
    _ path: String, transactionID: UInt64? = nil,
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool = { _, _ in true }
  ) throws -> Report {
    let file = try PageFile(path: path)
    defer { file.close() }
    return try PageWalker(file, transactionID).walk(progress: progress)
  }

  /// Reads the pages.
  ///
  /// - Parameter progress: Called from time to time with the pages accounted for and their total,
  ///   and at the end; returns false to cancel.
  /// - Returns: The counts and the findings.
  /// - Throws: `CancellationError` if `progress` returned false; damage is reported, not thrown.
  /// - Complexity: One `pread` per page in use, overflow runs counting once; about 0.1 s per 100 MB
  ///   in use once the file is cached.
  package func walk(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool = { _, _ in true }
  ) throws(CancellationError) -> Report {
    var walk = PageWalk(file: file, meta: meta, pagesInFile: pagesInFile, progress: progress)
    metaFindings.forEach { walk.report($0) }
    walk.walkFreeList()
    walk.walkMainTable()
    walk.checkAccounts()
    walk.reportProgress()
    if walk.isCancelled { throw CancellationError() }
    return Report(
      transactionID: meta.transactionID, pages: walk.used.limit, used: walk.used.count,
      free: walk.free.count, freeList: walk.freeList, main: walk.main, tables: walk.tables,
      findings: walk.findings, findingCount: walk.findingCount)
  }
}

extension PageWalker {
  private init(_ file: PageFile, _ transactionID: UInt64?) throws(FileDamage) {
    var attempts = 0
    while true {
      let metas = try MetaPages(file)
      let walker = Result { () throws(FileDamage) in
        try PageWalker(file, metas, transactionID)
      }
      attempts += 1
      // A writer may have been writing a meta page that looked damaged.
      if case .success(let walker) = walker, walker.metaFindings.isEmpty { self = walker; return }
      let isSettled = try MetaPages(file) == metas
      if isSettled || attempts == 10 { self = try walker.get(); return }
    }
  }

  private init(_ file: PageFile, _ metas: MetaPages, _ transactionID: UInt64?) throws(FileDamage) {
    let pages = try file.pageCount()
    var sound: [MetaPage] = []
    var faults: [FileDamage] = []
    var isOlderSpoiled = false
    for index in 0...1 {
      do { sound.append(try metas.checked(index, pagesInFile: pages)) } catch {
        isOlderSpoiled = isOlderSpoiled || metas.isSpoiledOlder(index)
        faults.append(error)
      }
    }
    // The remains of a failed commit do not count as damage: LMDB never follows them.
    if isOlderSpoiled && sound.count == 1 { faults.removeAll() }
    let wanted = sound.filter { transactionID == nil || $0.transactionID == transactionID }
    guard let meta = wanted.max(by: { $0.transactionID < $1.transactionID }) else {
      throw faults.first ?? .transactionGone(transactionID ?? 0)
    }
    if sound.count == 2, let reason = FileCheck.mismatch(sound[0], sound[1]) {
      faults.append(.damaged(page: nil, reason: reason))
    }
    self.meta = meta
    self.file = file
    pagesInFile = pages
    metaFindings = faults.map { Finding(page: nil, table: "meta pages", reason: $0.description) }
  }
}
