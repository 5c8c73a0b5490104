// Checksums against damage (XXH3), and digests against tampering (BLAKE2b).

import CSodium
import CXXHash

/// A 64-bit checksum. It finds damage; it does not resist an attacker.
enum Checksum {
  /// XXH3 of a text's UTF-8.
  static func of(text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { unsafe of(UnsafeRawBufferPointer($0).bytes) }
  }

  /// XXH3 of some bytes.
  @inline(__always)
  static func of(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
    unsafe bytes.withUnsafeBytes {
      unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
    }
  }
}

/// BLAKE2b-256, computed piece by piece.
@safe struct Digest: ~Copyable {
  /// The length of a digest in bytes.
  static let bytesCount = 32

  /// libsodium's state, which must be aligned to 64 bytes.
  private let state: UnsafeMutableRawPointer
  /// More than the bytes of the state.
  private static let stateBytesMax = 512

  /// Lets libsodium choose the fastest code for this processor; otherwise it uses the slowest.
  private static let isReady = sodium_init()

  init() {
    _ = Digest.isReady
    unsafe state = UnsafeMutableRawPointer.allocate(
      byteCount: crypto_generichash_statebytes(), alignment: 64)
    unsafe crypto_generichash_init(OpaquePointer(state), nil, 0, Digest.bytesCount)
  }

  deinit { unsafe state.deallocate() }

  /// Adds bytes.
  func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes {
      _ = unsafe crypto_generichash_update(
        OpaquePointer(state), $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
        UInt64($0.count))
    }
  }

  /// Adds bytes.
  func update(_ bytes: [UInt8]) { bytes.lend { update($0) } }

  /// The digest of everything added so far; more may be added after it.
  func soFar() -> [UInt8] {
    let copy = Digest()
    unsafe copy.state.copyMemory(from: state, byteCount: crypto_generichash_statebytes())
    return copy.current()
  }

  /// The digest of everything added; nothing can be added after it.
  func current() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Digest.bytesCount)
    unsafe crypto_generichash_final(OpaquePointer(state), &digest, digest.count)
    return digest
  }

  /// The digest of everything added.
  consuming func finish() -> [UInt8] { current() }

  /// The digest of some bytes.
  static func of(_ bytes: RawSpan) -> [UInt8] {
    let digest = Digest()
    digest.update(bytes)
    return digest.finish()
  }

  /// The digest of a few parts, without memory of its own for the state.
  static func of(_ first: [UInt8], _ second: [UInt8], _ third: [UInt8] = []) -> [UInt8] {
    _ = Digest.isReady
    precondition(crypto_generichash_statebytes() <= Digest.stateBytesMax)
    // Memory of the stack, which has a constant size and a smaller alignment.
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: Digest.stateBytesMax + 64 + Digest.bytesCount, alignment: 16
    ) { memory in
      let base = unsafe memory.baseAddress.unsafelyUnwrapped.alignedUp(toMultipleOf: 64)
      let state = OpaquePointer(base)
      unsafe crypto_generichash_init(state, nil, 0, Digest.bytesCount)
      unsafe crypto_generichash_update(state, first, UInt64(first.count))
      unsafe crypto_generichash_update(state, second, UInt64(second.count))
      unsafe crypto_generichash_update(state, third, UInt64(third.count))
      let digest = unsafe (base + Digest.stateBytesMax).assumingMemoryBound(to: UInt8.self)
      unsafe crypto_generichash_final(state, digest, Digest.bytesCount)
      return unsafe Array(UnsafeRawBufferPointer(start: digest, count: Digest.bytesCount))
    }
  }
}

/// Unpredictable random bytes.
enum Randomness {
  static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }
}
