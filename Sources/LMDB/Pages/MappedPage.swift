import CLMDB

/// A branch or leaf page in the map, whose contents are not trusted.
///
/// Each load is checked against the page's bounds, so that damage gives an error where LMDB would
/// follow it out of the page. The checks are a few comparisons in addition to those of the keys.
@safe struct MappedPage {
  private let start: UnsafeRawPointer
  /// The number of nodes, at least one.
  let count: Int
  /// The lowest offset at which a node may begin.
  private let upper: Int

  typealias Flags = PageFormat.PageFlags
  private static let size = PageFormat.pageSize

  /// Takes the page at `start`, if it has this number and is of this kind.
  @inline(__always)
  init(at start: UnsafeRawPointer, _ number: UInt64, isBranch: Bool) throws(StorageError) {
    let kind = unsafe start.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    let lower = Int(unsafe start.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
    upper = Int(unsafe start.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
    count = (lower &- PageFormat.headerSize) / 2
    unsafe self.start = unsafe start
    guard unsafe start.loadUnaligned(as: UInt64.self) == number,
      kind == (isBranch ? Flags.branch : Flags.leaf), count >= (isBranch ? 2 : 1),
      lower <= upper, upper <= MappedPage.size
    else { throw MappedPage.fault(number, "its header is damaged") }
  }

  /// True if both are the same page.
  @inline(__always)
  func isSame(as other: MappedPage) -> Bool { unsafe start == other.start }

  /// The page number in the header, for messages.
  private var number: UInt64 { unsafe start.loadUnaligned(as: UInt64.self) }

  @inline(never)
  static func fault(_ number: UInt64, _ reason: String) -> StorageError {
    StorageError(.corrupt, "page \(number) of the data file: \(reason)")
  }

  @inline(never)
  func fault(_ reason: String) -> StorageError { MappedPage.fault(number, reason) }

  /// The offset at which a node begins.
  @inline(__always)
  private func offset(_ index: Int) throws(StorageError) -> Int {
    let place = PageFormat.headerSize &+ 2 &* index
    let offset = Int(unsafe start.loadUnaligned(fromByteOffset: place, as: UInt16.self))
    guard offset >= upper, offset <= MappedPage.size &- PageFormat.nodeHeaderSize else {
      throw fault("node \(index) is said to be at \(offset)")
    }
    return offset
  }

  /// Asks the processor to load a node, which need not exist.
  @inline(__always)
  func prefetch(_ index: Int) {
    guard let offset = try? offset(index) else { return }
    unsafe cambium_prefetch(start + offset)
  }

  /// The key of the node at an offset.
  @inline(__always)
  private func key(at offset: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    let count = Int(unsafe start.loadUnaligned(fromByteOffset: offset &+ 6, as: UInt16.self))
    guard offset &+ PageFormat.nodeHeaderSize &+ count <= MappedPage.size else {
      throw fault("the key at \(offset) ends outside the page")
    }
    return unsafe UnsafeRawBufferPointer(
      start: start + (offset &+ PageFormat.nodeHeaderSize), count: count)
  }

  /// The key of a node.
  @inline(__always)
  func key(_ index: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    unsafe try key(at: offset(index))
  }

  /// The child page of a branch's node.
  @inline(__always)
  func child(_ index: Int) throws(StorageError) -> UInt64 {
    let offset = try offset(index)
    let low = unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let high = unsafe start.loadUnaligned(fromByteOffset: offset &+ 4, as: UInt16.self)
    return UInt64(low) | UInt64(high) << 32
  }

  /// The first node from `first` on whose key is not less than the one wanted.
  ///
  /// - Parameters:
  ///   - wanted: The key.
  ///   - first: The first node that may be it.
  ///   - isAhead: True for a page that the processor's caches probably do not hold: while it waits
  ///     for a node, both are on their way that the next step may look at.
  /// - Returns: The node, which may be behind the last one, and true if it has the key.
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  @inline(__always)
  func lowerBound(
    _ wanted: UnsafeRawBufferPointer, from first: Int, isAhead: Bool = false
  ) throws(StorageError) -> (index: Int, isExact: Bool) {
    var (low, high) = (first, count)
    while low < high {
      let middle = (low &+ high) >> 1
      if isAhead && high &- low > 2 {
        prefetch((low &+ middle) >> 1)
        prefetch((middle &+ 1 &+ high) >> 1)
      }
      let order = unsafe try key(middle).order(to: wanted)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  /// The branch's node that leads to a key. The key of the first node is ignored.
  @inline(__always)
  func way(to wanted: UnsafeRawBufferPointer) throws(StorageError) -> Int {
    let (index, isExact) = unsafe try lowerBound(wanted, from: 1)
    return isExact ? index : index &- 1
  }

  /// Checks that the keys on either side of a place ascend, where a search has ended between two
  /// keys. If damage has changed the offset of a node into that of another one, the node cannot be
  /// found, and its search ends beside the other one's key, which is out of order there.
  func checkOrder(at index: Int, isBranch: Bool) throws(StorageError) {
    if isBranch && index == 2 {
      // The first key of a branch is ignored, so the pages are compared instead.
      guard try child(0) != child(1) else { throw fault("two nodes lead to one page") }
    } else if index > 1 {
      try checkAscending(index &- 2)
    }
    if index &+ 1 < count { try checkAscending(index) }
  }

  @inline(__always)
  private func checkAscending(_ index: Int) throws(StorageError) {
    guard unsafe try key(index).order(to: key(index &+ 1)) < 0 else {
      throw fault("its keys are out of order")
    }
  }

  /// A leaf's entry as stored in the page: its flags, and its value or the reference to it.
  @inline(__always)
  func entry(
    _ index: Int
  ) throws(StorageError) -> (flags: UInt16, key: UnsafeRawBufferPointer, size: Int) {
    let offset = try offset(index)
    let key = unsafe try key(at: offset)
    let size = Int(unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    let flags = unsafe start.loadUnaligned(fromByteOffset: offset &+ 4, as: UInt16.self)
    let stored = flags & PageFormat.NodeFlags.overflow == 0 ? size : PageFormat.pageNumberSize
    guard offset &+ PageFormat.nodeHeaderSize &+ key.count &+ stored <= MappedPage.size else {
      throw fault("the value of node \(index) ends outside the page")
    }
    return unsafe (flags, key, size)
  }

  /// Checks that the nodes fill the page from `upper` to its end, as LMDB leaves them: a node that
  /// has vanished from the list, or changed its size, leaves a gap.
  func checkFill(isBranch: Bool) throws(StorageError) {
    var bytes = 0
    for index in 0..<count {
      if isBranch {
        bytes &+= PageFormat.nodeHeaderSize &+ (unsafe try key(index)).count
      } else {
        let (flags, key, size) = unsafe try entry(index)
        let isOverflow = flags & PageFormat.NodeFlags.overflow != 0
        bytes &+= PageFormat.nodeHeaderSize &+ key.count
        bytes &+= isOverflow ? PageFormat.pageNumberSize : size
      }
      bytes &+= bytes & 1
    }
    guard bytes == MappedPage.size &- upper else { throw fault("its nodes overlap, or leave gaps") }
  }
}

extension UnsafeRawBufferPointer {
  /// Less than 0 if these bytes sort before the others, 0 if they are equal.
  ///
  /// Most keys are short, and have much in common with those that they are compared with, so eight
  /// bytes at a time are compared here, without a call.
  @inlinable @inline(__always)
  public func order(to other: UnsafeRawBufferPointer) -> Int {
    guard let left = baseAddress, let right = other.baseAddress else {
      return count &- other.count
    }
    let shared = Swift.min(count, other.count)
    if shared < 8 || shared > 40 {
      let order = unsafe memcmp(left, right, shared)
      return order != 0 ? Int(order) : count &- other.count
    }
    var offset = 0
    while true {
      let one = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
      let two = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
      if one != two { return one < two ? -1 : 1 }
      if offset &+ 8 == shared { return count &- other.count }
      // The last eight bytes may overlap those before them, which are equal.
      offset = Swift.min(offset &+ 8, shared &- 8)
    }
  }
}
