/// The use of the pages of a data file, according to its meta page and its main table.
///
///     file = meta pages + main table + free list + tables + free pages + all after the last one
///
/// Every page is in use or free, which ``PageWalker/walk(progress:)`` checks; so the free ones need
/// not be counted, and only the pages of the main table are read.
package struct PageUsage: Equatable, Sendable {
  /// One named table.
  package struct Table: Equatable, Sendable {
    package let name: String
    package let entries: UInt64
    package let depth: Int
    package let branchPages: UInt64
    package let leafPages: UInt64
    package let overflowPages: UInt64

    /// The bytes of all its pages.
    package var bytes: UInt64 {
      (branchPages + leafPages + overflowPages) * UInt64(PageFormat.pageSize)
    }
  }

  /// The named tables, in the order of their names.
  package let tables: [Table]
  /// The bytes of the meta pages, the main table and the free list.
  package let structureBytes: UInt64
  /// The bytes of all pages, by the meta page; the last ones, all free, may be missing from the
  /// file.
  package let bytes: UInt64

  /// The bytes of the pages that are in use.
  package var usedBytes: UInt64 { tables.reduce(structureBytes) { $0 + $1.bytes } }

  /// Opens a file that no process writes, and reads its newest moment.
  ///
  /// - Throws: ``FileDamage``.
  package init(of path: String) throws(FileDamage) {
    let file = try PageFile(path: path)
    defer { file.close() }
    try self.init(PageWalker(descriptor: file.descriptor))
  }

  /// Reads the moment of an open transaction, which keeps the pages unchanged.
  ///
  /// - Throws: ``FileDamage``.
  package init(_ walker: PageWalker) throws(FileDamage) {
    let meta = walker.meta
    do throws(PageFault) {
      tables = try PageUsage.tables(walker.file, meta)
    } catch {
      throw FileDamage(error)
    }
    let pageBytes = UInt64(PageFormat.pageSize)
    bytes = (meta.lastPage + 1) * pageBytes
    structureBytes =
      (PageFormat.metaPages + meta.main.pageCount + meta.freeList.pageCount) * pageBytes
  }

  /// Reads the main table, level by level.
  private static func tables(_ file: PageFile, _ meta: MetaPage) throws(PageFault) -> [Table] {
    var tables: [Table] = []
    var level = meta.main.isEmpty ? [] : [meta.main.root]
    for depth in 1...max(meta.main.depth, 1) {
      let isBranch = depth < meta.main.depth
      var next: [UInt64] = []
      for number in level {
        let page = try file.page(number)
        for node in try page.checkedNodes(isBranch: isBranch, order: .bytes) {
          if isBranch {
            next.append(node.child)
          } else {
            tables.append(try Table(node, page, lastPage: meta.lastPage))
          }
        }
        guard next.count <= PageWalker.tablesMax, tables.count <= PageWalker.tablesMax else {
          throw page.fault("there are too many tables")
        }
      }
      level = next
    }
    return tables
  }
}

extension PageUsage.Table {
  fileprivate init(_ node: PageNode, _ page: RawPage, lastPage: UInt64) throws(PageFault) {
    guard node.flags == PageFormat.NodeFlags.summary, node.data.count == PageFormat.summarySize
    else { throw page.fault("the main table has an entry that is no table") }
    let summary = try TreeSummary(page, at: node.data.lowerBound)
    if let reason = summary.fault(lastPage: lastPage) { throw page.fault(reason) }
    name = String(decoding: page.bytes[node.key], as: UTF8.self)
    entries = summary.entries
    depth = summary.depth
    branchPages = summary.branchPages
    leafPages = summary.leafPages
    overflowPages = summary.overflowPages
  }
}

extension TreeSummary {
  fileprivate var pageCount: UInt64 { branchPages + leafPages + overflowPages }
}
