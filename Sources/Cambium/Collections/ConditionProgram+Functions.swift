// What functions make of stored values.

extension ConditionProgram {
  /// Lends what a function makes of a value; empty where that is nothing.
  func apply<R>(
    _ function: Function, _ value: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    if function == .none || value.byteCount == 0 { return try body(value) }
    let result = try ConditionProgram.result(function, value)
    guard let result else { return try body(value.extracting(0..<0)) }
    return try result.stored().lend { try body($0) }
  }

  private static func result(_ function: Function, _ value: RawSpan) throws -> Value? {
    let tag = try value.load(UInt8.self, at: 0)
    switch (function, tag) {
    case (.none, _): return nil
    case (.count, ValueTag.string):
      return .integer(Int64(try value.string(1, value.byteCount - 1).count))
    case (.count, ValueTag.array), (.count, ValueTag.map):
      return .integer(Int64(try value.elementCount(isMap: tag == ValueTag.map)))
    case (.lowercased, ValueTag.string):
      return .string(try value.string(1, value.byteCount - 1).lowercased())
    case (.year, ValueTag.date), (.month, ValueTag.date), (.day, ValueTag.date),
      (.hour, ValueTag.date):
      let moment = CivilTime(microseconds: try value.load(Int64.self, at: 1))
      return .integer(moment.part(function))
    default: return nil
    }
  }
}

/// A moment in UTC by the Gregorian calendar, which is taken to have been in use always.
///
/// The days are counted as Howard Hinnant's *chrono-Compatible Low-Level Date Algorithms* do.
struct CivilTime {
  var year: Int64
  var month: Int64
  var day: Int64
  /// Microseconds since midnight.
  var time: Int64

  static let dayMicroseconds: Int64 = 86_400_000_000

  init(microseconds: Int64) {
    let (quotient, remainder) = microseconds.quotientAndRemainder(
      dividingBy: CivilTime.dayMicroseconds)
    time = remainder < 0 ? remainder + CivilTime.dayMicroseconds : remainder
    // Days since the first of March of the year 0, by eras of 400 years.
    let days = (remainder < 0 ? quotient - 1 : quotient) + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Microseconds since 1970; nil where they do not fit.
  static func microseconds(year: Int64, month: Int64, day: Int64, time: Int64) -> Int64? {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    let (whole, overflow) = days.multipliedReportingOverflow(by: CivilTime.dayMicroseconds)
    let (sum, carry) = whole.addingReportingOverflow(time)
    return overflow || carry ? nil : sum
  }

  fileprivate func part(_ function: ConditionProgram.Function) -> Int64 {
    switch function {
    case .year: year
    case .month: month
    case .day: day
    default: time / 3_600_000_000
    }
  }
}
