// External time and randomness, so that a test writes the same each time it runs.

import FoundationEssentials
import Synchronization

extension Database.Options {
  /// Derives time and randomness from a seed, for tests.
  ///
  ///     var options = Database.Options()
  ///     options.makeReproducible(seed: 7)
  ///     let database = try Database(at: path, options: options)
  ///
  /// Two databases with the same writes, by one thread, have the same id, the same ids of models,
  /// and the same log, byte for byte of its records. Anyone who knows the seed knows the salts:
  /// never use it for data that is to be erased.
  ///
  /// - Parameters:
  ///   - seed: The start of the random numbers.
  ///   - start: The first time; each reading is a millisecond later than the one before.
  public mutating func makeReproducible(
    seed: UInt64, from start: Date = Date(timeIntervalSince1970: 946_684_800)
  ) {
    let source = ReproducibleSource(seed: seed, from: start)
    clock = { source.now() }
    random = { source.next() }
  }

  /// The time of day, in microseconds since 1970.
  var now: Int64 { clock?().microseconds ?? WallClock.microseconds() }

  func randomBytes(_ count: Int) -> [UInt8] {
    guard let random else { return Randomness.bytes(count) }
    var bytes: [UInt8] = []
    while bytes.count < count { bytes.append(littleEndian: random()) }
    return Array(bytes.prefix(count))
  }
}

/// Numbers and times that follow from a seed. (SplitMix64; Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014.)
private final class ReproducibleSource: Sendable {
  private let state: Mutex<(number: UInt64, microseconds: Int64)>

  init(seed: UInt64, from start: Date) { state = Mutex((seed, start.microseconds)) }

  func next() -> UInt64 {
    state.withLock { state in
      state.number &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state.number
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
  }

  func now() -> Date {
    Date(
      microseconds: state.withLock { state in
        state.microseconds += 1000
        return state.microseconds
      })
  }
}
