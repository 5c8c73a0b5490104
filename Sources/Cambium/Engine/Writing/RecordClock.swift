// The times of records.
//
//     time of day ──▶ not after the year 9999 ──▶ a leap forward is accepted once it has lasted
//                 ──▶ not before the newest record
//
// Times never go back in the log, or moments could not be found in it. So a clock that is wrong
// once would determine the times of all records until its time is reached. A leap forward while a
// process runs is therefore not accepted at once, and a clock that is behind the log is reported.

import FoundationEssentials
import Synchronization

/// Gives records their times, for one open database.
final class RecordClock: Sendable {
  /// The last microsecond of the year 9999. The hybrid clock, which has 48 bits of milliseconds,
  /// lasts until the year 10889.
  static let latest: Int64 = 253_402_300_799_999_999
  /// The most that the clock may gain over the time that has passed.
  private static let leapMin = Duration.seconds(3600)
  /// The time that a leap must last until it is accepted.
  private static let leapAge = Duration.seconds(600)
  /// The most that the clock may be behind the newest record before that is reported.
  private static let lagMax: Int64 = 60_000_000

  private struct State {
    /// The last reading that was accepted, and the instant of it.
    var believed: (time: Int64, at: ContinuousClock.Instant)?
    /// The instant at which the clock leapt forward, while the leap is not accepted.
    var leap: ContinuousClock.Instant?
    var isBehind = false
  }

  private let state = Mutex(State())
  /// False for a clock that the app supplies: its leaps are accepted at once.
  private let holdsLeaps: Bool

  init(holdsLeaps: Bool) { self.holdsLeaps = holdsLeaps }

  /// The last reading that was accepted, in microseconds since 1970.
  var believed: Int64? { state.withLock { $0.believed?.time } }

  /// The time of a record.
  ///
  /// - Parameters:
  ///   - clock: The reading of the clock, in microseconds since 1970.
  ///   - instant: The moment of the reading, by a monotonic clock.
  ///   - newest: The time of the previous record.
  /// - Returns: The time, and a diagnostic to report to the app once.
  func time(
    _ clock: Int64, at instant: ContinuousClock.Instant, after newest: Int64
  ) -> (time: Int64, news: Diagnostic?) {
    state.withLock { state in
      let clock = min(clock, RecordClock.latest)
      let (now, leap) = believable(clock, at: instant, &state)
      let isBehind = now < newest.subtractingClamped(RecordClock.lagMax)
      let isNews = isBehind && !state.isBehind
      state.isBehind = isBehind
      let behind =
        isNews
        ? Diagnostic.clockBehind(
          newest: Date(microseconds: newest), now: Date(microseconds: now)) : nil
      return (max(now, newest), leap ?? behind)
    }
  }

  private func believable(
    _ clock: Int64, at instant: ContinuousClock.Instant, _ state: inout State
  ) -> (now: Int64, news: Diagnostic?) {
    guard holdsLeaps, let (time, since) = state.believed else {
      state.believed = (clock, instant)
      return (clock, nil)
    }
    let gain = Duration.microseconds(clock.subtractingClamped(time)) - (instant - since)
    let isLeap = gain > RecordClock.leapMin
    if !isLeap || state.leap.map({ instant - $0 >= RecordClock.leapAge }) ?? false {
      state.believed = (clock, instant)
      state.leap = nil
      return (clock, nil)
    }
    let isNews = state.leap == nil
    state.leap = state.leap ?? instant
    let expected = time.addingClamped((instant - since).microseconds)
    let gained = Duration.microseconds(clock.subtractingClamped(expected))
    return (expected, isNews ? .clockLeapt(by: gained) : nil)
  }
}

/// Salts of records, for which the system is asked 64 at a time: each question is a system call.
///
/// Each open database has its own, since a forked child would give out the same.
final class Salts: Sendable {
  private static let count = 16
  private let rest = Mutex<[UInt8]>([])

  /// The next salt, which nobody can predict.
  func next() -> [UInt8] {
    rest.withLock { rest in
      if rest.isEmpty { rest = Randomness.bytes(64 * Salts.count) }
      defer { rest.removeLast(Salts.count) }
      return Array(rest.suffix(Salts.count))
    }
  }
}

/// The sources of a process's times, ids and salts.
struct Generators: Sendable {
  /// Makes ids of models.
  let identifiers: UniqueIdentifiers
  /// Gives records their times.
  let clock: RecordClock
  /// Gives records their salts, unless the options have random numbers of their own.
  let salts = Salts()

  init(_ options: Database.Options) {
    clock = RecordClock(holdsLeaps: options.clock == nil || options.holdsLeaps)
    identifiers =
      options.clock == nil && options.random == nil
      ? .shared : UniqueIdentifiers(clock: { options.now }, random: options.random)
  }
}

extension OpenDirectory {
  /// The last record at or before a time of day, or zero. If the newest record's time is in the
  /// future it was still written before now, so now is the newest moment.
  func sequence(at date: Date) throws -> SequenceNumber {
    let now = present
    return try log.read { log in
      let head = try log.head()
      if let now, head.time > now, date.microseconds > now - OpenDirectory.presentMax {
        return head.sequence
      }
      return try log.sequence(at: date)
    }
  }

  /// The time of day; for a clock that the app supplies, the last time that it gave a record, if
  /// any.
  var present: Int64? {
    options.clock == nil ? WallClock.microseconds() : generators.clock.believed
  }

  /// The greatest age of a time that still counts as the present one, in microseconds.
  private static let presentMax: Int64 = 60_000_000

  /// The time of the next record.
  func recordTime(after newest: Int64) -> Int64 {
    let (time, news) = generators.clock.time(options.now, at: options.background.now, after: newest)
    if let news { report(news) }
    return time
  }
}

extension Int64 {
  fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
    Int64(clamping: Int128(self) - Int128(other))
  }

  fileprivate func addingClamped(_ other: Int64) -> Int64 {
    Int64(clamping: Int128(self) + Int128(other))
  }
}
