// The functions of conditions, applied to stored values: `count`, `lowercased`, and parts of dates.

extension PropertyPath.Function? {
  /// Lends the result for a value, or the value itself if there is no function; empty if it has
  /// none.
  func apply<R>(to value: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    guard let function = self, value.byteCount > 0 else { return try body(value) }
    guard let result = try function.result(value) else {
      return try body(value.extracting(0..<0))
    }
    return try result.stored().lend { try body($0) }
  }
}

extension PropertyPath.Function {
  fileprivate func result(_ value: RawSpan) throws -> Value? {
    let tag = try value.load(UInt8.self, at: 0)
    switch (self, tag) {
    case (.count, ValueTag.string):
      return .integer(Int64(try value.string(1, value.byteCount - 1).count))
    case (.count, ValueTag.array), (.count, ValueTag.map):
      return .integer(Int64(try value.elementCount(isMap: tag == ValueTag.map)))
    case (.lowercased, ValueTag.string):
      return .string(try value.string(1, value.byteCount - 1).lowercased())
    case (_, ValueTag.date):
      return part(of: try value.load(Int64.self, at: 1)).map { .integer($0) }
    default: return nil
    }
  }

  /// A part of a moment in UTC, by the proleptic Gregorian calendar.
  private func part(of microseconds: Int64) -> Int64? {
    let (day, time) = DateText.civil(microseconds: microseconds)
    return switch self {
    case .year: day.year
    case .month: day.month
    case .day: day.day
    case .hour: time / 3_600_000_000
    case .count, .lowercased: nil
    }
  }
}
