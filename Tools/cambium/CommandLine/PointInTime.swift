import Cambium
import FoundationEssentials

/// A moment of a database as users write it: for REV, `--at`, `--since` and `--until` alike.
///
///     moment  = ["@"] digits                              a transaction's sequence number
///             | "HEAD" ["~" [digits]]                     so many transactions before the newest
///             | "tag:" name                               what `cambium tag` gave that name
///             | "now" | time | day [("T" | " ") time]     local, unless a zone follows the time
///             | ("-" | "+") span | span "ago"             from now, see ``TimeSpan``
///     day     = "today" | "yesterday" | YYYY "-" MM "-" DD
///     time    = hh ":" mm [":" ss ["." digits]] [[" "] zone]
///     zone    = "Z" | "UTC" | ("+" | "-") hh [":"] mm
///
/// A day alone is its first moment.
enum PointInTime: Hashable, Sendable {
  case sequence(UInt64)
  case head(back: Int)
  case tag(String)
  case date(Date)

  /// Reads a moment. Relative times count from `now`; days and times of day are those of `zone`.
  init(_ text: String, now: Date, zone: Zone) throws(GrammarError) {
    var parser = MomentParser(reader: TextReader(text), now: now, zone: zone)
    self = try parser.moment()
  }
}

extension PointInTime: CustomStringConvertible {
  /// The form from which the same moment is read again, whatever the time and the zone.
  var description: String {
    switch self {
    case .sequence(let number): String(number)
    case .head(back: 0): "HEAD"
    case .head(let back): "HEAD~\(back)"
    case .tag(let name): "tag:\(name)"
    case .date(let date): date.machineText
    }
  }
}

extension Date {
  /// `2026-11-20T13:03:05Z`, with as many digits after the second as it needs.
  var machineText: String { DateText.text(moment: microseconds) }
}

private struct MomentParser {
  var reader: TextReader
  let now: Date
  let zone: Zone

  mutating func moment() throws(GrammarError) -> PointInTime {
    let result: PointInTime =
      switch reader.next {
      case UInt8(ascii: "@"): try sequence()
      case UInt8(ascii: "-"), UInt8(ascii: "+"): .date(try fromNow())
      case _ where reader.isAtDigit: try startingWithDigits()
      default: try startingWithWord()
      }
    try reader.expectEnd()
    if case .date(let date) = result, !MomentParser.dates.contains(date) {
      throw reader.error("a moment lies in the years 1 to 9999 of UTC", at: 0)
    }
    return result
  }

  /// The dates that can be written as they are read: with a year of four digits.
  private static let dates = newYear(1)..<newYear(10_000)

  private static func newYear(_ year: Int) -> Date {
    Zone.utc.date(CivilTime(year: year, month: 1, day: 1))
  }

  private mutating func sequence() throws(GrammarError) -> PointInTime {
    _ = reader.take("@")
    let start = reader.offset
    guard let number = UInt64(reader.digits()) else {
      throw reader.error("a sequence number is a whole number below 2⁶⁴", at: start)
    }
    return .sequence(number)
  }

  private mutating func head() throws(GrammarError) -> PointInTime {
    guard reader.take("~") else { return .head(back: 0) }
    if reader.isAtEnd { return .head(back: 1) }
    let start = reader.offset
    guard let back = Int(reader.digits()) else {
      throw reader.error("after ~ stands how many transactions to go back", at: start)
    }
    return .head(back: back)
  }

  private mutating func startingWithWord() throws(GrammarError) -> PointInTime {
    if reader.take("HEAD") { return try head() }
    if reader.take("tag:") { return .tag(try tagName()) }
    // The newest, also where a wrong clock gave it a time that is still to come.
    if reader.take("now") { return .head(back: 0) }
    if reader.take("today") { return .date(try moment(of: midnight(daysAgo: 0))) }
    if reader.take("yesterday") { return .date(try moment(of: midnight(daysAgo: 1))) }
    throw reader.error(
      "a moment is a sequence number, HEAD~N, tag:NAME, a day, a time, or as in -10m")
  }

  private mutating func tagName() throws(GrammarError) -> String {
    let start = reader.offset
    let name = reader.take { _ in true }
    if let problem = CommitTag.problem(name) { throw reader.error(problem, at: start) }
    return name
  }

  /// Reads a moment that starts with a digit; the character after its digits shows its kind.
  private mutating func startingWithDigits() throws(GrammarError) -> PointInTime {
    var ahead = reader
    _ = ahead.digits()
    switch ahead.next {
    case nil: return try sequence()
    case UInt8(ascii: "-"): return .date(try moment(of: day()))
    case UInt8(ascii: ":"): return .date(try moment(of: midnight(daysAgo: 0), hasTime: true))
    default:
      let end = ahead.offset
      if ahead.take("..") {
        throw ahead.error("one moment is wanted here; --since and --until mark a stretch", at: end)
      }
      return .date(try ago())
    }
  }
}

/// Lengths of time from now.
extension MomentParser {
  private mutating func fromNow() throws(GrammarError) -> Date {
    let isBefore = reader.take("-")
    if !isBefore { _ = reader.take("+") }
    let microseconds = try TimeSpan.microseconds(&reader)
    return now(plus: isBefore ? -microseconds : microseconds)
  }

  private mutating func ago() throws(GrammarError) -> Date {
    let microseconds = try TimeSpan.microseconds(&reader)
    guard reader.take("ago") else {
      throw reader.error("“ago” is missing after a length of time, or - before it")
    }
    return now(plus: -microseconds)
  }

  private func now(plus microseconds: Int) -> Date {
    Date(microseconds: now.microseconds + Int64(microseconds))
  }
}

/// Days, times of day and zones.
extension MomentParser {
  private mutating func day() throws(GrammarError) -> CivilTime {
    let year = try reader.number(digits: 4, in: 1...9999, called: "a year")
    try expect("-", "a day is written YYYY-MM-DD")
    let month = try reader.number(digits: 2, in: 1...12, called: "a month")
    try expect("-", "a day is written YYYY-MM-DD")
    let dayOffset = reader.offset
    let civil = CivilTime(
      year: year, month: month,
      day: try reader.number(digits: 2, in: 1...31, called: "a day"))
    if civil.midnight(daysBefore: 0).day != civil.day {
      throw reader.error("that month has no such day", at: dayOffset)
    }
    return civil
  }

  private func midnight(daysAgo count: Int) -> CivilTime {
    zone.civil(now).midnight(daysBefore: count)
  }

  /// The moment on a day: at the time that follows, else at its start.
  private mutating func moment(of day: CivilTime, hasTime: Bool = false) throws(GrammarError)
    -> Date
  {
    guard hasTime || reader.take("T") || reader.take(" ") else { return zone.date(day) }
    var civil = day
    civil.hour = try reader.number(digits: 2, in: 0...23, called: "an hour")
    try expect(":", "a time is written hh:mm or hh:mm:ss")
    civil.minute = try reader.number(digits: 2, in: 0...59, called: "a minute")
    if reader.take(":") {
      civil.second = try reader.number(digits: 2, in: 0...59, called: "a second")
      if reader.take(".") { civil.microsecond = try fraction() }
    }
    let zone = try offset().map(Zone.fixed) ?? zone
    return zone.date(civil)
  }

  /// Microseconds; further digits are dropped, because no record has them.
  private mutating func fraction() throws(GrammarError) -> Int {
    let start = reader.offset
    let digits = reader.digits().prefix(6)
    guard let value = Int(digits) else { throw reader.error("a fraction has digits", at: start) }
    return (digits.count..<6).reduce(value) { value, _ in value * 10 }
  }

  /// The zone that follows a time, in seconds east of UTC.
  private mutating func offset() throws(GrammarError) -> Int? {
    _ = reader.take(" ")
    if reader.isAtEnd { return nil }
    if reader.take("Z") || reader.take("UTC") { return 0 }
    let isWest = reader.take("-")
    guard isWest || reader.take("+") else {
      throw reader.error("a zone is Z, UTC, or as in +01:00; without one the time is local")
    }
    var seconds = try 3600 * reader.number(digits: 2, in: 0...23, called: "an hour")
    if reader.take(":") || reader.isAtDigit {
      seconds += try 60 * reader.number(digits: 2, in: 0...59, called: "a minute")
    }
    return isWest ? -seconds : seconds
  }

  private mutating func expect(_ word: String, _ reason: String) throws(GrammarError) {
    if !reader.take(word) { throw reader.error(reason) }
  }
}
