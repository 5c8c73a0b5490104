/// The header of a version of a node, as the layouts under test store it.
///
///     kind u8 | flags u8 | modified u48 | checksum u64                      16 bytes
///     version u32 | previous: u48, u32 | skip: u48, u32                     24 bytes, if `linked`
///
/// A link names the history entry of an older version: the sequence number of the transaction that
/// superseded it, and its place among that transaction's. So a link alone shows whether the version
/// behind it was already superseded at a given moment.
struct VersionHeader {
  static let plainBytes = 16
  static let linkedBytes = 40

  /// The transaction that wrote the version.
  var modified: UInt64
  /// The number of versions before it; zero where there are no links.
  var version: UInt32 = 0
  var previous = Link(supersededAt: 0, index: 0)
  var skip = Link(supersededAt: 0, index: 0)

  /// Where an older version is.
  struct Link {
    var supersededAt: UInt64
    var index: UInt32
  }

  @inline(__always)
  init(modified: UInt64) { self.modified = modified }

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe modified = bytes.loadUnaligned(as: UInt64.self) >> 16
    guard unsafe VersionHeader.size(in: bytes) == VersionHeader.linkedBytes else { return }
    unsafe version = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
    unsafe previous = VersionHeader.link(bytes, at: 20)
    unsafe skip = VersionHeader.link(bytes, at: 30)
  }

  /// The number of header bytes in a stored version.
  @inline(__always)
  static func size(in bytes: UnsafeRawBufferPointer) -> Int {
    unsafe bytes[1] == 0 ? plainBytes : linkedBytes
  }

  @inline(__always)
  func write(to bytes: UnsafeMutableRawBufferPointer, linked: Bool) {
    let kindAndFlags: UInt64 = linked ? 0x0101 : 0x0001
    unsafe bytes.storeBytes(of: modified << 16 | kindAndFlags, as: UInt64.self)
    unsafe bytes.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    guard linked else { return }
    unsafe bytes.storeBytes(of: version, toByteOffset: 16, as: UInt32.self)
    unsafe VersionHeader.write(previous, to: bytes, at: 20)
    unsafe VersionHeader.write(skip, to: bytes, at: 30)
  }

  @inline(__always)
  static func link(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Link {
    let low = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let high = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
    let index = unsafe bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt32.self)
    return Link(supersededAt: UInt64(high) << 32 | UInt64(low), index: index)
  }

  @inline(__always)
  private static func write(
    _ link: Link, to bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) {
    let low = UInt32(truncatingIfNeeded: link.supersededAt)
    let high = UInt16(truncatingIfNeeded: link.supersededAt >> 32)
    unsafe bytes.storeBytes(of: low, toByteOffset: offset, as: UInt32.self)
    unsafe bytes.storeBytes(of: high, toByteOffset: offset + 4, as: UInt16.self)
    unsafe bytes.storeBytes(of: link.index, toByteOffset: offset + 6, as: UInt32.self)
  }
}

/// The rule for the older version that a skip link names.
enum SkipRule {
  /// Version `v` names `v & (v - 1)`: the lowest set bit cleared.
  case clearedBit
  /// The jump pointers of Myers (*An applicative random-access stack*, 1983): version `v` names
  /// the end of the smallest complete tree that it closes in the skew-binary decomposition of `v`.
  case skewBinary

  /// The version that the skip link of `version` (over zero) names.
  @inline(__always)
  func target(of version: UInt32) -> UInt32 {
    switch self {
    case .clearedBit: return version & (version &- 1)
    case .skewBinary:
      var rest = version
      while true {
        let bits = UInt32(32 &- (rest &+ 1).leadingZeroBitCount) &- 1
        let tree = (UInt32(1) << bits) &- 1
        if rest == tree { return version &- tree }
        rest &-= tree
      }
    }
  }
}
