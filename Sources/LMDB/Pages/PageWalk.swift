/// One walk over a data file: the pages that were seen, and the damage that was found.
///
/// Invariants:
/// 1. A page is read only after ``claim(_:)`` has claimed it, and it can be claimed once. So cycles
///    and shared pages end the descent instead of repeating it.
/// 2. The descent is as long as the tree's depth, 32 levels at most; leaves are only at its end.
struct PageWalk {
  typealias TableReport = PageWalker.TableReport
  typealias Finding = PageWalker.Finding

  let file: PageFile
  let meta: MetaPage
  let pagesInFile: UInt64
  private(set) var progress: WalkProgress

  var used: PageSet
  var free: PageSet
  var freeList = TableReport(name: "free list")
  var main = TableReport(name: "main table")
  var tables: [TableReport] = []

  private(set) var findings: [Finding] = []
  private(set) var findingCount = 0

  init(
    file: PageFile, meta: MetaPage, pagesInFile: UInt64,
    progress: @escaping (UInt64, UInt64) -> Bool
  ) {
    self.file = file
    self.meta = meta
    self.pagesInFile = pagesInFile
    self.progress = WalkProgress(receive: progress)
    used = PageSet(limit: meta.lastPage + 1)
    free = PageSet(limit: meta.lastPage + 1)
    for page in 0..<PageFormat.metaPages { _ = used.insert(page) }
  }

  mutating func walkFreeList() {
    freeList = walk(WalkedTree(name: freeList.name, kind: .freeList, summary: meta.freeList))
  }

  /// Walks the main table, and every named table when its name is found.
  mutating func walkMainTable() {
    main = walk(WalkedTree(name: main.name, kind: .main, summary: meta.main))
  }

  /// Checks that every page is either used or free. If other damage was found, pages below it are
  /// necessarily missing here, and nothing more is reported.
  mutating func checkAccounts() {
    guard findingCount == 0, !isCancelled, used.count + free.count != used.limit else { return }
    let lost = used.limit - used.count - free.count
    report(
      Finding(
        page: used.firstMissing(alsoFrom: free), table: "file",
        reason: "\(lost) pages, this one the first, are neither in use nor free"))
  }

  mutating func report(_ finding: Finding) {
    findingCount += 1
    if findings.count < PageWalker.findingsMax { findings.append(finding) }
  }

  mutating func report(_ fault: PageFault, in tree: WalkedTree) {
    report(Finding(page: fault.page, table: tree.name, reason: fault.reason))
  }

  var isCancelled: Bool { progress.isCancelled }

  mutating func reportProgress() { progress.report(used.count + free.count, of: used.limit) }

  mutating func reportProgressNowAndThen() {
    if used.count + free.count >= progress.next { reportProgress() }
  }

  /// Marks pages as used.
  mutating func claim(_ first: UInt64, count: UInt64 = 1) throws(PageFault) {
    func fault(_ reason: String) -> PageFault { PageFault(page: first, reason: reason) }
    guard first >= PageFormat.metaPages, first <= meta.lastPage else {
      throw fault("there is no such page; the last is \(meta.lastPage)")
    }
    guard first < pagesInFile, count <= pagesInFile - first, count <= used.limit - first else {
      throw fault("it lies after the end of the file, which has \(pagesInFile) pages")
    }
    for page in first..<(first + count) {
      guard !free.contains(page) else { throw fault("page \(page) is in use and in the free list") }
      guard used.insert(page) else { throw fault("page \(page) is used twice") }
      reportProgressNowAndThen()
      guard !isCancelled else { return }
    }
  }
}

/// A tree to walk.
struct WalkedTree {
  enum Kind { case freeList, main, named }

  let name: String
  let kind: Kind
  let summary: TreeSummary

  var order: KeyOrder { kind == .freeList ? .numbers : .bytes }
}

/// A branch page on the path of the descent.
private struct Branch {
  let page: RawPage
  let nodes: [PageNode]
  let bounds: KeyBounds
  var next = 0

  /// The keys between which all of a child's keys lie.
  func bounds(of index: Int) -> KeyBounds { bounds.child(index, nodes, page) }
}

/// The bounds of keys, from `lower` up to but not including `upper`; nil is no bound.
struct KeyBounds {
  let lower: ArraySlice<UInt8>?
  let upper: ArraySlice<UInt8>?

  /// The bounds of the keys below a node of a branch that has these bounds.
  func child(_ index: Int, _ nodes: [PageNode], _ page: RawPage) -> KeyBounds {
    KeyBounds(
      lower: index > 0 ? page.bytes[nodes[index].key] : lower,
      upper: index + 1 < nodes.count ? page.bytes[nodes[index + 1].key] : upper)
  }

  func check(_ nodes: ArraySlice<PageNode>, of page: RawPage, _ order: KeyOrder) throws(PageFault) {
    guard let first = nodes.first, let last = nodes.last else { return }
    if let lower, page.bytes[first.key].isKey(before: lower, order) {
      throw page.fault("its first key is less than the branch above says")
    }
    if let upper, !page.bytes[last.key].isKey(before: upper, order) {
      throw page.fault("its last key is greater than the branch above says")
    }
  }
}

extension PageWalk {
  /// Walks one tree, in key order, and compares its counts with its summary.
  mutating func walk(_ tree: WalkedTree) -> TableReport {
    var counted = TableReport(name: tree.name)
    counted.depth = tree.summary.depth
    let findingsBefore = findingCount
    if !tree.summary.isEmpty {
      var path: [Branch] = []
      visit(tree.summary.root, KeyBounds(lower: nil, upper: nil), tree, &path, &counted)
      while let top = path.indices.last, !isCancelled {
        let index = path[top].next
        guard index < path[top].nodes.count else {
          path.removeLast()
          continue
        }
        path[top].next += 1
        visit(path[top].nodes[index].child, path[top].bounds(of: index), tree, &path, &counted)
      }
    }
    if findingCount == findingsBefore, !isCancelled { compare(counted, tree) }
    return counted
  }

  /// Reads one page: a branch joins the path, a leaf is finished at once.
  private mutating func visit(
    _ number: UInt64, _ bounds: KeyBounds, _ tree: WalkedTree, _ path: inout [Branch],
    _ counted: inout TableReport
  ) {
    do {
      try claim(number)
      let page = try file.page(number)
      let isBranch = path.count + 1 < tree.summary.depth
      let nodes = try page.checkedNodes(isBranch: isBranch, order: tree.order)
      // A branch's first key is ignored.
      try bounds.check(nodes.dropFirst(isBranch ? 1 : 0), of: page, tree.order)
      if isBranch {
        counted.branchPages += 1
        path.append(Branch(page: page, nodes: nodes, bounds: bounds))
      } else {
        counted.leafPages += 1
        counted.entries += UInt64(nodes.count)
        for node in nodes { visitLeaf(node, of: page, tree, &counted) }
      }
    } catch {
      report(error, in: tree)
    }
  }

  private mutating func compare(_ counted: TableReport, _ tree: WalkedTree) {
    let summary = tree.summary
    for (what, found, noted) in [
      ("entries", counted.entries, summary.entries),
      ("branch pages", counted.branchPages, summary.branchPages),
      ("leaf pages", counted.leafPages, summary.leafPages),
      ("overflow pages", counted.overflowPages, summary.overflowPages),
    ] where found != noted {
      let root = summary.isEmpty ? nil : summary.root
      let reason = "it has \(found) \(what), but \(noted) are noted"
      report(Finding(page: root, table: tree.name, reason: reason))
    }
  }
}
