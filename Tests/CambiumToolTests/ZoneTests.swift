import Foundation
import Testing

@testable import CambiumCommands

@Suite("A zone") struct ZoneTests {
  @Test(
    "shows the same clocks as Foundation",
    arguments: ["Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
  func clocks(_ name: String) throws {
    let timeZone = try #require(TimeZone(identifier: name))
    let zone = Zone { timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    var random = SplitMix(seed: 7)
    for _ in 0..<5000 {
      let seconds = Int.random(in: -3_000_000_000...4_000_000_000, using: &random)
      let date = Date(timeIntervalSince1970: Double(seconds))
      let civil = zone.civil(date)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: date)
      #expect(
        [civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second]
          == [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second])
      #expect(zone.date(civil) == calendar.date(from: parts), "\(name) \(seconds)")
    }
  }

  @Test("of the system is the one that the C library knows")
  func system() {
    for seconds in [0, 1_700_000_000, 1_720_000_000] {
      let date = Date(timeIntervalSince1970: Double(seconds))
      #expect(Zone.system.offset(seconds) == TimeZone.current.secondsFromGMT(for: date))
    }
  }

  @Test("prints times with its offset")
  func text() {
    let date = Date(timeIntervalSince1970: 1_795_179_785.25)
    #expect(Zone.utc.text(date) == "2026-11-20 13:03:05")
    #expect(Zone.fixed(3600).textWithOffset(date) == "2026-11-20 14:03:05 +01:00")
    #expect(Zone.fixed(-12_600).textWithOffset(date) == "2026-11-20 09:33:05 -03:30")
    #expect(Zone.utc.text(Date(timeIntervalSince1970: -0.5)) == "1969-12-31 23:59:59")
    #expect(date.machineText == "2026-11-20T13:03:05.25Z")
    #expect(Zone.utc.text(Date(timeIntervalSince1970: .nan)) == "1970-01-01 00:00:00")
    for extreme in [Double.infinity, -.infinity, 1e300] {
      #expect(!Zone.system.textWithOffset(Date(timeIntervalSince1970: extreme)).isEmpty)
    }
  }
}

@Suite("A duration") struct TimeSpanTests {
  @Test(
    "is read with or without a unit",
    arguments: [
      ("5", .seconds(5)), ("0", .zero), ("5s", .seconds(5)), ("2.5s", .milliseconds(2500)),
      ("1h 30min", .seconds(5400)), ("100 ms", .milliseconds(100)), ("7us", .microseconds(7)),
      ("1d12h", .seconds(129_600)), ("3 days", .seconds(259_200)), ("1m", .seconds(60)),
      ("1M", .seconds(2_630_016)),
    ] as [(String, Duration)])
  func durations(_ text: String, expected: Duration) throws {
    #expect(try TimeSpan.duration(text) == expected)
  }

  @Test(
    "is refused where the unit is unknown, or it is no number",
    arguments: [
      ("", 0), ("s", 0), ("-5s", 0), ("5 q", 2), ("1.s", 1), ("1.5.5s", 3), ("5s x", 3),
      ("9999999999", 10),
    ])
  func mistakes(_ text: String, offset: Int) {
    #expect { try TimeSpan.duration(text) } throws: { ($0 as? GrammarError)?.offset == offset }
  }

  @Test("has units that are told apart by their names")
  func units() {
    let names = TimeSpan.units.flatMap(\.names)
    #expect(Set(names).count == names.count)
  }
}
