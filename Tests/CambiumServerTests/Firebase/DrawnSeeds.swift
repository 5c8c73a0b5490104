// Seeds for random tests of the server, new ones in each run.

import FoundationEssentials
import Simulation

extension SeededGenerator {
  /// The seeds of a random test: fixed ones, which have failed once, and drawn ones. The
  /// environment's `CAMBIUM_EXAMPLES` asks for more of these, `CAMBIUM_SEED` for one seed alone.
  static func seeds(_ fixed: UInt64..., drawn count: Int) -> [UInt64] {
    let wishes = ProcessInfo.processInfo.environment
    if let seed = wishes["CAMBIUM_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    let count = wishes["CAMBIUM_EXAMPLES"].flatMap { Int($0) } ?? count
    return fixed + (0..<count).map { _ in UInt64.random(in: 0..<1_000_000) }
  }
}
