// A cursor that moves page by page, with every bound checked; see SnapshotPages.swift.

import CLMDB

/// A place in a table of a read transaction.
@safe struct PageCursor: ~Copyable {
  /// A page on the way from the root to the leaf, and the node through which the way leads.
  @safe private struct Level {
    let page: MappedPage
    var index: Int
    /// The bounds that the branches above give the page's keys, if they do: from and up to.
    let lower: UnsafeRawBufferPointer?
    let upper: UnsafeRawBufferPointer?
  }

  private enum State { case fresh, placed, ended }

  private let pages: MappedPages
  private let table: Table
  private let tree: TreeSummary
  /// One for each level of the tree, from the root; either all levels of a way are set, or none.
  private let levels: UnsafeMutablePointer<Level>
  private var state = State.fresh
  /// The cursor's current entry, without its seal.
  private var key = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var value = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  var entry: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { unsafe (key, value) }

  /// Makes a cursor without a position. The snapshot's pages must outlive it.
  init(_ snapshot: SnapshotPages, _ table: Table) {
    pages = snapshot.pages
    self.table = table
    tree = snapshot.trees[Int(table.index)]
    unsafe levels = .allocate(capacity: max(tree.depth, 1))
  }

  deinit { unsafe levels.deallocate() }

  private var leaf: Int { tree.depth &- 1 }

  // MARK: Going somewhere

  /// Goes to the first entry at or after a key.
  ///
  /// - Returns: True if there is one.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  mutating func seek(_ wanted: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    state = .ended
    if tree.depth == 0 { return false }
    var (lower, upper): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) = (nil, nil)
    var number = tree.root
    for level in 0..<leaf {
      let branch = try level == 0 ? pages.root(of: tree) : pages.page(number, isBranch: true)
      let index = unsafe try branch.way(to: wanted)
      unsafe (levels + level).initialize(
        to: Level(page: branch, index: index, lower: lower, upper: upper))
      if index == 0 { try checkUpper(level) }
      if index == branch.count &- 1 { try checkLower(level) }
      if index > 0 { unsafe lower = unsafe try branch.key(index) }
      if index < branch.count &- 1 { unsafe upper = unsafe try branch.key(index &+ 1) }
      number = try branch.child(index)
    }
    let page = try leaf == 0 ? pages.root(of: tree) : pages.page(number, isBranch: false)
    let (index, isExact) = unsafe try page.lowerBound(wanted, from: 0)
    unsafe (levels + leaf).initialize(
      to: Level(page: page, index: index, lower: lower, upper: upper))
    if !isExact { return unsafe try settle(after: wanted) }
    state = .placed
    try load()
    return true
  }

  /// Ends a search between two entries, both of which are checked; the second becomes current.
  private mutating func settle(after wanted: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    let (page, index) = unsafe (levels[leaf].page, levels[leaf].index)
    try page.checkOrder(at: index, isBranch: false)
    if index > 0, index < page.count {
      try pages.checkSeal(page, index &- 1, table)
      state = .placed
      try load()
      try checkLoaded()
      return true
    }
    try page.checkFill(isBranch: false)
    try checkUpper(leaf)
    try checkLower(leaf)
    for level in 0..<leaf {
      // The way led through the node before this place.
      unsafe try levels[level].page.checkOrder(at: levels[level].index &+ 1, isBranch: true)
    }
    if index == 0 {
      unsafe try checkBefore(wanted)
      state = .placed
      try load()
      try checkLoaded()
      return true
    }
    try pages.checkSeal(page, index &- 1, table)
    unsafe levels[leaf].index = index &- 1
    state = .placed
    try load()
    guard try stepForward() else {
      state = .ended
      return false
    }
    guard unsafe key.order(to: wanted) > 0 else { throw page.fault("its keys are out of order") }
    try checkLoaded()
    return true
  }

  /// Checks an entry that was found in place of the one wanted: it may be that one, with a damaged
  /// key. The seals of other tables are checked with each entry.
  private func checkLoaded() throws(StorageError) {
    if table.seal != .ownLeading { return }
    unsafe try pages.checkSeal(levels[leaf].page, levels[leaf].index, table)
  }

  /// Checks the entry before the first one of a leaf.
  private mutating func checkBefore(_ wanted: UnsafeRawBufferPointer) throws(StorageError) {
    guard (0..<leaf).contains(where: { unsafe levels[$0].index > 0 }) else { return }
    guard try leave(towards: -1) else { return }
    let (page, index) = unsafe (levels[leaf].page, levels[leaf].index)
    guard unsafe try page.key(index).order(to: wanted) < 0 else {
      throw page.fault("its keys are out of order")
    }
    try pages.checkSeal(page, index, table)
    _ = try leave(towards: 1)
  }

  /// Goes to the first entry, or the last.
  mutating func goToEdge(isLast: Bool) throws(StorageError) -> Bool {
    state = .ended
    if tree.depth == 0 { return false }
    try enter(from: 0, isLast: isLast)
    state = .placed
    try load()
    return true
  }

  // MARK: Going on

  /// Goes to the next entry; to the first one, if the cursor has no position yet.
  mutating func next() throws(StorageError) -> Bool {
    switch state {
    case .fresh: return try goToEdge(isLast: false)
    case .ended: return false
    case .placed: return try stepForward()
    }
  }

  /// Goes to the previous entry; to the last one, if the cursor has no position yet.
  mutating func previous() throws(StorageError) -> Bool {
    switch state {
    case .fresh: return try goToEdge(isLast: true)
    case .ended: return false
    case .placed: return try stepBack()
    }
  }

  /// Reads the current entry, or the one that follows the last batch, and others of the same leaf.
  ///
  /// An entry that cannot be read ends a batch, so that those before it are handed out first.
  ///
  /// - Parameters:
  ///   - batch: The batch of the walk, which gets the entries.
  ///   - isReversed: True to go to the entries before.
  /// - Returns: True if there are any.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  mutating func read(
    _ batch: inout EntryBatch, isReversed: Bool
  ) throws(StorageError) -> Bool {
    guard state == .placed else { return false }
    if !batch.begin(), try !(isReversed ? stepBack() : stepForward()) { return false }
    unsafe batch.add(key, value)
    let page = unsafe levels[leaf].page
    let (step, end) = isReversed ? (-1, -1) : (1, page.count)
    var index = unsafe levels[leaf].index
    // The next leaf is loaded while this one is read, a part of it with each entry.
    let next = leafBeside(step)
    let lines = MappedPages.linesCount / max(page.count &- 1, 1) &+ 1
    while batch.hasRoom, index &+ step != end {
      do throws(StorageError) {
        let entry = unsafe try checkedEntry(page, index &+ step)
        let order = unsafe key.order(to: entry.key)
        guard isReversed ? order > 0 : order < 0 else { break }
        unsafe (key, value) = unsafe entry
      } catch { break }
      if let next {
        let part = min(index, index &+ step)
        pages.prefetch(next, lines: part &* lines..<(part &+ 1) &* lines)
      }
      index &+= step
      unsafe batch.add(key, value)
    }
    unsafe levels[leaf].index = index
    return true
  }

  /// The leaf on one side, if it is below the same branch.
  private func leafBeside(_ step: Int) -> UInt64? {
    guard leaf > 0 else { return nil }
    let above = unsafe levels[leaf &- 1]
    let index = above.index &+ step
    return index >= 0 && index < above.page.count ? try? above.page.child(index) : nil
  }

  @inline(__always)
  private mutating func stepForward() throws(StorageError) -> Bool {
    let before = unsafe key
    let index = unsafe levels[leaf].index &+ 1
    if unsafe index < levels[leaf].page.count {
      unsafe levels[leaf].index = index
    } else if try !leave(towards: 1) {
      return false
    }
    try load()
    guard unsafe before.order(to: key) < 0 else { throw outOfOrder() }
    return true
  }

  private mutating func stepBack() throws(StorageError) -> Bool {
    let before = unsafe key
    let index = unsafe levels[leaf].index
    if index > 0 {
      unsafe levels[leaf].index = index &- 1
    } else if try !leave(towards: -1) {
      return false
    }
    try load()
    guard unsafe before.order(to: key) > 0 else { throw outOfOrder() }
    return true
  }

  private func outOfOrder() -> StorageError {
    unsafe levels[leaf].page.fault("its keys are out of order")
  }

  /// Goes to the adjacent leaf: to its first entry, or backward to its last.
  ///
  /// - Returns: True if there is one; otherwise the cursor stays in place.
  private mutating func leave(towards step: Int) throws(StorageError) -> Bool {
    var level = leaf &- 1
    while level >= 0 {
      let index = unsafe levels[level].index &+ step
      if index >= 0, unsafe index < levels[level].page.count {
        unsafe levels[level].index = index
        try enter(from: level &+ 1, isLast: step < 0)
        return true
      }
      level &-= 1
    }
    return false
  }

  /// Descends from a level along an edge, and checks each page on the way.
  private mutating func enter(from first: Int, isLast: Bool) throws(StorageError) {
    for level in first...leaf {
      var (lower, upper): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) = (nil, nil)
      var number = tree.root
      if level > 0 {
        let above = unsafe levels[level &- 1]
        unsafe lower =
          above.index > 0 ? unsafe try above.page.key(above.index) : unsafe above.lower
        unsafe upper =
          above.index &+ 1 < above.page.count
          ? unsafe try above.page.key(above.index &+ 1) : unsafe above.upper
        number = try above.page.child(above.index)
      }
      let isBranch = level < leaf
      let page = try level == 0 ? pages.root(of: tree) : pages.page(number, isBranch: isBranch)
      let index = isLast ? page.count &- 1 : 0
      unsafe (levels + level).initialize(
        to: Level(page: page, index: index, lower: lower, upper: upper))
      try page.checkFill(isBranch: isBranch)
      try checkLower(level)
      try checkUpper(level)
    }
  }

  /// Checks that a page's first key is not below the bound that the branches above give it. The
  /// first key of a branch is ignored.
  private func checkLower(_ level: Int) throws(StorageError) {
    let at = unsafe levels[level]
    guard let lower = unsafe at.lower else { return }
    let first = unsafe try at.page.key(level < leaf ? 1 : 0)
    guard unsafe first.order(to: lower) >= 0 else {
      throw at.page.fault("it holds keys that belong before it")
    }
  }

  /// Checks that a page's last key is below the bound that the branches above give it.
  private func checkUpper(_ level: Int) throws(StorageError) {
    let at = unsafe levels[level]
    guard let upper = unsafe at.upper else { return }
    let last = unsafe try at.page.key(at.page.count &- 1)
    guard unsafe last.order(to: upper) < 0 else {
      throw at.page.fault("it holds keys that belong behind it")
    }
  }

  @inline(__always)
  private mutating func load() throws(StorageError) {
    let at = unsafe levels[leaf]
    unsafe (key, value) = unsafe try checkedEntry(at.page, at.index)
  }

  /// An entry without its seal.
  @inline(__always)
  private func checkedEntry(
    _ page: MappedPage, _ index: Int
  ) throws(StorageError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let entry = unsafe try pages.entry(page, index)
    let value = unsafe try table.seal.open(entry.key, entry.value)
    // Such tables are small, and a partial walk looks only at the key at which it ends.
    if table.seal == .ownTrailing, unsafe !table.seal.holds(entry.key, entry.value) {
      throw Seal.broken()
    }
    return unsafe (entry.key, value)
  }
}
