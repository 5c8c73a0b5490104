import Cambium
import FoundationEssentials

/// A time zone: how far its clocks are ahead of UTC at a moment.
///
/// The system's own comes from the C library, which reads `TZ` and /etc/localtime;
/// FoundationEssentials knows none but UTC, and Foundation would load ICU at every start.
struct Zone: Sendable {
  /// Seconds east of UTC, given seconds since 1970.
  let offset: @Sendable (Int) -> Int

  static let utc = Zone.fixed(0)
  static let system = Zone { System.localOffset(at: $0) }
  static func fixed(_ seconds: Int) -> Zone { Zone { _ in seconds } }

  /// The moment at which the zone's clocks show a time.
  ///
  /// Where they show it twice, the first. Where they skip it, what it would be had they not been
  /// set forward: 02:30 is then 03:30.
  func date(_ civil: CivilTime) -> Date {
    let local = civil.seconds
    let before = local - offset(local - 86_400)
    let after = local - offset(local + 86_400)
    let exact = [before, after].first { local - offset($0) == $0 }
    return Date(microseconds: Int64((exact ?? before) * 1_000_000 + civil.microsecond))
  }

  /// The time that the zone's clocks show at a moment.
  func civil(_ date: Date) -> CivilTime {
    let (seconds, microsecond) = date.parts
    var civil = CivilTime(seconds: seconds + offset(seconds))
    civil.microsecond = microsecond
    return civil
  }

  /// `2026-11-20 14:03:05`, as the zone's clocks show it.
  func text(_ date: Date) -> String {
    let civil = civil(date)
    let day = [padded(civil.year, 4), padded(civil.month), padded(civil.day)]
    let time = [padded(civil.hour), padded(civil.minute), padded(civil.second)]
    return "\(day.joined(separator: "-")) \(time.joined(separator: ":"))"
  }

  /// `2026-11-20 14:03:05.123456`.
  func exactText(_ date: Date) -> String {
    "\(text(date)).\(padded(date.parts.microsecond, 6))"
  }

  /// `2026-11-20 14:03:05 +01:00`.
  func textWithOffset(_ date: Date) -> String {
    let minutes = offset(date.parts.seconds) / 60
    let sign = minutes < 0 ? "-" : "+"
    return "\(text(date)) \(sign)\(padded(abs(minutes) / 60)):\(padded(abs(minutes) % 60))"
  }
}

/// A day of the calendar and a time of day, without a zone.
struct CivilTime: Hashable, Sendable {
  var year: Int
  var month: Int
  var day: Int
  var hour = 0
  var minute = 0
  var second = 0
  var microsecond = 0

  /// Midnight of the day before as many days.
  func midnight(daysBefore count: Int) -> CivilTime {
    CivilTime(seconds: CivilTime(year: year, month: month, day: day).seconds - count * 86_400)
  }
}

extension Date {
  /// Whole seconds since 1970, rounded down, and the microseconds after them.
  fileprivate var parts: (seconds: Int, microsecond: Int) {
    let (seconds, rest) = Int(microseconds).quotientAndRemainder(dividingBy: 1_000_000)
    return rest < 0 ? (seconds - 1, rest + 1_000_000) : (seconds, rest)
  }
}

private func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
