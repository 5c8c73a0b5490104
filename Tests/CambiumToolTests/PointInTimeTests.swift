import Cambium
import Foundation
import Testing

@testable import CambiumCommands

/// Goal: whatever a user writes for a moment is read as people read it, or the place of the mistake
/// is marked. Method: tables at a fixed time in Rome; random moments that are written and read
/// again; Foundation's calendar as the oracle; random text.
@Suite("A point in time") struct PointInTimeTests {
  /// Friday, 2026-11-20 14:03:05.250 in Rome.
  private static let now = date("2026-11-20T13:03:05.250Z")
  private static let rome = zone("Europe/Rome")

  private static func date(_ text: String) -> Date {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return (try? style.parse(text)) ?? .distantPast
  }

  private static func zone(_ name: String) -> Zone {
    let zone = TimeZone(identifier: name) ?? .gmt
    return Zone { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
  }

  private static func read(_ text: String) throws(GrammarError) -> PointInTime {
    try PointInTime(text, now: now, zone: rome)
  }

  @Test(
    "names a transaction",
    arguments: [
      ("4711", .sequence(4711)), ("@4711", .sequence(4711)), ("0", .sequence(0)),
      ("2026", .sequence(2026)), ("18446744073709551615", .sequence(.max)),
      ("HEAD", .head(back: 0)), ("HEAD~", .head(back: 1)), ("HEAD~3", .head(back: 3)),
      ("HEAD~0", .head(back: 0)), ("now", .head(back: 0)), ("tag:release-1", .tag("release-1")),
      ("tag:é/x", .tag("é/x")),
    ] as [(String, PointInTime)])
  func transactions(_ text: String, expected: PointInTime) throws {
    #expect(try Self.read(text) == expected)
  }

  @Test(
    "names a time",
    arguments: [
      ("today", "2026-11-19T23:00:00Z"),
      ("yesterday", "2026-11-18T23:00:00Z"), ("today 00:30", "2026-11-19T23:30:00Z"),
      ("yesterday 14:03:05", "2026-11-19T13:03:05Z"), ("09:05", "2026-11-20T08:05:00Z"),
      ("2026-11-20", "2026-11-19T23:00:00Z"), ("2026-07-01", "2026-06-30T22:00:00Z"),
      ("2026-11-20 14:03", "2026-11-20T13:03:00Z"), ("2026-11-20T14:03", "2026-11-20T13:03:00Z"),
      ("2026-11-20T14:03:05Z", "2026-11-20T14:03:05Z"),
      ("2026-11-20 14:03:05 UTC", "2026-11-20T14:03:05Z"),
      ("2026-11-20T14:03:05.5+01:00", "2026-11-20T13:03:05.500Z"),
      ("2026-11-20T14:03:05.123456789Z", "2026-11-20T14:03:05.123Z"),
      ("2026-11-20 14:03 -0330", "2026-11-20T17:33:00Z"),
      ("2026-11-20 14:03+05", "2026-11-20T09:03:00Z"),
      ("14:03 Z", "2026-11-20T14:03:00Z"), ("2024-02-29", "2024-02-28T23:00:00Z"),
      ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
      ("-10m", "2026-11-20T12:53:05.250Z"), ("10 minutes ago", "2026-11-20T12:53:05.250Z"),
      ("-1h30m", "2026-11-20T11:33:05.250Z"), ("-1h 30min", "2026-11-20T11:33:05.250Z"),
      ("1 hour 30 minutes ago", "2026-11-20T11:33:05.250Z"), ("+5s", "2026-11-20T13:03:10.250Z"),
      ("-0.25s", "2026-11-20T13:03:05Z"), ("1 week ago", "2026-11-13T13:03:05.250Z"),
      ("-2d", "2026-11-18T13:03:05.250Z"), ("-1M", "2026-10-21T02:29:29.250Z"),
      ("-1y", "2025-11-20T07:03:05.250Z"),
      // Clocks were set forward from 02:00 to 03:00, and back from 03:00 to 02:00.
      ("2026-03-29 02:30", "2026-03-29T01:30:00Z"), ("2026-10-25 02:30", "2026-10-25T00:30:00Z"),
    ])
  func times(_ text: String, expected: String) throws {
    guard case .date(let date) = try Self.read(text) else {
      Issue.record("\(text) is no time")
      return
    }
    #expect(abs(date.timeIntervalSince(Self.date(expected))) < 0.000_9, "\(date.machineText)")
  }

  @Test(
    "marks the place where it cannot be read",
    arguments: [
      ("", 0, "a moment is"), ("yesterdy", 0, "a moment is"), ("head", 0, "a moment is"),
      ("HEAD^", 4, "nothing more"), ("HEAD~x", 5, "how many"), ("HEAD~3x", 6, "nothing more"),
      ("@", 1, "whole number"), ("@-1", 1, "whole number"),
      ("18446744073709551616", 0, "whole number"),
      ("HEAD~99999999999999999999", 5, "how many"), ("tag:", 4, "needs a name"),
      ("tag:a b", 4, "no spaces"), ("tag:a..b", 4, ".."), ("Tag:a", 0, "a moment is"),
      ("3..7", 1, "--since"), ("2026-13-01", 5, "1 to 12"), ("2026-02-30", 8, "no such day"),
      ("2025-02-29", 8, "no such day"), ("2026-1-1", 5, "2 digits"), ("26-01-01", 0, "4 digits"),
      ("2026-01", 7, "YYYY-MM-DD"), ("2026-01-01x", 10, "nothing more"),
      ("2026-01-01T", 11, "an hour"),
      ("2026-01-01 25:00", 11, "0 to 23"), ("2026-01-01 10:60", 14, "0 to 59"),
      ("2026-01-01 10", 13, "hh:mm"), ("2026-01-01 10:00:61", 17, "0 to 59"),
      ("2026-01-01 10:00:00.", 20, "digits"), ("2026-01-01 10:00 CET", 17, "a zone"),
      ("2026-01-01 10:00+1", 17, "2 digits"), ("2026-01-01 10:00+01:7", 20, "2 digits"),
      ("10 minutes", 10, "ago"), ("10 parsecs ago", 3, "a unit"), ("10m agone", 7, "nothing more"),
      ("-", 1, "a number and a unit"), ("-10", 3, "a unit"), ("-m", 1, "a number"),
      ("-999999y", 1, "300 years"), ("0001-01-01", 0, "1 to 9999"),
      ("9999-12-31 23:00 -01:00", 0, "1 to 9999"),
      ("²", 0, "a moment is"), ("٣", 0, "a moment is"), ("10²", 2, "a unit"),
    ])
  func mistakes(_ text: String, offset: Int, reason: String) {
    #expect { try Self.read(text) } throws: { error in
      let error = error as? GrammarError
      return error?.offset == offset && error?.reason.contains(reason) == true
        && error?.text == text
    }
  }

  @Test("is read again as it was written", arguments: [1, 2, 3, 4] as [UInt64])
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<2000 {
      let number =
        UInt64.random(in: 0...(.max), using: &random) >> UInt64.random(in: 0...63, using: &random)
      let point: PointInTime =
        switch number % 3 {
        case 0: .sequence(number)
        case 1: .head(back: Int(number >> 1))
        default:
          .date(
            Date(
              microseconds: Int64.random(
                in: -60_000_000_000_000_000...250_000_000_000_000_000, using: &random)))
        }
      let zone = Zone.fixed(Int.random(in: -12...14, using: &random) * 3600)
      let text = point.description
      #expect(try PointInTime(text, now: Self.now, zone: zone) == point, "seed \(seed): \(text)")
    }
  }

  @Test("is never read out of bounds", arguments: [1, 2, 3, 4] as [UInt64])
  func randomText(seed: UInt64) {
    let parts = [
      "HEAD", "~", "3", "@", "-", "10", "m", " ", "minutes", "ago", "2026-11-20", "T",
      "14:03",
      ":05", ".5", "Z", "+01:00", "today", "yesterday", "now", "..", "é", "\u{0}",
      "99999999999999999999", "y",
    ]
    var random = SplitMix(seed: seed)
    var understood = 0
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? ""
      }.joined()
      do {
        _ = try Self.read(text)
        understood += 1
      } catch {
        #expect(
          error.text == text && (0...text.utf8.count).contains(error.offset),
          "seed \(seed): \(text)")
      }
    }
    #expect(understood > 100, "seed \(seed)")
  }
}
