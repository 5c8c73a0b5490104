import CLMDB

/// The pages of a snapshot in the map, by their numbers.
///
/// The owner must keep the snapshot's ``SnapshotPages`` as well; this structure counts no
/// reference, since a walk uses it for each entry.
@safe struct MappedPages {
  private let start: UnsafeRawPointer
  /// The first page number that is not in the file.
  let limit: UInt64
  /// A neighbor with a longer value is not checked: that would cost more than the lookup.
  private static let checkedValueMax = 1 << 14

  init(start: UnsafeRawPointer, limit: UInt64) {
    unsafe self.start = unsafe start
    self.limit = limit
  }

  /// A branch or leaf page.
  @inline(__always)
  func page(_ number: UInt64, isBranch: Bool) throws(StorageError) -> MappedPage {
    guard number &- PageFormat.metaPages < limit &- PageFormat.metaPages else {
      throw MappedPage.fault(number, "there is no such page")
    }
    let place = unsafe start + Int(number) &* PageFormat.pageSize
    return unsafe try MappedPage(at: place, number, isBranch: isBranch)
  }

  /// Asks the processor to load the beginning of a page: its header and the places of its nodes.
  @inline(__always)
  func prefetch(_ number: UInt64) { prefetch(number, lines: 0..<2) }

  /// The processor loads memory in lines, of which a page has so many.
  static let linesCount = PageFormat.pageSize / lineSize
  private static let lineSize = 64

  /// Asks the processor to load some lines of a page, as far as it has them.
  @inline(__always)
  func prefetch(_ number: UInt64, lines: Range<Int>) {
    guard number < limit else { return }
    let place = unsafe start + Int(number) &* PageFormat.pageSize
    for line in lines where line < MappedPages.linesCount {
      unsafe cambium_prefetch(place + line &* MappedPages.lineSize)
    }
  }

  /// The root of a tree that is not empty.
  ///
  /// A page may be an older form of itself, and all its checksums are right then. Of a small tree
  /// the summary tells how many nodes the root has, which mostly shows it.
  @inline(__always)
  func root(of tree: TreeSummary) throws(StorageError) -> MappedPage {
    let root = try page(tree.root, isBranch: tree.depth > 1)
    if tree.depth > 2 { return root }
    guard UInt64(root.count) == (tree.depth == 1 ? tree.entries : tree.leafPages) else {
      throw root.fault("it has not as many nodes as its table says")
    }
    return root
  }

  /// The leaf on which a key is, or would be.
  @inline(__always)
  func locate(
    _ key: UnsafeRawBufferPointer, in tree: TreeSummary
  ) throws(StorageError) -> (leaf: MappedPage, index: Int, isExact: Bool) {
    var leaf = try root(of: tree)
    var level = tree.depth
    while level > 1 {
      level &-= 1
      leaf = try page(try leaf.child(unsafe leaf.way(to: key)), isBranch: level > 1)
    }
    let (index, isExact) = unsafe try leaf.lowerBound(key, from: 0, isAhead: true)
    return (leaf, index, isExact)
  }

  /// An entry of a leaf, its seal included.
  @inline(__always)
  func entry(
    _ leaf: MappedPage, _ index: Int
  ) throws(StorageError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let (flags, key, size) = unsafe try leaf.entry(index)
    guard let place = unsafe key.baseAddress.map({ unsafe $0 + key.count }) else {
      throw leaf.fault("an entry has no key")
    }
    if flags == 0 { return unsafe (key, UnsafeRawBufferPointer(start: place, count: size)) }
    guard flags == PageFormat.NodeFlags.overflow else {
      throw leaf.fault("a node has the flags \(flags.hexadecimal)")
    }
    let number = unsafe place.loadUnaligned(as: UInt64.self)
    return unsafe (key, try overflow(number, size))
  }

  /// A value that is stored in pages of its own.
  private func overflow(
    _ number: UInt64, _ size: Int
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let needed = PageFormat.overflowPages(for: size)
    guard number >= PageFormat.metaPages, number < limit, needed <= limit - number else {
      throw MappedPage.fault(number, "there is no such page")
    }
    let page = unsafe start + Int(number) &* PageFormat.pageSize
    guard unsafe page.loadUnaligned(as: UInt64.self) == number,
      unsafe page.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        == PageFormat.PageFlags.overflow,
      unsafe UInt64(page.loadUnaligned(fromByteOffset: 12, as: UInt32.self)) >= needed
    else { throw MappedPage.fault(number, "its header is damaged") }
    return unsafe UnsafeRawBufferPointer(start: page + PageFormat.headerSize, count: size)
  }

  /// Checks the checksum of an entry that is only passed.
  @inline(__always)
  func checkSeal(_ leaf: MappedPage, _ index: Int, _ table: Table) throws(StorageError) {
    if table.seal == .none { return }
    let (key, value) = unsafe try entry(leaf, index)
    if value.count > MappedPages.checkedValueMax { return }
    guard unsafe table.seal.holds(key, value) else { throw Seal.broken() }
  }
}
