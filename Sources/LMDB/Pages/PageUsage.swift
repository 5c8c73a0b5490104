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
    package let tree: TreeSummary
    package var bytes: UInt64 { tree.bytes }
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
    tables = try FileDamage.ofPages { () throws(PageFault) in
      try PageUsage.tables(walker.file, meta)
    }
    let pageBytes = UInt64(PageFormat.pageSize)
    bytes = (meta.lastPage + 1) * pageBytes
    structureBytes = PageFormat.metaPages * pageBytes + meta.main.bytes + meta.freeList.bytes
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
          } else if let tree = try node.table(in: page, lastPage: meta.lastPage) {
            let name = String(decoding: page.bytes[node.key], as: UTF8.self)
            tables.append(Table(name: name, tree: tree))
          } else {
            throw page.fault("the main table has an entry that is no table")
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
