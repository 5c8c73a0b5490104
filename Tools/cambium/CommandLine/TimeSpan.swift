/// Lengths of time as systemd writes them: `10m`, `1h 30min`, `2.5 s`, `3 days`.
///
///     span   = part { [" "] part }
///     part   = number [" "] unit           number = digits ["." digits]
///
/// A day is 24 hours, a month 30.44 days, a year 365.25 days. `m` is minutes and `M` months.
enum TimeSpan {
  /// The names of each unit, and its length in microseconds.
  static let units: [(names: [String], microseconds: Double)] = [
    (["us", "µs", "μs", "usec"], 1),
    (["ms", "msec"], 1e3),
    (["s", "sec", "second", "seconds"], 1e6),
    (["m", "min", "minute", "minutes"], 60e6),
    (["h", "hr", "hour", "hours"], 3600e6),
    (["d", "day", "days"], 86_400e6),
    (["w", "week", "weeks"], 7 * 86_400e6),
    (["M", "month", "months"], 30.44 * 86_400e6),
    (["y", "year", "years"], 365.25 * 86_400e6),
  ]

  /// A length of time in its largest units: `90 days`, `1 h 30 min`.
  static func text(_ duration: Duration) -> String {
    let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("min", 60)]
    var rest = duration.components.seconds
    var parts: [String] = []
    for unit in units where rest >= unit.seconds {
      parts.append("\(rest / unit.seconds) \(unit.name)")
      rest %= unit.seconds
    }
    if rest > 0 || parts.isEmpty { parts.append("\(rest) s") }
    return parts.joined(separator: " ")
  }

  /// Reads a whole text; a number alone is in seconds.
  static func duration(_ text: String) throws(GrammarError) -> Duration {
    if let seconds = Int64(text), (0...1_000_000_000).contains(seconds) { return .seconds(seconds) }
    var reader = TextReader(text)
    let microseconds = try microseconds(&reader)
    try reader.expectEnd()
    return .microseconds(microseconds)
  }

  /// Reads parts as long as numbers follow, and returns their sum in microseconds.
  static func microseconds(_ reader: inout TextReader) throws(GrammarError) -> Int {
    let start = reader.offset
    var sum = 0.0
    repeat { sum += try part(&reader) } while reader.isAtDigit
    guard sum <= 1e16 else { throw reader.error("that is more than 300 years", at: start) }
    return Int(sum.rounded())
  }

  private static func part(_ reader: inout TextReader) throws(GrammarError) -> Double {
    let start = reader.offset
    let whole = reader.digits()
    let point = reader
    let fraction = reader.take(".") ? reader.digits() : ""
    if fraction.isEmpty { reader = point }
    guard !whole.isEmpty, let number = Double("\(whole).\(fraction)0") else {
      throw reader.error("a length of time is a number and a unit, as in 10m", at: start)
    }
    _ = reader.take(" ")
    let unitOffset = reader.offset
    let name = reader.letters()
    guard let unit = units.first(where: { $0.names.contains(name) }) else {
      throw reader.error("a unit is one of s, m, h, d, w, M, y, or its name", at: unitOffset)
    }
    _ = reader.take(" ")
    return number * unit.microseconds
  }
}
