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
    try FileCheck.reading(path) { (file, meta) throws(FileDamage) in
      let found = try FileDamage.ofPages { () throws(PageFault) in
        try value(file, meta, Array(table.utf8), Array(key.utf8))
      }
      // A writer may have reused a page during this walk, and the entry was missed only for that.
      if found == nil, try FileCheck.check(file) != meta {
        throw .transactionGone(meta.transactionID)
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
    try FileCheck.reading(path) { (file, meta) throws(FileDamage) in
      try FileDamage.ofPages { () throws(PageFault) in
        for name in tables { try checkTable(Array(name.utf8), file, meta) }
      }
      return meta
    }
  }

  private static func checkTable(
    _ name: [UInt8], _ file: PageFile, _ meta: MetaPage
  ) throws(PageFault) {
    guard let (page, node) = try find(name, meta.main, file) else { return }
    // LMDB crashes on an entry that is not a table, or is one of another kind.
    guard let tree = try node.table(in: page, lastPage: meta.lastPage) else {
      let flags = node.flags.hexadecimal
      throw page.fault("a table's entry has \(node.data.count) bytes and the flags \(flags)")
    }
    if tree.flags != 0 { throw page.fault("a table has the flags \(tree.flags.hexadecimal)") }
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
    try FileCheck.reading(path) { (file, meta) throws(FileDamage) in
      let pages = try file.pageCount()
      try FileDamage.ofPages { () throws(PageFault) in
        guard let tree = try summary(file, meta, Array(table.utf8)), !tree.isEmpty else { return }
        try checkEnd(of: tree, file, pages)
      }
    }
  }

  private static func checkEnd(
    of tree: TreeSummary, _ file: PageFile, _ pages: UInt64
  ) throws(PageFault) {
    let (leaf, nodes) = try descend(tree, file) { nodes, _ in nodes.count - 1 }
    guard let last = nodes.last, last.flags & PageFormat.NodeFlags.overflow != 0 else { return }
    _ = try file.checkOverflow(at: leaf.u64(last.data.lowerBound), of: last, limit: pages)
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
    guard let (page, node) = try find(table, meta.main, file) else { return nil }
    return try node.table(in: page, lastPage: meta.lastPage)
  }

  /// The leaf's node that has a key.
  private static func find(
    _ key: [UInt8], _ tree: TreeSummary, _ file: PageFile
  ) throws(PageFault) -> (RawPage, PageNode)? {
    if tree.isEmpty { return nil }
    let (leaf, nodes) = try descend(tree, file) { nodes, page in
      // A branch's first key is ignored: all that sorts before the second is below the first.
      let next = nodes.dropFirst().firstIndex { key[...].isKey(before: page.bytes[$0.key], .bytes) }
      return (next ?? nodes.endIndex) - 1
    }
    return nodes.first { leaf.bytes[$0.key].elementsEqual(key) }.map { (leaf, $0) }
  }

  /// The leaf to which `choose` leads: it chooses the way at each branch, from the root on.
  private static func descend(
    _ tree: TreeSummary, _ file: PageFile, _ choose: ([PageNode], RawPage) -> Int
  ) throws(PageFault) -> (RawPage, [PageNode]) {
    var number = tree.root
    for _ in 1..<tree.depth {
      let page = try file.page(number)
      let nodes = try page.checkedNodes(isBranch: true, order: .bytes)
      number = nodes[choose(nodes, page)].child
    }
    let leaf = try file.page(number)
    return (leaf, try leaf.checkedNodes(isBranch: false, order: .bytes))
  }
}
