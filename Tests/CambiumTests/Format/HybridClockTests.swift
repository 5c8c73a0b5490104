import Simulation
import Testing

@testable import Cambium

@Suite("The hybrid clock")
struct HybridClockTests {
  private static func reading(_ milliseconds: UInt64, _ counter: UInt64) -> HybridClock {
    HybridClock(rawValue: milliseconds << 16 | counter)
  }

  @Test("follows the time of day")
  func follows() {
    let clock = HybridClock(rawValue: 0)
    #expect(clock.next(microseconds: 5_000_999) == Self.reading(5_000, 0))
    #expect(Self.reading(5_000, 9).next(microseconds: 5_001_000) == Self.reading(5_001, 0))
  }

  @Test("counts on while the time of day stands still or goes back")
  func counts() {
    let clock = Self.reading(5_000, 7)
    for microseconds in [5_000_000, 5_000_999, 4_999_999, 1, 0, -1, .min] as [Int64] {
      #expect(clock.next(microseconds: microseconds) == Self.reading(5_000, 8))
    }
  }

  @Test("goes into the next millisecond when the counter is used up")
  func overflows() {
    let clock = Self.reading(5_000, 0xFFFF)
    #expect(clock.next(microseconds: 5_000_000) == Self.reading(5_001, 0))
    #expect(Self.reading(5_001, 0).next(microseconds: 5_000_500) == Self.reading(5_001, 1))
  }

  @Test("starts at zero before 1970")
  func beforeTheEpoch() {
    let clock = HybridClock(rawValue: 0)
    #expect(clock.next(microseconds: -1_000_000).rawValue == 1)
    #expect(clock.next(microseconds: .min).rawValue == 1)
  }

  @Test("never goes back, whatever the time of day does", arguments: FormatSeeds.first(4))
  func increases(seed: UInt64) {
    var random = FormatRandom(seed: seed)
    var clock = HybridClock(rawValue: 0)
    var time: Int64 = 1_767_323_045_678_901
    var latest = time
    for _ in 0..<20_000 {
      switch random.below(100) {
      case 0: time -= Int64(random.below(100_000_000))
      case 1: time += Int64(random.below(100_000_000))
      default: time += Int64(random.below(3_000)) - 200
      }
      latest = max(latest, time)
      let next = clock.next(microseconds: time)
      #expect(next.rawValue > clock.rawValue, "seed \(seed)")
      // Never ahead of the latest time by more than its readings there: the counter has 16 bits.
      #expect(next.rawValue >> 16 <= UInt64(latest / 1000) + 1, "seed \(seed)")
      #expect(next.rawValue >> 16 >= UInt64(max(time, 0) / 1000), "seed \(seed)")
      clock = next
    }
  }
}
