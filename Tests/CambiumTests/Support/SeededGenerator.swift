import FoundationEssentials

/// SplitMix64: the same numbers from the same seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// The seeds of a random test: `defaults`, or the one that the environment's `CAMBIUM_SEED`
  /// names.
  static func seeds(_ defaults: UInt64...) -> [UInt64] { seeds(defaults) }

  /// As ``seeds(_:)-(UInt64...)``, with the defaults in an array.
  static func seeds(_ defaults: [UInt64]) -> [UInt64] {
    let wish = ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap { UInt64($0) }
    return wish.map { [$0] } ?? defaults
  }
}

extension SeededGenerator {
  /// A number below `bound`.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True once in `count` times.
  mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// One of several.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
