// The checksum that ends an entry of a sealed table:
//
//     value | checksum u32     the lower half of the XXH3 of the value, seeded with the XXH3 of the
//                              key; little-endian
//
// It is added on write and removed on read, so that the user of the table sees only the value. A
// table whose owner stores its own checksum in each value has a case here as well, so that an
// entry can be checked even if it is only passed: the neighbors of a key that was not found show
// whether it could have been there.

import CXXHash

/// The protection of a table's entries against damage.
package enum Seal: UInt8, Sendable {
  /// No protection that this module knows of.
  case none
  /// A checksum of 4 bytes that this module adds and removes.
  case short
  /// The owner's checksum: the value begins with the XXH3 of its rest, seeded with that of the key.
  case ownLeading
  /// The owner's checksum: the value ends with the XXH3 of all before, seeded with that of the key.
  case ownTrailing

  /// The bytes that this module adds to a value.
  @inline(__always)
  var addedCount: Int { self == .short ? Seal.shortCount : 0 }

  static let shortCount = 4
  private static let ownCount = 8

  /// The checksum that a sealed entry ends with.
  @inline(__always)
  static func sum(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> UInt32 {
    unsafe UInt32(truncatingIfNeeded: hash(value, seed: hash(key, seed: 0)))
  }

  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    unsafe XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
  }

  /// True if an entry matches its checksum.
  func holds(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .none: return true
    case .short: return unsafe value.count >= Seal.shortCount && holdsShort(key, value)
    case .ownLeading:
      guard value.count >= Seal.ownCount else { return false }
      let rest = unsafe UnsafeRawBufferPointer(rebasing: value[Seal.ownCount...])
      let sum = unsafe Seal.hash(rest, seed: Seal.hash(key, seed: 0))
      return unsafe value.loadUnaligned(as: UInt64.self) == sum.littleEndian
    case .ownTrailing:
      guard value.count >= Seal.ownCount else { return false }
      let end = value.count - Seal.ownCount
      let body = unsafe UnsafeRawBufferPointer(rebasing: value[..<end])
      let sum = unsafe Seal.hash(body, seed: Seal.hash(key, seed: 0))
      return unsafe value.loadUnaligned(fromByteOffset: end, as: UInt64.self) == sum.littleEndian
    }
  }

  func holds(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in unsafe holds(key, value) }
    }
  }

  @inline(__always)
  private func holdsShort(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    let end = value.count - Seal.shortCount
    let body = unsafe UnsafeRawBufferPointer(rebasing: value[..<end])
    let stored = unsafe value.loadUnaligned(fromByteOffset: end, as: UInt32.self)
    return unsafe stored == Seal.sum(key, body).littleEndian
  }

  /// Checks the seal that this module has added, and removes it.
  ///
  /// - Throws: ``StorageError`` of kind `.corrupt`.
  @inline(__always)
  func open(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    guard self == .short else { return unsafe value }
    guard unsafe value.count >= Seal.shortCount && holdsShort(key, value) else {
      throw Seal.broken()
    }
    return unsafe UnsafeRawBufferPointer(rebasing: value[..<(value.count - Seal.shortCount)])
  }

  @inline(never)
  static func broken() -> StorageError {
    StorageError(.corrupt, "an entry is not what was stored (its checksum differs)")
  }
}
