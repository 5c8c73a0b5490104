// The walk's handling of a leaf's entries.

extension PageWalk {
  /// Follows the reference of a leaf's node: an overflow run, a table, or the pages that it frees.
  mutating func visitLeaf(
    _ node: PageNode, of page: RawPage, _ tree: WalkedTree, _ counted: inout TableReport
  ) {
    do throws(PageFault) {
      switch (node.flags, tree.kind) {
      case (0, .freeList): try readFreePages(node, of: page, start: nil)
      case (0, _): break
      case (PageFormat.NodeFlags.overflow, let kind):
        let run = try claimOverflow(node, of: page, &counted)
        if kind == .freeList { try readFreePages(node, of: page, start: run) }
      case (PageFormat.NodeFlags.summary, .main): try walkTable(node, of: page)
      default:
        throw page.fault(
          "a node has the flags \(node.flags.hexadecimal), which we do not support here")
      }
    } catch {
      report(error, in: tree)
    }
  }

  /// - Returns: The first page of the run.
  private mutating func claimOverflow(
    _ node: PageNode, of page: RawPage, _ counted: inout TableReport
  ) throws(PageFault) -> UInt64 {
    let start = try page.u64(node.data.lowerBound)
    // The first page is claimed before its header is read, the others afterwards.
    try claim(start)
    let header = try file.page(start, count: PageFormat.headerSize)
    try header.checkHeader(flags: PageFormat.PageFlags.overflow)
    let pages = UInt64(try header.overflowPages)
    // There may be more than needed: LMDB keeps the run if a value shrinks within a transaction.
    guard pages >= PageFormat.overflowPages(for: node.valueSize) else {
      throw header.fault("\(pages) pages do not hold the value of \(node.valueSize) bytes")
    }
    if pages > 1 { try claim(start + 1, count: pages - 1) }
    counted.overflowPages += pages
    return start
  }

  private mutating func walkTable(_ node: PageNode, of page: RawPage) throws(PageFault) {
    guard node.data.count == PageFormat.summarySize else {
      throw page.fault("a table's summary has \(node.data.count) bytes")
    }
    let name = String(decoding: page.bytes[node.key], as: UTF8.self)
    func fault(_ reason: String) -> PageFault { page.fault("table \(name): \(reason)") }
    guard tables.count < PageWalker.tablesMax else { throw fault("there are too many tables") }
    let summary = try TreeSummary(page, at: node.data.lowerBound)
    guard summary.flags == 0 else {
      throw fault("its flags are \(summary.flags.hexadecimal), which we do not support")
    }
    if let reason = summary.fault(lastPage: meta.lastPage) { throw fault(reason) }
    tables.append(walk(WalkedTree(name: name, kind: .named, summary: summary)))
  }
}

extension PageWalk {
  /// Reads an entry of the free list: its pages, descending, from the leaf or from its overflow
  /// run.
  private mutating func readFreePages(
    _ node: PageNode, of page: RawPage, start run: UInt64?
  ) throws(PageFault) {
    let transaction = page.bytes[node.key].littleEndianNumber
    guard transaction <= meta.transactionID else {
      throw page.fault("it has free pages of transaction \(transaction), which is still to come")
    }
    guard node.valueSize >= 8, node.valueSize.isMultiple(of: 8) else {
      throw page.fault("the list of transaction \(transaction) has \(node.valueSize) bytes")
    }
    // In a run, the numbers start in its first page, after the header.
    let offset = run == nil ? node.data.lowerBound : PageFormat.pageSize + PageFormat.headerSize
    var numbers = FreeNumbers(file: file, page: page, offset: offset, run: run)
    // LMDB may have reserved more room than it then needed.
    let count = try numbers.next()
    guard count < UInt64(node.valueSize / 8) else {
      throw page.fault("the list of transaction \(transaction) is said to have \(count) pages")
    }
    var previous = UInt64.max
    for _ in 0..<count {
      if isCancelled { return }
      let number = try numbers.next()
      guard number < previous else {
        throw page.fault("the list of transaction \(transaction) is not in descending order")
      }
      previous = number
      try addFree(number, transaction, page)
    }
  }

  private mutating func addFree(
    _ number: UInt64, _ transaction: UInt64, _ page: RawPage
  ) throws(PageFault) {
    let entry = "page \(number) in the list of transaction \(transaction)"
    guard number >= PageFormat.metaPages, number <= meta.lastPage else {
      throw page.fault("there is no \(entry)")
    }
    guard !used.contains(number) else { throw page.fault("\(entry) is in use") }
    guard free.insert(number) else { throw page.fault("\(entry) is free twice") }
    reportProgressNowAndThen()
  }
}

/// The numbers of a free list's entry, page by page: an entry may be too large for memory.
private struct FreeNumbers {
  let file: PageFile
  var page: RawPage
  var offset: Int
  /// The overflow page to read next; nil if the numbers are in the leaf.
  var run: UInt64?

  /// The next number; the caller knows that there is one.
  mutating func next() throws(PageFault) -> UInt64 {
    if let number = run, offset >= PageFormat.pageSize {
      page = try file.page(number)
      offset &-= PageFormat.pageSize
      run = number + 1
    }
    defer { offset += 8 }
    return try page.u64(offset)
  }
}
