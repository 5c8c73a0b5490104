import FoundationEssentials
import Simulation
import Synchronization

/// The times that the records of a script get. They lie in the future, so that no clock of the
/// system has a part in them; now and then the script's own goes back, and records must not.
struct ScriptTimes: Sendable {
  /// The clock's readings and the records' times, in milliseconds, by transaction.
  private let readings: [Int64]
  private let records: [Int64]
  let clock = ScriptClock()

  /// 1 January 2100.
  private static let start: Int64 = 4_102_444_800_000

  init(seed: UInt64, count: Int, erasures: [UInt64]) {
    var random = SeededGenerator(seed: seed, 47)
    var (readings, records) = ([ScriptTimes.start], [ScriptTimes.start])
    for number in 1...UInt64(count) {
      let (step, last) = (number == 1 ? 1 : random.below(4), readings[readings.count - 1])
      readings.append(step == 0 ? last - Int64(random.below(9_000)) : last + Int64(step) * 1_000)
      // An erasure asks the system, which is behind.
      let newest = records[records.count - 1]
      let isErasure = erasures.contains(number)
      records.append(isErasure ? newest : max(newest, readings[readings.count - 1]))
    }
    (self.readings, self.records) = (readings, records)
  }

  /// The time that the record of a transaction has, in milliseconds since 1970.
  func milliseconds(_ number: UInt64) -> Int64 { records[Int(number)] }

  /// The reading of the clock during the transaction that is written.
  var now: Date { ScriptTimes.date(readings[min(Int(clock.number), readings.count - 1)]) }

  static func milliseconds(_ date: Date) -> Int64 {
    Int64((date.timeIntervalSince1970 * 1000).rounded())
  }

  static func date(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

/// Says which transaction is being written.
final class ScriptClock: Sendable {
  private let current = Mutex<UInt64>(0)

  var number: UInt64 { current.withLock { $0 } }
  func set(_ number: UInt64) { current.withLock { $0 = number } }
}
