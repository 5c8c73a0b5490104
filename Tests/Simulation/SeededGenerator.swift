/// SplitMix64: the same numbers from the same seed, so that what they led to can be seen again.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// - Parameters:
  ///   - seed: The seed, which decides all numbers.
  ///   - purpose: Different purposes get different numbers from one seed.
  package init(seed: UInt64, _ purpose: UInt64 = 0) {
    state = (seed &* 0xD134_2543_DE82_EF95) ^ (purpose &* 0xA076_1D64_78BD_642F)
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number below `bound`.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True once in `count` times.
  package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// One of several.
  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}
