import FoundationEssentials
import LMDB
import Synchronization

/// Makes UUIDs of version 7 (RFC 9562): 48 bits of milliseconds, then a counter and random bits, so
/// that each one of this process sorts after the one before.
///
///     milliseconds (48) | 7 (4) | counter (12) | 2 (2) | random (62)
///
/// A millisecond's counter starts in the lower half; when it is used up, the next millisecond's
/// begins early (the RFC's method 1).
final class UniqueIdentifiers: Sendable {
  static let shared = UniqueIdentifiers()

  private struct State {
    var milliseconds: UInt64 = 0
    var counter: UInt64 = 0
    var random = SystemRandomNumberGenerator()
  }

  private let state = Mutex(State())
  private let clock: @Sendable () -> Int64
  private let random: (@Sendable () -> UInt64)?

  /// Makes a separate source, for tests that supply time and randomness.
  init(
    clock: @escaping @Sendable () -> Int64 = { WallClock.microseconds() },
    random: (@Sendable () -> UInt64)? = nil
  ) {
    self.clock = clock
    self.random = random
  }

  func next() -> UUID {
    let now = min(UInt64(max(0, clock() / 1000)), 1 << 48 - 1 << 24)  // leaves room to advance
    let (high, low) = state.withLock { state in
      if now > state.milliseconds {
        state.milliseconds = now
        state.counter = (random?() ?? state.random.next()) & 0x7FF
      } else {
        state.counter += 1
      }
      if state.counter > 0xFFF {
        state.milliseconds += 1
        state.counter = 0
      }
      let high = state.milliseconds << 16 | 0x7000 | state.counter
      return (high, (random?() ?? state.random.next()) >> 2 | 1 << 63)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    return bytes.lend { span in
      do { return try span.uuid(at: 0) } catch { preconditionFailure("sixteen bytes are a UUID") }
    }
  }
}

/// The time of day according to the operating system.
enum WallClock {
  /// Microseconds since 1970.
  static func microseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
