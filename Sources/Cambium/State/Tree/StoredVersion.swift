// A version of a node that was found and checked, by its address in the map. The one place where
// Snapshots keeps a pointer.

import FoundationEssentials

/// The bytes of one version. They stay valid and unchanged as long as the snapshot lives, which
/// pins its pages; the owner of a version must keep the snapshot as well.
@safe struct StoredVersion: @unchecked Sendable {
  // It is Sendable because the bytes are never written while a snapshot can see them.
  private let start: UnsafeRawPointer
  private let count: Int
  let header: NodeHeader

  init?(_ version: RawSpan, _ header: NodeHeader) {
    let bytes = unsafe version.withUnsafeBytes { unsafe $0 }
    guard let base = bytes.baseAddress else { return nil }
    unsafe start = base
    count = bytes.count
    self.header = header
  }

  /// Lends the version's bytes.
  @inline(__always)
  func lend<R>(_ body: (NodeHeader, RawSpan) throws -> R) rethrows -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return try unsafe body(header, bytes.bytes)
  }
}

extension Key {
  /// Lends the tree's key of a child, made on the stack.
  @inline(__always)
  func lendTreeKey<R>(parent: UInt64, _ body: (RawSpan) throws -> R) rethrows -> R {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 8 + 1 + Key.textBytesMax, alignment: 8) {
      buffer in
      unsafe buffer.storeBytes(of: parent.bigEndian, as: UInt64.self)
      let count: Int
      switch self {
      case .integer(let value):
        unsafe buffer[8] = KeyTag.integer
        let raw = (UInt64(bitPattern: value) ^ (1 << 63)).bigEndian
        unsafe buffer.storeBytes(of: raw, toByteOffset: 9, as: UInt64.self)
        count = 17
      case .uuid(let value):
        unsafe buffer[8] = KeyTag.uuid
        unsafe buffer.storeBytes(of: value.uuid, toByteOffset: 9, as: type(of: value.uuid))
        count = 25
      case .text(let text):
        if let key = try? Key(text), key != self {
          return try key.lendTreeKey(parent: parent, body)
        }
        unsafe buffer[8] = KeyTag.text
        // A key built by hand may be too long; no key that long is stored, so a part of it finds
        // nothing.
        var end = 9
        for byte in text.utf8.prefix(Key.textBytesMax) {
          unsafe buffer[end] = byte
          end += 1
        }
        count = text.utf8.count > Key.textBytesMax ? 8 : end
      }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[0..<count])
      return try unsafe body(bytes.bytes)
    }
  }
}
