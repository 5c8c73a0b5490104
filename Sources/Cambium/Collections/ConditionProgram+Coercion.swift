// Constants as they are compared with values of a declared type.

import FoundationEssentials

extension Value {
  /// The constant as a property of some type is compared with it: what a text says, where the
  /// property holds moments, UUIDs or decimals.
  func coerced(to type: PropertyType?) -> Value {
    switch (type, self) {
    case (.date, .string(let text)): DateLiteral.read(text).map { .date($0) } ?? self
    case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) } ?? self
    case (.decimal, .string(let text)): Decimal(string: text).map { .decimal($0) } ?? self
    case (.decimal, .double(let number)) where number.isFinite:
      Decimal(string: number.description).map { .decimal($0) } ?? self
    default: self
    }
  }
}

/// Moments as conditions write them: `2013-01-01`, `2013-01-01T05:00`, `2013-01-01T05:00:00.25Z`;
/// in UTC, or with a distance from it: `+01:00`.
enum DateLiteral {
  /// Reads a moment; nil where the text is none.
  static func read(_ text: String) -> Date? {
    var scanner = Scanner(text.utf8[...])
    guard let (year, month, day) = scanner.day() else { return nil }
    var time: Int64 = 0
    if !scanner.isAtEnd {
      guard scanner.take("T") || scanner.take(" "), let found = scanner.time() else { return nil }
      time = found
    }
    guard scanner.isAtEnd else { return nil }
    return CivilTime.microseconds(year: year, month: month, day: day, time: time)
      .map { Date(microseconds: $0) }
  }

  /// A moment that ``read(_:)`` reads; nil for years of more or less than four digits.
  static func text(_ date: Date) -> String? {
    let moment = CivilTime(microseconds: date.microseconds)
    guard (0...9999).contains(moment.year) else { return nil }
    let (seconds, rest) = moment.time.quotientAndRemainder(dividingBy: 1_000_000)
    let day =
      "\(padded(moment.year, 4))-\(padded(moment.month, 2))-\(padded(moment.day, 2))"
    let time =
      "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
    return "\(day)T\(time)\(rest == 0 ? "" : "." + padded(rest, 6))Z"
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  private struct Scanner {
    var rest: Substring.UTF8View

    init(_ text: Substring.UTF8View) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    /// So many digits.
    mutating func number(_ count: Int, upTo limit: Int64 = .max) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<count {
        guard let digit = rest.first, digit >= 0x30, digit <= 0x39 else { return nil }
        value = value * 10 + Int64(digit - 0x30)
        rest.removeFirst()
      }
      return value <= limit ? value : nil
    }

    mutating func day() -> (Int64, Int64, Int64)? {
      guard let year = number(4), take("-"), let month = number(2, upTo: 12), month > 0,
        take("-"), let day = number(2, upTo: 31), day > 0
      else { return nil }
      return (year, month, day)
    }

    /// The time of day in microseconds, in UTC.
    mutating func time() -> Int64? {
      guard let hour = number(2, upTo: 23), take(":"), let minute = number(2, upTo: 59) else {
        return nil
      }
      var time = (hour * 60 + minute) * 60_000_000
      if take(":") {
        guard let second = number(2, upTo: 59) else { return nil }
        time += second * 1_000_000
        if take(".") {
          guard let rest = fraction() else { return nil }
          time += rest
        }
      }
      if take("Z") || isAtEnd { return time }
      let isAhead = take("+")
      guard isAhead || take("-"), let hours = number(2, upTo: 23), take(":"),
        let minutes = number(2, upTo: 59)
      else { return nil }
      return time + (isAhead ? -1 : 1) * (hours * 60 + minutes) * 60_000_000
    }

    /// Up to six digits after the point; more are left out.
    private mutating func fraction() -> Int64? {
      var (value, count): (Int64, Int) = (0, 0)
      while let digit = rest.first, digit >= 0x30, digit <= 0x39 {
        if count < 6 { value = value * 10 + Int64(digit - 0x30) }
        count += 1
        rest.removeFirst()
      }
      guard count > 0 else { return nil }
      for _ in min(count, 6)..<6 { value *= 10 }
      return value
    }
  }
}
