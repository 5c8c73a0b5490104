/// A summary of what a schedule did: how many steps, and a digest of all choices and notes.
package struct Trace: Equatable, Sendable, CustomStringConvertible {
  package private(set) var count = 0
  package private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

  /// FNV-1a, by numbers instead of bytes.
  mutating func add(_ number: UInt64) {
    count += 1
    digest = (digest ^ number) &* 0x0000_0100_0000_01B3
    digest ^= digest >> 29
  }

  package var description: String { "\(count) steps, \(String(digest, radix: 16))" }
}
