// LMDB 0.9's data file on a 64-bit little-endian machine: the parts of it that can be checked.
//
//   page 0 and 1   meta pages; transaction n writes page n & 1, after all pages it refers to
//   page           number u64 | pad u16 | flags u16 | lower u16 | upper u16 | …     header: 16
//   overflow run   number u64 | pad u16 | flags u16 | pages u32 | data over all pages of the run
//
//   branch, leaf   header | offset u16 of each node, in key order … lower
//                         | unused | upper … nodes without gaps, in any order … end of the page
//   node           lo u16 | hi u16 | flags u16 | key size u16 | key | data, padded to an even size
//                  branch: lo, hi and flags are the child's page number; the first key counts as
//                  the lowest of all; leaf: lo and hi are the size of the data
//   leaf data      the value; or the number of an overflow run; or a tree summary (48 bytes)
//
//   meta, at 16    magic u32 | version u32 | address u64 | map size u64
//                  | tree summary of the free list | tree summary of the main table
//                  | last page u64 | transaction u64
//   tree summary   pad u32 | flags u16 | depth u16 | branch u64 | leaf u64 | overflow u64
//                  | entries u64 | root u64; the free list's pad is the page size
//
//   main table     name → tree summary of a table
//   free list      transaction u64 → count u64, then that many page numbers u64, descending: the
//                  pages that it freed

/// The numbers of LMDB's page format.
enum PageFormat {
  static let magic: UInt32 = 0xBEEF_C0DE
  static let version: UInt32 = 1
  static let pageSize = 4096
  static let headerSize = 16
  static let nodeHeaderSize = 8
  static let pageNumberSize = 8
  static let summarySize = 48
  static let metaPages: UInt64 = 2

  /// A larger node moves its value to an overflow run.
  static let nodeSizeMax = 2038
  static let keySizeMax = 511
  static let depthMax = 32

  /// The root of a tree that has no pages.
  static let noPage = UInt64.max

  /// `MDB_INTEGERKEY`, which the free list has, and nothing else here.
  static let integerKeys: UInt16 = 0x08

  enum PageFlags {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08
  }

  enum NodeFlags {
    static let overflow: UInt16 = 0x01
    static let summary: UInt16 = 0x02
  }

  /// The pages that an overflow run needs for `size` bytes.
  static func overflowPages(for size: Int) -> UInt64 {
    UInt64((headerSize - 1 + size) / pageSize + 1)
  }
}

/// The reason why a page cannot be one that LMDB wrote.
struct PageFault: Error {
  let page: UInt64
  let reason: String
  /// The errno where reading failed, or 0.
  var code: CInt = 0
}

/// A page, or its beginning, as stored in the file.
///
/// Its contents are not trusted: a load outside the bytes throws, so that damage never traps.
struct RawPage: Equatable, Sendable {
  let number: UInt64
  let bytes: [UInt8]

  func u16(_ offset: Int) throws(PageFault) -> UInt16 {
    guard offset >= 0, offset < bytes.count &- 1 else {
      throw fault("an offset of \(offset) lies outside the page")
    }
    return UInt16(bytes[offset]) | UInt16(bytes[offset &+ 1]) << 8
  }

  func u32(_ offset: Int) throws(PageFault) -> UInt32 {
    try UInt32(u16(offset)) | UInt32(u16(offset &+ 2)) << 16
  }

  func u64(_ offset: Int) throws(PageFault) -> UInt64 {
    try UInt64(u32(offset)) | UInt64(u32(offset &+ 4)) << 32
  }

  /// The page number in the header; `number` is the place from which the page was read.
  var recordedNumber: UInt64 { get throws(PageFault) { try u64(0) } }
  var flags: UInt16 { get throws(PageFault) { try u16(10) } }
  var lower: UInt16 { get throws(PageFault) { try u16(12) } }
  var upper: UInt16 { get throws(PageFault) { try u16(14) } }
  var overflowPages: UInt32 { get throws(PageFault) { try u32(12) } }

  func fault(_ reason: String) -> PageFault { PageFault(page: number, reason: reason) }

  func checkHeader(flags expected: UInt16) throws(PageFault) {
    let recorded = try recordedNumber
    guard recorded == number else { throw fault("it says that it is page \(recorded)") }
    let flags = try flags
    guard flags == expected else {
      throw fault("its kind is \(flags.hexadecimal) instead of \(expected.hexadecimal)")
    }
  }
}

/// LMDB's description of a B-tree (`MDB_db`): its root, and counts to compare with.
package struct TreeSummary: Equatable, Sendable {
  package private(set) var flags: UInt16 = 0
  /// The number of levels; 0 if there are no entries.
  package internal(set) var depth = 0
  package internal(set) var branchPages: UInt64 = 0
  package internal(set) var leafPages: UInt64 = 0
  package internal(set) var overflowPages: UInt64 = 0
  package internal(set) var entries: UInt64 = 0
  package private(set) var root = PageFormat.noPage

  init() {}

  /// Reads a summary, of the main table or of a named one, without checking it.
  init(_ stored: RawSpan) {
    flags = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt16.self)
    depth = Int(unsafe stored.unsafeLoadUnaligned(fromByteOffset: 6, as: UInt16.self))
    branchPages = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
    leafPages = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self)
    overflowPages = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)
    entries = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 32, as: UInt64.self)
    root = unsafe stored.unsafeLoadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  init(_ page: RawPage, at offset: Int) throws(PageFault) {
    guard offset >= 0, offset <= page.bytes.count &- PageFormat.summarySize else {
      throw page.fault("an offset of \(offset) lies outside the page")
    }
    unsafe self.init(page.bytes.span.bytes.extracting(offset..<(offset &+ PageFormat.summarySize)))
  }

  package var isEmpty: Bool { root == PageFormat.noPage }

  /// The bytes of all its pages.
  package var bytes: UInt64 {
    (branchPages + leafPages + overflowPages) * UInt64(PageFormat.pageSize)
  }

  /// The reason why the tree cannot be in a file whose last page is `lastPage`; nil if it can.
  func fault(lastPage: UInt64) -> String? {
    let most = max(branchPages, max(leafPages, overflowPages))
    if isEmpty {
      let sound = depth == 0 && entries == 0 && most == 0
      return sound ? nil : "the tree has no root, but counts that are not zero"
    }
    guard root >= PageFormat.metaPages, root <= lastPage else {
      return "the root is page \(root), outside 2 to \(lastPage)"
    }
    guard depth >= 1, depth <= PageFormat.depthMax else {
      return "the depth is \(depth), outside 1 to \(PageFormat.depthMax)"
    }
    guard most <= lastPage, leafPages >= 1, entries >= leafPages else {
      return "the counts of pages and entries are impossible"
    }
    return nil
  }
}

extension PageNode {
  /// The tree of the table that an entry of the main table describes; nil if it describes none.
  func table(in page: RawPage, lastPage: UInt64) throws(PageFault) -> TreeSummary? {
    guard flags == PageFormat.NodeFlags.summary, data.count == PageFormat.summarySize else {
      return nil
    }
    let tree = try TreeSummary(page, at: data.lowerBound)
    if let reason = tree.fault(lastPage: lastPage) { throw page.fault(reason) }
    return tree
  }
}

/// One of the two pages from which everything else in the file is found.
package struct MetaPage: Equatable, Sendable {
  package let number: UInt64
  package let transactionID: UInt64
  package let lastPage: UInt64
  package let mapSize: UInt64
  package let freeList: TreeSummary
  package let main: TreeSummary
  let pageFlags: UInt16
  let magic: UInt32
  let version: UInt32
  let pageSize: UInt32

  /// True if it is a meta page at all, whatever its contents.
  var isMeta: Bool { magic == PageFormat.magic && pageFlags == PageFormat.PageFlags.meta }

  /// Reads without checking; ``FileCheck`` checks.
  init(_ page: RawPage) throws(PageFault) {
    number = page.number
    pageFlags = try page.flags
    magic = try page.u32(16)
    version = try page.u32(20)
    mapSize = try page.u64(32)
    pageSize = try page.u32(40)
    freeList = try TreeSummary(page, at: 40)
    main = try TreeSummary(page, at: 40 + PageFormat.summarySize)
    lastPage = try page.u64(136)
    transactionID = try page.u64(144)
  }
}

/// A node's header, and the places of its key and data in the page.
struct PageNode {
  let flags: UInt16
  let key: Range<Int>
  let data: Range<Int>

  /// In a leaf: the size of the value, which may be stored in an overflow run.
  let valueSize: Int

  /// In a branch: the child page.
  let child: UInt64

  var end: Int { data.upperBound }

  init(_ page: RawPage, at offset: Int, isBranch: Bool) throws(PageFault) {
    let low = try page.u32(offset)
    let word = try page.u16(offset &+ 4)
    let keyStart = offset &+ PageFormat.nodeHeaderSize
    let keyEnd = keyStart &+ Int(try page.u16(offset &+ 6))
    flags = isBranch ? 0 : word
    child = isBranch ? UInt64(low) | UInt64(word) << 32 : PageFormat.noPage
    valueSize = isBranch ? 0 : Int(low)
    let isOverflow = flags & PageFormat.NodeFlags.overflow != 0
    let dataEnd = keyEnd &+ (isOverflow ? PageFormat.pageNumberSize : valueSize)
    guard dataEnd <= page.bytes.count else {
      throw page.fault("the node at \(offset) ends outside the page")
    }
    key = keyStart..<keyEnd
    data = keyEnd..<dataEnd
  }
}

/// The order of a table's keys.
enum KeyOrder {
  /// The order of `memcmp`, a prefix first.
  case bytes
  /// The order of 64-bit numbers: the free list.
  case numbers
}

extension RawPage {
  /// The nodes of a branch or leaf page, after all checks that one page allows.
  func checkedNodes(isBranch: Bool, order: KeyOrder) throws(PageFault) -> [PageNode] {
    try checkHeader(flags: isBranch ? PageFormat.PageFlags.branch : PageFormat.PageFlags.leaf)
    let lower = Int(try lower)
    let upper = Int(try upper)
    guard lower >= PageFormat.headerSize, lower <= upper, upper <= bytes.count,
      lower.isMultiple(of: 2), upper.isMultiple(of: 2)
    else { throw fault("its free space is said to be \(lower) to \(upper)") }
    let count = (lower &- PageFormat.headerSize) / 2
    // Only in the free list does LMDB allow a branch with a single child.
    guard count >= (isBranch && order == .bytes ? 2 : 1) else {
      throw fault("it has too few nodes: \(count)")
    }
    let nodes = try checkedPlaces(count: count, upper: upper, isBranch: isBranch)
    try checkKeys(nodes, isBranch: isBranch, order: order)
    return nodes
  }

  /// Checks that nodes fill the page from `upper` to its end, without gap or overlap.
  private func checkedPlaces(count: Int, upper: Int, isBranch: Bool) throws(PageFault)
    -> [PageNode]
  {
    var nodes: [PageNode] = []
    nodes.reserveCapacity(count)
    var ends = [UInt16](repeating: 0, count: bytes.count / 2)
    for index in 0..<count {
      let offset = Int(try u16(PageFormat.headerSize &+ 2 &* index))
      guard offset >= upper, offset < bytes.count, offset.isMultiple(of: 2), ends[offset / 2] == 0
      else { throw fault("node \(index) is said to be at \(offset)") }
      let node = try PageNode(self, at: offset, isBranch: isBranch)
      guard node.end &- offset <= PageFormat.nodeSizeMax else {
        throw fault("node \(index) has \(node.end &- offset) bytes")
      }
      ends[offset / 2] = UInt16(node.end &+ node.end % 2)
      nodes.append(node)
    }
    var place = upper
    var found = 0
    while place < bytes.count, ends[place / 2] != 0 {
      place = Int(ends[place / 2])
      found &+= 1
    }
    guard place == bytes.count, found == count else {
      throw fault("its nodes overlap, or leave gaps")
    }
    return nodes
  }

  private func checkKeys(_ nodes: [PageNode], isBranch: Bool, order: KeyOrder) throws(PageFault) {
    let sizes = order == .bytes ? 1...PageFormat.keySizeMax : 8...8
    for index in nodes.indices.dropFirst(isBranch ? 1 : 0) {
      guard sizes.contains(nodes[index].key.count) else {
        throw fault("the key of node \(index) has \(nodes[index].key.count) bytes")
      }
    }
    // The key that is stored first in a branch is ignored.
    for index in nodes.indices.dropFirst(isBranch ? 2 : 1) {
      guard bytes[nodes[index &- 1].key].isKey(before: bytes[nodes[index].key], order) else {
        throw fault("the key of node \(index) is not greater than the one before")
      }
    }
  }
}

extension ArraySlice<UInt8> {
  /// True if this key comes before `other` in the given order.
  func isKey(before other: ArraySlice<UInt8>, _ order: KeyOrder) -> Bool {
    switch order {
    case .bytes:
      unsafe withUnsafeBytes { own in
        unsafe other.withUnsafeBytes { other in unsafe own.order(to: other) < 0 }
      }
    case .numbers: littleEndianNumber < other.littleEndianNumber
    }
  }

  var littleEndianNumber: UInt64 {
    prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension UInt16 {
  var hexadecimal: String { "0x" + String(self, radix: 16) }
}
