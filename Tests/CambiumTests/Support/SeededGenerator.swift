// Seeds for random tests; the generator is shared with the torture harness.

import FoundationEssentials
import Simulation

extension SeededGenerator {
  /// The seeds of a random test: `defaults`, or the one that the environment's `CAMBIUM_SEED`
  /// names.
  static func seeds(_ defaults: UInt64...) -> [UInt64] { seeds(defaults) }

  /// As ``seeds(_:)-(UInt64...)``, with the defaults in an array.
  static func seeds(_ defaults: [UInt64]) -> [UInt64] {
    let wish = ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap { UInt64($0) }
    return wish.map { [$0] } ?? defaults
  }
}

/// Bytes that zstd cannot make shorter.
enum Noise {
  static func bytes(_ count: Int) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(count))
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }
}
