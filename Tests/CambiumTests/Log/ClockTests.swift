// Goal: no reading of the clock stops writing, times never go back in the log, a clock that was
// wrong for once does no lasting harm, and the app is notified.
// Method: clocks that tests set, far ahead, forward and back; the times of records, of moments and
// of what retention drops are compared with what was set.

import FoundationEssentials
@testable import LMDB
import Synchronization
import Testing

@testable import Cambium

@Suite("A clock", .timeLimit(.minutes(1)))
struct ClockTests {
  private let place: Place
  private let heard = HeardClock()
  private let clock = SetClock()

  init() throws { place = try Place() }

  private final class SetClock: Sendable {
    private let state = Mutex(ClockTests.start)
    var now: Date {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  private final class HeardClock: Sendable {
    private let all = Mutex<[String]>([])
    var names: [String] { all.withLock { $0 } }

    func add(_ diagnostic: Diagnostic) {
      switch diagnostic {
      case .clockBehind: all.withLock { $0.append("behind") }
      case .clockLeapt: all.withLock { $0.append("leapt") }
      default: break
      }
    }
  }

  private static let start = Date(timeIntervalSince1970: 1_800_000_000)
  private static let century: TimeInterval = 100 * 365 * 86400

  private func options(_ options: inout Database.Options) {
    options.clock = { [clock] in clock.now }
    options.diagnostics = heard.add
  }

  private func write(_ database: Database, at date: Date) throws {
    clock.now = date
    try database.write { tx in
      try tx.set(NodePath(keys: ["n", .integer(Int64(tx.sequence.rawValue))]), to: 1)
    }
  }

  private func time(_ sequence: SequenceNumber, _ database: Database) throws -> Date {
    try database.commit(sequence).time
  }

  @Test(
    "that is far ahead lets writing go on, up to the year 9999",
    arguments: [2262, 2263, 3000, 9999, 10_900, 200_000, 400_000])
  func farAhead(year: Int) throws {
    let date = Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952)
    try place.use(options) { database in
      for step in 0..<3 { try write(database, at: date + Double(step)) }
      #expect(try database.head == 3)
      let last = try time(3, database)
      // As near as a date comes to it.
      #expect(last.microseconds <= RecordClock.latest + 100)
      if year < 9999 { #expect(last == date + 2) }
      #expect(try database.read(at: .time(date + 1e12)) { $0.sequence } == 3)
      try expectSound(database)
    }
  }

  @Test("of the system past April 2262 does not end the process")
  func nanoseconds() {
    // A second before 2 to the 63rd nanoseconds, and two after.
    let bound = Int64.max / 1_000_000_000
    let times = [bound - 1, bound + 2].map { Platform.nanoseconds($0, 5) }
    #expect(OpenFiles.isSettled(times[0], now: times[1]))
    #expect(!OpenFiles.isSettled(times[1], now: times[1]))
  }

  @Test("of a file counts as settled after a tick where it has fractions, else after two seconds")
  func ticks() {
    let second: Int64 = 1_000_000_000
    #expect(OpenFiles.isSettled(second + 5, now: second + 60_000_000))
    #expect(!OpenFiles.isSettled(second + 5, now: second + 20_000_000))
    #expect(!OpenFiles.isSettled(second, now: 2 * second + 5))
    #expect(OpenFiles.isSettled(second, now: 3 * second + 5))
  }

  @Test("that was wrong for once keeps order, is told, and now is the newest moment")
  func wrongOnce() throws {
    try place.use(options) { database in
      try write(database, at: Self.start)
      try write(database, at: Self.start + Self.century)
      for step in 1...3 { try write(database, at: Self.start + Double(step)) }
      #expect(heard.names == ["behind"], "it is told once")
      let times = try (1...5).map { try time(SequenceNumber($0), database) }
      #expect(times == times.sorted() && times[4] == Self.start + Self.century)
      #expect(try database.read(at: .time(Self.start + 3)) { $0.sequence } == 5)
      #expect(try database.sequence(at: Self.start + 3) == 5)
      #expect(try database.read(at: .time(Self.start - 100)) { $0.sequence } == 0)
      // A transaction from long before now is found by its time as ever.
      clock.now = Self.start + 1000
      try write(database, at: Self.start + 1000)
      #expect(try database.read(at: .time(Self.start + 10)) { $0.sequence } == 1)
      try expectSound(database)
    }
  }

  @Test("that was wrong for once does not make all else old for retention")
  func retention() throws {
    try place.use(options) { database in
      for step in 0..<5 { try write(database, at: Self.start + Double(step)) }
      try write(database, at: Self.start + Self.century)
      try write(database, at: Self.start + 6)
      let month = Retention(duration: .seconds(30 * 86400))
      #expect(try database.compact(keeping: month).horizon == 0)
      try expectSound(database)
    }
  }

  @Test("that was wrong is mended by a repair, with all else as it was")
  func mended() throws {
    try place.use(options) { database in
      for step in 0..<3 { try write(database, at: Self.start + Double(step)) }
      try write(database, at: Self.start + Self.century)
      try write(database, at: Self.start + 4)
    }
    let digest = try place.use { try expectSound($0) }
    let path = place.beside("mended.cambium")
    let result = try Database.repair(
      place.path, by: .salvage, to: path, latest: Self.start + 10)
    #expect(result.kept == 5 && result.lostCount == 0)
    var options = Database.Options()
    self.options(&options)
    clock.now = Self.start + 20
    let database = try Database(at: path, options: options)
    #expect(try expectSound(database) == digest)
    #expect(
      try (1...5).map { try time(SequenceNumber($0), database) }
        == [0, 1, 2, 10, 10].map { Self.start + $0 })
    try write(database, at: Self.start + 20)
    #expect(try time(6, database) == Self.start + 20)
    try expectSound(database)
    try database.close()
  }

  // MARK: Leaps

  @Test("that leaps while a process runs is believed after ten minutes")
  func leap() {
    let clock = RecordClock(holdsLeaps: true)
    let (now, second) = (ContinuousClock.now, 1_000_000 as Int64)
    let start = Self.start.microseconds
    #expect(clock.time(start, at: now, after: 0).time == start)
    // Forward by a century, and back after a minute: nothing of it is left.
    let ahead = start + Int64(Self.century) * second
    let first = clock.time(ahead, at: now + .seconds(1), after: start)
    #expect(first.time == start + second)
    if case .clockLeapt? = first.news {} else { Issue.record("\(first)") }
    let next = clock.time(ahead + 59 * second, at: now + .seconds(60), after: first.time)
    #expect(next.time == start + 60 * second && next.news == nil)
    let back = clock.time(start + 61 * second, at: now + .seconds(61), after: next.time)
    #expect(back.time == start + 61 * second && back.news == nil)
    // Forward once more, and it stays.
    let again = clock.time(ahead, at: now + .seconds(100), after: back.time)
    #expect(again.time == start + 100 * second && again.news != nil)
    let later = clock.time(ahead + 700 * second, at: now + .seconds(800), after: again.time)
    #expect(later.time == ahead + 700 * second)
  }

  @Test("that leaps less than an hour, or while nobody runs, is believed at once")
  func noLeap() {
    let now = ContinuousClock.now
    let start = Self.start.microseconds
    let clock = RecordClock(holdsLeaps: true)
    _ = clock.time(start, at: now, after: 0)
    let small = start + 3_000_000_000
    #expect(clock.time(small, at: now, after: start).time == small)
    let slept = small + 86_400_000_000
    #expect(clock.time(slept, at: now + .seconds(86_400), after: small).time == slept)
    let other = RecordClock(holdsLeaps: true)
    let later = start + Int64(Self.century) * 1_000_000
    #expect(other.time(later, at: now, after: start).time == later)
    #expect(other.time(.max, at: now, after: later).time >= later)
    #expect(RecordClock(holdsLeaps: false).time(.max, at: now, after: 0).time == RecordClock.latest)
  }

  @Test("that leaps is held back in a database, too, and told")
  func heldBack() throws {
    try place.use({
      options(&$0)
      $0.holdsLeaps = true
    }) { database in
      try write(database, at: Self.start)
      try write(database, at: Self.start + Self.century)
      #expect(try time(2, database) < Self.start + 60)
      try write(database, at: Self.start + 2)
      #expect(try time(3, database) >= Self.start + 2)
      #expect(heard.names == ["leapt"])
      try expectSound(database)
    }
  }
}
