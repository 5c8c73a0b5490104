import Cambium
import FoundationEssentials
import Synchronization

/// Makes the keys of pushed values: 20 characters that sort in the order in which they were made.
///
///     8 characters    milliseconds since 1970, in base 64
///     12 characters   random; one more than before within the same millisecond
final class PushIDs: Sendable {
  private struct State {
    var time: Int64 = 0
    var digits = [UInt8](repeating: 0, count: 12)
  }

  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  private let state = Mutex(State())
  private let clock: @Sendable () -> Date

  init(clock: @escaping @Sendable () -> Date = { Date() }) { self.clock = clock }

  /// A key that is greater than all before, also where the clock goes back.
  func next() -> String {
    let now = clock().microseconds / 1000
    return state.withLock { state in
      if now > state.time {
        state.time = now
        for index in state.digits.indices { state.digits[index] = UInt8.random(in: 0..<64) }
      } else {
        PushIDs.increment(&state)
      }
      return PushIDs.text(state)
    }
  }

  private static func increment(_ state: inout State) {
    for index in state.digits.indices.reversed() {
      state.digits[index] += 1
      if state.digits[index] < 64 { return }
      state.digits[index] = 0
    }
    state.time += 1
  }

  private static func text(_ state: State) -> String {
    var bytes: [UInt8] = []
    for shift in stride(from: 42, through: 0, by: -6) {
      bytes.append(alphabet[Int(state.time >> Int64(shift) & 63)])
    }
    bytes += state.digits.map { alphabet[Int($0)] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
