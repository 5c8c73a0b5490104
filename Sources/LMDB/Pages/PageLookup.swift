/// Looks entries up with `pread`, to find out which database a file belongs to, and that LMDB can
/// look them up, before LMDB opens it.
///
/// It reads a page for each level of a tree, and checks each as ``PageWalker`` does.
package enum PageLookup {
  /// A value that is stored in a leaf; a longer one, in pages of its own, counts as absent.
  ///
  /// - Parameters:
  ///   - path: The path of the data file.
  ///   - table: The table's name.
  ///   - key: The entry's key.
  /// - Returns: The value as of the newest transaction, or nil if there is no such entry.
  /// - Throws: ``FileDamage``, as ``FileCheck/check(_:)`` does, and for a damaged page on the way.
  package static func value(
    in path: String, table: String, key: String
  ) throws(FileDamage) -> [UInt8]? {
    let file = try PageFile(path: path)
    defer { file.close() }
    return try FileCheck.settled(file) { () throws(FileDamage) in
      let meta = try FileCheck.check(file)
      let found: [UInt8]?
      do throws(PageFault) {
        found = try value(file, meta, Array(table.utf8), Array(key.utf8))
      } catch {
        throw FileDamage(error)
      }
      // A writer may have reused a page during this walk, and the entry was missed only for that.
      if found == nil {
        let now = try FileCheck.check(file)
        if now != meta { throw .transactionGone(meta.transactionID) }
      }
      return found
    }
  }

  /// Checks a file, the way to its tables, and the first page of each: all that LMDB reads when it
  /// opens them. A missing table does not count as damage.
  ///
  /// - Returns: The newest meta page.
  /// - Throws: ``FileDamage``.
  static func check(_ tables: [String], in path: String) throws(FileDamage) -> MetaPage {
    let file = try PageFile(path: path)
    defer { file.close() }
    return try FileCheck.settled(file) { () throws(FileDamage) in
      let meta = try FileCheck.check(file)
      do throws(PageFault) {
        for name in tables { try checkTable(Array(name.utf8), file, meta) }
      } catch {
        throw FileDamage(error)
      }
      return meta
    }
  }

  private static func checkTable(
    _ name: [UInt8], _ file: PageFile, _ meta: MetaPage
  ) throws(PageFault) {
    guard let (page, node) = try find(name, meta.main, file) else { return }
    // LMDB crashes on an entry that is not a table, or is one of another kind.
    guard node.flags == PageFormat.NodeFlags.summary, node.data.count == PageFormat.summarySize
    else {
      let flags = node.flags.hexadecimal
      throw page.fault("a table's entry has \(node.data.count) bytes and the flags \(flags)")
    }
    let tree = try TreeSummary(page, at: node.data.lowerBound)
    if tree.flags != 0 { throw page.fault("a table has the flags \(tree.flags.hexadecimal)") }
    if let reason = tree.fault(lastPage: meta.lastPage) { throw page.fault(reason) }
    if tree.isEmpty { return }
    _ = try file.page(tree.root).checkedNodes(isBranch: tree.depth > 1, order: .bytes)
  }

  /// Checks the pages on the way to a table's last entry, and those of the entry: the newest
  /// transactions wrote them, and a crash of the system may have left them torn.
  ///
  /// - Parameters:
  ///   - path: The path of the data file.
  ///   - table: The table's name; a missing table has no end to check.
  /// - Throws: ``FileDamage``, as ``value(in:table:key:)`` does.
  /// - Complexity: a page for each level of two trees, and one for a long entry.
  package static func checkEnd(of path: String, table: String) throws(FileDamage) {
    let file = try PageFile(path: path)
    defer { file.close() }
    try FileCheck.settled(file) { () throws(FileDamage) in
      let meta = try FileCheck.check(file)
      let pages = try file.pageCount()
      do throws(PageFault) {
        guard let tree = try summary(file, meta, Array(table.utf8)), !tree.isEmpty else { return }
        try checkEnd(of: tree, file, pages)
      } catch {
        throw FileDamage(error)
      }
    }
  }

  private static func checkEnd(
    of tree: TreeSummary, _ file: PageFile, _ pages: UInt64
  ) throws(PageFault) {
    var number = tree.root
    for _ in 1..<tree.depth {
      let page = try file.page(number)
      let nodes = try page.checkedNodes(isBranch: true, order: .bytes)
      number = nodes[nodes.endIndex - 1].child
    }
    let leaf = try file.page(number)
    let nodes = try leaf.checkedNodes(isBranch: false, order: .bytes)
    guard let last = nodes.last, last.flags & PageFormat.NodeFlags.overflow != 0 else { return }
    let start = try leaf.u64(last.data.lowerBound)
    let header = try file.page(start, count: PageFormat.headerSize)
    try header.checkHeader(flags: PageFormat.PageFlags.overflow)
    let needed = PageFormat.overflowPages(for: last.valueSize)
    guard try UInt64(header.overflowPages) >= needed, start < pages, needed <= pages - start else {
      throw header.fault("its pages do not hold the entry of \(last.valueSize) bytes")
    }
  }

  private static func value(
    _ file: PageFile, _ meta: MetaPage, _ table: [UInt8], _ key: [UInt8]
  ) throws(PageFault) -> [UInt8]? {
    guard let summary = try summary(file, meta, table) else { return nil }
    guard let (leaf, entry) = try find(key, summary, file), entry.flags == 0 else { return nil }
    return Array(leaf.bytes[entry.data])
  }

  /// A table's tree, as the main table describes it; nil if there is no such table.
  static func summary(
    _ file: PageFile, _ meta: MetaPage, _ table: [UInt8]
  ) throws(PageFault) -> TreeSummary? {
    guard let (page, node) = try find(table, meta.main, file),
      node.flags == PageFormat.NodeFlags.summary, node.data.count == PageFormat.summarySize
    else { return nil }
    let summary = try TreeSummary(page, at: node.data.lowerBound)
    if let reason = summary.fault(lastPage: meta.lastPage) { throw page.fault(reason) }
    return summary
  }

  /// The leaf's node that has a key.
  private static func find(
    _ key: [UInt8], _ tree: TreeSummary, _ file: PageFile
  ) throws(PageFault) -> (RawPage, PageNode)? {
    if tree.isEmpty { return nil }
    var number = tree.root
    for _ in 1..<tree.depth {
      let page = try file.page(number)
      let nodes = try page.checkedNodes(isBranch: true, order: .bytes)
      // A branch's first key is ignored: all that sorts before the second is below the first.
      let next = nodes.dropFirst().firstIndex { key[...].isKey(before: page.bytes[$0.key], .bytes) }
      number = nodes[(next ?? nodes.endIndex) - 1].child
    }
    let leaf = try file.page(number)
    let nodes = try leaf.checkedNodes(isBranch: false, order: .bytes)
    return nodes.first { leaf.bytes[$0.key].elementsEqual(key) }.map { (leaf, $0) }
  }
}
