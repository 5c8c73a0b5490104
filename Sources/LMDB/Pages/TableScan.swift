/// Reads a table's entries with `pread`, in order, and continues after a damaged page.
///
/// LMDB cannot open a damaged file. This scan trusts nothing, reads no page twice, and reports for
/// each damaged page that everything below it is lost. It cannot see damage inside keys and values;
/// that is for the checksums of their owner.
///
/// No process may write meanwhile. Unlike ``PageWalker`` it does not compare a page's keys with
/// those above it; a caller that relies on their order checks it.
package struct TableScan {
  /// One step of the scan.
  package enum Step {
    case entry(key: [UInt8], value: [UInt8])
    /// A page that cannot be read, and with it everything below.
    case damage(FileDamage)
  }

  private struct Level {
    let page: RawPage
    let nodes: [PageNode]
    let isLeaf: Bool
    var next = 0
  }

  /// The number of entries that the table claims to have; no more than the file can hold.
  package let entries: UInt64
  private let opened: OpenedFile
  private let summary: TreeSummary?
  private let seal: Seal
  private var seen: PageSet
  private var path: [Level] = []
  private var hasStarted = false

  /// Opens the file at a path, and finds a table in it.
  ///
  /// - Parameters:
  ///   - path: The path of the data file.
  ///   - table: The table's name; if there is no such table the scan is empty.
  ///   - seal: The protection of the entries, which are returned without it.
  /// - Throws: ``FileDamage`` if neither meta page is sound, or the table cannot be found.
  package init(_ path: String, table: String, seal: Seal = .none) throws(FileDamage) {
    try self.init(OpenedFile(path), table, seal)
  }

  /// Finds a table in a temporary file that holds a data file.
  ///
  /// - Throws: As ``init(_:table:)-(String,_)``.
  package init(
    _ file: TemporaryFile, table: String, seal: Seal = .none
  ) throws(FileDamage) {
    try self.init(OpenedFile(file), table, seal)
  }

  private init(_ opened: OpenedFile, _ table: String, _ seal: Seal) throws(FileDamage) {
    self.opened = opened
    self.seal = seal
    let meta = try PageWalker(descriptor: opened.file.descriptor).meta
    summary = try FileDamage.ofPages { () throws(PageFault) in
      try PageLookup.summary(opened.file, meta, Array(table.utf8))
    }
    seen = PageSet(limit: meta.lastPage + 1)
    // An entry takes at least a byte, so a damaged count stays within reason.
    entries = min(summary?.entries ?? 0, (meta.lastPage + 1) * UInt64(PageFormat.pageSize))
  }

  /// The next entry, or the damage in its place; nil at the end.
  package mutating func next() -> Step? {
    do throws(PageFault) {
      if !hasStarted {
        hasStarted = true
        if let summary, !summary.isEmpty { try descend(to: summary.root) }
      }
      while let top = path.indices.last {
        let index = path[top].next
        guard index < path[top].nodes.count else {
          path.removeLast()
          continue
        }
        path[top].next += 1
        let node = path[top].nodes[index]
        if path[top].isLeaf { return try entry(node, path[top].page) }
        try descend(to: node.child)
      }
      return nil
    } catch {
      return .damage(FileDamage(error))
    }
  }

  private mutating func descend(to number: UInt64) throws(PageFault) {
    let isLeaf = path.count + 1 == summary?.depth ?? 0
    try claim(number)
    let page = try opened.file.page(number)
    let nodes = try page.checkedNodes(isBranch: !isLeaf, order: .bytes)
    path.append(Level(page: page, nodes: nodes, isLeaf: isLeaf))
  }

  private mutating func claim(_ number: UInt64) throws(PageFault) {
    guard number >= PageFormat.metaPages, number < seen.limit else {
      throw PageFault(page: number, reason: "there is no such page")
    }
    guard seen.insert(number) else { throw PageFault(page: number, reason: "it is used twice") }
  }

  private mutating func entry(_ node: PageNode, _ page: RawPage) throws(PageFault) -> Step {
    let key = Array(page.bytes[node.key])
    if node.flags == 0 {
      return .entry(key: key, value: try unsealed(Array(page.bytes[node.data]), key, page))
    }
    guard node.flags == PageFormat.NodeFlags.overflow else {
      throw page.fault("a node has the flags \(node.flags.hexadecimal)")
    }
    return .entry(key: key, value: try unsealed(try overflow(node, page), key, page))
  }

  private func unsealed(
    _ value: [UInt8], _ key: [UInt8], _ page: RawPage
  ) throws(PageFault) -> [UInt8] {
    if seal == .none { return value }
    guard seal.holds(key, value) else { throw page.fault("an entry is not what was stored") }
    return Array(value.dropLast(seal.addedCount))
  }

  /// A value that is stored in pages of its own.
  private mutating func overflow(
    _ node: PageNode, _ page: RawPage
  ) throws(PageFault) -> [UInt8] {
    let start = try page.u64(node.data.lowerBound)
    try claim(start)
    let pages = try opened.file.checkOverflow(at: start, of: node, limit: seen.limit)
    var bytes: [UInt8] = []
    for number in start..<(start + pages) {
      if number > start { try claim(number) }
      let skipped = number == start ? PageFormat.headerSize : 0
      let count = min(PageFormat.pageSize - skipped, node.valueSize - bytes.count)
      bytes += try opened.file.page(number, count: skipped + count).bytes[skipped...]
    }
    return bytes
  }
}

/// Closes a file after its last reader, or keeps a temporary one open as long.
private final class OpenedFile {
  let file: PageFile
  private let temporary: TemporaryFile?

  init(_ path: String) throws(FileDamage) {
    file = try PageFile(path: path)
    temporary = nil
  }

  init(_ temporary: TemporaryFile) throws(FileDamage) {
    file = try PageFile(descriptor: temporary.descriptor)
    self.temporary = temporary
  }

  deinit { if temporary == nil { file.close() } }
}
