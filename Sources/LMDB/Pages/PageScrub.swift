/// Reads a part of a table with `pread`, and checks everything in it that can be checked: each page
/// as ``PageWalker`` does, the bounds that the pages above give it, and each entry's checksum.
///
/// Unlike a whole walk it can begin after any key, and ends after a given number of bytes. So a
/// large table can be read little by little, without pinning a moment for long. An I/O error is
/// thrown as an error here, and raises no signal.
package struct PageScrub {
  /// The part of a table that was read.
  package struct ScrubbedPages: Sendable {
    /// The last key that was read; nil at the end of the table.
    package let last: [UInt8]?
    /// The number of bytes that were read.
    package let bytes: Int
  }

  private let file: PageFile
  private let table: Table
  private let budget: Int
  private var bytes = 0
  private var last: [UInt8]?

  /// Reads the entries after a key.
  ///
  /// - Parameters:
  ///   - environment: The environment whose pages are read.
  ///   - name: The table's name.
  ///   - table: The table, which determines the protection of its entries.
  ///   - key: The key after which to begin; nil begins with the first.
  ///   - budget: The number of bytes after which no further page is begun.
  ///   - visit: Takes each entry, its seal included.
  /// - Returns: The part that was read.
  /// - Throws: ``FileDamage``, any error that `visit` throws, ``StorageError``.
  package static func run(
    _ environment: Environment, _ name: String, _ table: Table, behind key: [UInt8]?, budget: Int,
    _ visit: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) throws -> ScrubbedPages {
    try environment.pinned { _, walker in
      var scrub = PageScrub(file: walker.file, table: table, budget: budget)
      return try scrub.run(walker.meta, Array(name.utf8), key, visit)
    }
  }

  private mutating func run(
    _ meta: MetaPage, _ name: [UInt8], _ key: [UInt8]?,
    _ visit: ([UInt8], [UInt8]) throws -> Void
  ) throws -> ScrubbedPages {
    do {
      guard let tree = try PageLookup.summary(file, meta, name) else {
        throw FileDamage.damaged(page: nil, reason: "a table is missing")
      }
      if tree.isEmpty { return ScrubbedPages(last: nil, bytes: bytes) }
      let bounds = KeyBounds(lower: nil, upper: nil)
      let isOver = try read(tree.root, tree.depth, bounds, key, visit)
      return ScrubbedPages(last: isOver ? nil : last, bytes: bytes)
    } catch let fault as PageFault {
      throw FileDamage(fault)
    }
  }

  /// - Returns: True once the page and all below it are read; false if the budget ends the walk.
  private mutating func read(
    _ number: UInt64, _ depth: Int, _ bounds: KeyBounds, _ key: [UInt8]?,
    _ visit: ([UInt8], [UInt8]) throws -> Void
  ) throws -> Bool {
    let isBranch = depth > 1
    let page = try file.page(number)
    bytes += PageFormat.pageSize
    let nodes = try page.checkedNodes(isBranch: isBranch, order: .bytes)
    try bounds.check(nodes.dropFirst(isBranch ? 1 : 0), of: page, .bytes)
    if !isBranch {
      for node in nodes { try read(node, of: page, behind: key, visit) }
      return true
    }
    for index in nodes.indices {
      let below = bounds.child(index, nodes, page)
      if let key, let upper = below.upper, !key[...].isKey(before: upper, .bytes) { continue }
      if bytes >= budget, last != nil { return false }
      if try !read(nodes[index].child, depth - 1, below, key, visit) { return false }
    }
    return true
  }

  private mutating func read(
    _ node: PageNode, of page: RawPage, behind place: [UInt8]?,
    _ visit: ([UInt8], [UInt8]) throws -> Void
  ) throws {
    let key = Array(page.bytes[node.key])
    if let place, !place[...].isKey(before: key[...], .bytes) { return }
    let value = try value(node, page)
    guard table.seal.holds(key, value) else { throw page.fault("an entry's checksum differs") }
    try visit(key, value)
    last = key
  }

  private mutating func value(_ node: PageNode, _ page: RawPage) throws(PageFault) -> [UInt8] {
    if node.flags == 0 { return Array(page.bytes[node.data]) }
    guard node.flags == PageFormat.NodeFlags.overflow else {
      throw page.fault("a node has the flags \(node.flags.hexadecimal)")
    }
    let start = try page.u64(node.data.lowerBound)
    let pages = try file.checkOverflow(at: start, of: node)
    bytes += Int(pages) * PageFormat.pageSize
    let run = try file.page(start, count: PageFormat.headerSize + node.valueSize)
    return Array(run.bytes[PageFormat.headerSize...])
  }
}
