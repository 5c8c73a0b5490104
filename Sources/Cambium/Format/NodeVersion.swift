// The stored form of one version of a node: of the present one in the tree, of earlier ones in
// history.
//
//      0  checksum u64        XXH3 of all that follows, seeded with the XXH3 of the tree's key
//      8  kind u8             0 nothing of its own, 1 scalar, 2 record
//      9  flags u8            1: node id follows; 4: links follow; 2: links of the first form do
//     10  modified u48        the transaction that made this version
//     16  node id u64         if flagged: what the children's keys begin with
//         links               if flagged: length u16, then the levels; see VersionLinks.swift
//         content             a stored value or record
//
// All numbers little-endian.

/// The kind of content that a node holds of its own.
enum ContentKind: UInt8 {
  case none = 0
  case scalar = 1
  case record = 2
}

/// The fields of a version before its content.
struct NodeHeader {
  var kind: ContentKind
  var modified: UInt64
  /// The id that the children's keys begin with; 0 where the node never had children.
  var node: UInt64
  /// The offset of the content.
  let contentOffset: Int
  /// The range of the links.
  private let linksRange: Range<Int>
  /// True if the links name what has changed; false if they are of the first form.
  private let linksAreNaming: Bool

  static let fixedCount = 16

  /// Reads a version after checking its checksum, which depends on the tree's key of the node.
  @inline(__always)
  init(_ version: RawSpan, key: RawSpan) throws {
    let stored = try version.load(UInt64.self, at: 0)
    guard stored == NodeHeader.checksum(version.extracting(droppingFirst: 8), key) else {
      throw NodeHeader.damaged(key)
    }
    guard let kind = ContentKind(rawValue: try version.load(UInt8.self, at: 8)) else {
      throw NodeHeader.damaged(key)
    }
    let flags = try version.load(UInt8.self, at: 9)
    self.kind = kind
    modified = try version.load48(at: 10)
    node = flags & 1 == 0 ? 0 : try version.load(UInt64.self, at: 16)
    var offset = NodeHeader.fixedCount + (flags & 1 == 0 ? 0 : 8)
    linksAreNaming = flags & 4 != 0
    if flags & 6 != 0 {
      let count = Int(try version.load(UInt16.self, at: offset))
      offset += 2
      try version.check(offset, count)
      linksRange = offset..<(offset + count)
    } else {
      linksRange = offset..<offset
    }
    contentOffset = linksRange.upperBound
  }

  init(kind: ContentKind, modified: UInt64, node: UInt64 = 0) {
    self.kind = kind
    self.modified = modified
    self.node = node
    linksRange = 0..<0
    linksAreNaming = true
    contentOffset = 0
  }

  /// True if the version has links to earlier ones.
  var hasLinks: Bool { !linksRange.isEmpty }

  /// True if a transaction has put the node where it is: it has no version there of an earlier one.
  func isPlaced(by sequence: UInt64) -> Bool { modified == sequence && !hasLinks }

  /// The links to earlier versions.
  func links(_ version: RawSpan) throws -> VersionLinks {
    let stored = version.extracting(linksRange)
    return try linksAreNaming ? VersionLinks(stored) : VersionLinks(firstForm: stored)
  }

  /// The link to the oldest version that was still present after a moment, without copying any.
  func oldestLink(_ version: RawSpan, after moment: UInt64) throws -> HistoryLink? {
    try VersionLinks.oldest(
      after: moment, in: version.extracting(linksRange), isNaming: linksAreNaming)
  }

  /// Writes the stored form with some content and links to `bytes`, which is emptied first.
  @inline(__always)
  func store(
    _ content: RawSpan, _ links: VersionLinks? = nil, key: RawSpan, into bytes: inout ByteBuffer
  ) {
    bytes.clear()
    append(content, links, key: key, to: &bytes)
  }

  /// Adds the stored form with some content and links to `bytes`.
  @inline(__always)
  func append(
    _ content: RawSpan, _ links: VersionLinks? = nil, key: RawSpan, to bytes: inout ByteBuffer
  ) {
    let links = links?.stored() ?? []
    let start = bytes.count
    bytes.append(littleEndian: UInt64(0))
    bytes.append(kind.rawValue)
    bytes.append((node == 0 ? 0 : 1) | (links.isEmpty ? 0 : 4))
    bytes.append48(modified)
    if node != 0 { bytes.append(littleEndian: node) }
    if !links.isEmpty {
      bytes.append(littleEndian: UInt16(links.count))
      bytes.append(array: links)
    }
    bytes.append(content)
    let sum = bytes.lend { NodeHeader.checksum($0.extracting(droppingFirst: start + 8), key) }
    bytes.store(sum, at: start)
  }

  @inline(__always)
  private static func checksum(_ body: RawSpan, _ key: RawSpan) -> UInt64 {
    Checksum.of(body, seed: Checksum.of(key))
  }

  private static func damaged(_ key: RawSpan) -> DatabaseError {
    let text = key.byteCount > 8 ? try? Key(key.extracting(droppingFirst: 8)).description : nil
    return .corrupt(reason: "the node \(text ?? "?") is not what was stored (its checksum differs)")
  }
}
