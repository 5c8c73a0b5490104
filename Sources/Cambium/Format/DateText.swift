// Dates as text: ISO 8601 in the Gregorian calendar, extended into the past and future.
//
//     2013-01-01                          a day: its first moment, UTC
//     2013-01-01T10:00:00Z                a moment, in UTC
//     2013-01-01T10:00:00.25Z             the fraction only where needed, without zeros at its end
//     2013-01-01T10:00:00+02:00           a moment, with an offset that the value does not keep
//     2013-01-01 10:00:00                 a time without an offset, taken as UTC
//     +12013-01-01T…, -0001-01-01T…       years outside 0000 to 9999 have a sign
//
// A value keeps only the moment, so only the first three forms are reproduced exactly when written.
// Digits beyond the microsecond would be lost as well: a text with seven fraction digits is not
// accepted as a date.

package enum DateText {
  /// The form in which a date is written.
  package enum Form: Equatable {
    /// `2013-01-01`
    case day
    /// `2013-01-01T10:00:00Z`
    case moment
    /// Any other form: read, but written as a moment.
    case other
  }

  /// The text of a moment.
  package static func text(moment microseconds: Int64) -> String {
    var bytes: [UInt8] = []
    append(moment: microseconds, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a date in any of the forms above; nil if it is not one.
  package static func parse(_ bytes: Span<UInt8>) -> (microseconds: Int64, form: Form)? {
    var scanner = DateScanner()
    guard let days = scanner.days(bytes) else { return nil }
    var form = Form.day
    var seconds: Int64 = 0
    var fraction: Int64 = 0
    if scanner.index < bytes.count {
      let isStrict = bytes[scanner.index] == UInt8(ascii: "T")
      guard isStrict || bytes[scanner.index] == ASCII.space else { return nil }
      scanner.index += 1
      guard let time = scanner.time(bytes), let offset = scanner.offset(bytes) else { return nil }
      form = isStrict ? offset.form : .other
      (seconds, fraction) = (time.seconds - offset.seconds, time.microseconds)
    }
    guard scanner.index == bytes.count else { return nil }
    let total = Int128(days * 86400 + seconds) * 1_000_000 + Int128(fraction)
    return Int64(exactly: total).map { ($0, form) }
  }

  /// Adds a moment: `2013-01-01T10:00:00Z`, with a fraction where the value has one.
  package static func append(moment microseconds: Int64, to output: inout [UInt8]) {
    let (day, time) = civil(microseconds: microseconds)
    append(day, to: &output)
    let seconds = time / 1_000_000
    output.append(UInt8(ascii: "T"))
    append(seconds / 3600, digits: 2, to: &output)
    output.append(ASCII.colon)
    append(seconds / 60 % 60, digits: 2, to: &output)
    output.append(ASCII.colon)
    append(seconds % 60, digits: 2, to: &output)
    let fraction = time % 1_000_000
    if fraction != 0 {
      output.append(ASCII.point)
      append(fraction, digits: 6, to: &output)
      while output.last == ASCII.zero { output.removeLast() }
    }
    output.append(UInt8(ascii: "Z"))
  }

  /// Adds the day of a moment: `2013-01-01`.
  package static func append(day microseconds: Int64, to output: inout [UInt8]) {
    append(civil(microseconds: microseconds).day, to: &output)
  }

  private static func append(
    _ day: (year: Int64, month: Int64, day: Int64), to output: inout [UInt8]
  ) {
    if day.year > 9999 { output.append(ASCII.plus) }
    if day.year < 0 { output.append(ASCII.minus) }
    append(abs(day.year), digits: 4, to: &output)
    output.append(ASCII.minus)
    append(day.month, digits: 2, to: &output)
    output.append(ASCII.minus)
    append(day.day, digits: 2, to: &output)
  }

  /// True if a moment is midnight in UTC, the first of its day.
  package static func isDay(_ microseconds: Int64) -> Bool {
    microseconds % microsecondsPerDay == 0
  }

  private static let microsecondsPerDay: Int64 = 86_400_000_000

  /// A moment's day in UTC, and the microseconds since its midnight.
  static func civil(
    microseconds: Int64
  ) -> (day: (year: Int64, month: Int64, day: Int64), time: Int64) {
    let (days, rest) = microseconds.quotientAndRemainder(dividingBy: microsecondsPerDay)
    return rest < 0 ? (civil(days - 1), rest + microsecondsPerDay) : (civil(days), rest)
  }

  private static func append(_ number: Int64, digits: Int, to output: inout [UInt8]) {
    let text = number.description.utf8
    output.append(contentsOf: repeatElement(ASCII.zero, count: max(0, digits - text.count)))
    output.append(contentsOf: text)
  }

  /// Days since 1970 for a date (H. Hinnant, chrono-compatible low-level date algorithms, 2013):
  /// years begin in March, so that the leap day comes last.
  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day since 1970; the inverse of `days`.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth + (marchMonth < 10 ? 3 : -9)
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

/// Reads a date's parts from a text, one after the other.
private struct DateScanner {
  /// The offset at which the next part starts.
  var index = 0

  private mutating func skip(_ bytes: Span<UInt8>, _ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// The number of digits that follow.
  private func digitCount(_ bytes: Span<UInt8>) -> Int {
    var end = index
    while end < bytes.count, ASCII.isDigit(bytes[end]) { end += 1 }
    return end - index
  }

  /// Exactly `count` digits, up to a maximum.
  private mutating func digits(_ bytes: Span<UInt8>, _ count: Int, max: Int64 = .max) -> Int64? {
    guard count <= bytes.count - index else { return nil }
    var value: Int64 = 0
    for _ in 0..<count {
      guard ASCII.isDigit(bytes[index]) else { return nil }
      value = value * 10 + Int64(bytes[index] - ASCII.zero)
      index += 1
    }
    return value <= max ? value : nil
  }

  /// `YYYY-MM-DD`, as days since 1970.
  mutating func days(_ bytes: Span<UInt8>) -> Int64? {
    guard let year = year(bytes),
      skip(bytes, ASCII.minus), let month = digits(bytes, 2, max: 12), month > 0,
      skip(bytes, ASCII.minus), let day = digits(bytes, 2), day > 0, day <= Self.length(year, month)
    else { return nil }
    return DateText.days(year: year, month: month, day: day)
  }

  /// Four digits; a year outside 0 to 9999 has a sign, and no more digits than it needs.
  private mutating func year(_ bytes: Span<UInt8>) -> Int64? {
    let isNegative = skip(bytes, ASCII.minus)
    guard isNegative || skip(bytes, ASCII.plus) else { return digits(bytes, 4) }
    let count = digitCount(bytes)
    guard count >= 4, count <= 6, count == 4 || bytes[index] != ASCII.zero,
      let year = digits(bytes, count), isNegative ? year > 0 : year > 9999
    else { return nil }
    return isNegative ? -year : year
  }

  private static func length(_ year: Int64, _ month: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  /// `HH:MM:SS`, with a fraction of one to six digits where there is a point.
  mutating func time(_ bytes: Span<UInt8>) -> (seconds: Int64, microseconds: Int64)? {
    guard let hours = digits(bytes, 2, max: 23),
      skip(bytes, ASCII.colon), let minutes = digits(bytes, 2, max: 59),
      skip(bytes, ASCII.colon), let seconds = digits(bytes, 2, max: 59)
    else { return nil }
    var microseconds: Int64 = 0
    if skip(bytes, ASCII.point) {
      let count = digitCount(bytes)
      guard count > 0, count <= 6, let fraction = digits(bytes, count) else { return nil }
      microseconds = fraction
      for _ in count..<6 { microseconds *= 10 }
    }
    return (hours * 3600 + minutes * 60 + seconds, microseconds)
  }

  /// `Z`, `+HH:MM`, `-HH:MM` or nothing.
  mutating func offset(_ bytes: Span<UInt8>) -> (seconds: Int64, form: DateText.Form)? {
    if index == bytes.count { return (0, .other) }
    if skip(bytes, UInt8(ascii: "Z")) { return (0, .moment) }
    let isNegative = skip(bytes, ASCII.minus)
    guard isNegative || skip(bytes, ASCII.plus), let hours = digits(bytes, 2, max: 23),
      skip(bytes, ASCII.colon), let minutes = digits(bytes, 2, max: 59)
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return (isNegative ? -seconds : seconds, .other)
  }
}
