// The functions of conditions, applied to stored values: `count`, `lowercased`, and parts of dates.

extension ConditionStep.Function {
  /// Lends the result for a value; empty if it has none.
  func apply<R>(to value: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    if self == .none || value.byteCount == 0 { return try body(value) }
    guard let result = try result(value) else { return try body(value.extracting(0..<0)) }
    return try result.stored().lend { try body($0) }
  }

  private func result(_ value: RawSpan) throws -> Value? {
    let tag = try value.load(UInt8.self, at: 0)
    switch (self, tag) {
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
      return .integer(moment.part(self))
    default: return nil
    }
  }
}

/// A moment in UTC by the proleptic Gregorian calendar.
private struct CivilTime {
  let day: (year: Int64, month: Int64, day: Int64)
  /// Microseconds since midnight.
  let time: Int64

  init(microseconds: Int64) { (day, time) = DateText.civil(microseconds: microseconds) }

  func part(_ function: ConditionStep.Function) -> Int64 {
    switch function {
    case .year: day.year
    case .month: day.month
    case .day: day.day
    default: time / 3_600_000_000
    }
  }
}
