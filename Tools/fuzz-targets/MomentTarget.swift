import Cambium
import FoundationEssentials

@testable import CambiumCommands

/// The grammar of points in time and of lengths of time: which clock and zone, then the text.
///
/// A moment must be the same after it was written and read again, whatever the time and the zone.
enum MomentTarget {
  static let target = FuzzTarget(name: "moment", seeds: seeds, run: run)

  private static let clocks = [0, 1_795_179_785, -2_000_000_000, 951_782_400]
  private static let zones = [
    Zone.utc, .fixed(3_600), .fixed(-12_600), .fixed(50_400),
    // Set forward and back every half year.
    Zone { ($0 / 15_778_800).isMultiple(of: 2) ? 3_600 : 7_200 },
  ]

  private static func seeds() throws -> [[UInt8]] {
    let texts = [
      "4711", "@4711", "18446744073709551615", "HEAD", "HEAD~", "HEAD~3", "now", "today 00:30",
      "yesterday 14:03:05", "09:05", "2026-11-20", "2026-11-20 14:03", "2026-11-20T14:03:05.25Z",
      "2026-11-20 14:03:05 UTC", "2026-11-20T14:03:05.5+01:00", "2026-11-20 14:03 -0330",
      "-10m", "10 minutes ago", "-1h 30min", "+5s", "-0.25s", "1 week ago", "-1M", "2µs ago",
      "300y ago", "2024-02-29", "1..3", "2013-02-30", "0001-01-01", "9999-12-31 23:59:59.999999Z",
    ]
    return texts.enumerated().map { [UInt8($0 % 4), UInt8($0 % 5)] + Array($1.utf8) }
  }

  private static func run(_ input: inout FuzzInput) {
    let now = Date(timeIntervalSince1970: Double(clocks[Int(input.byte()) % clocks.count]))
    let zone = zones[Int(input.byte()) % zones.count]
    guard let text = String(validating: input.rest, as: UTF8.self) else { return }
    unlessMarked(text) { () throws(GrammarError) in
      requireReturn(of: try PointInTime(text, now: now, zone: zone), { $0.description }) {
        try PointInTime($0, now: .distantPast, zone: .fixed(-7_200))
      }
    }
    unlessMarked(text) { () throws(GrammarError) in
      require(try TimeSpan.duration(text) >= .zero, "\(text) is no negative time")
    }
  }

  /// Requires that an error marks a place within the text.
  private static func unlessMarked(_ text: String, _ body: () throws(GrammarError) -> Void) {
    do throws(GrammarError) {
      try body()
    } catch {
      require((0...text.utf8.count).contains(error.offset), "\(error) marks a place in \(text)")
    }
  }
}
