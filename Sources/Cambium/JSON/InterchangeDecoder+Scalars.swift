// Reads values of simple types from their form outside the database. Only the same value is
// accepted: 5.0 for the whole number 5, but not 5.5; the text "5" only by a lenient profile.

import FoundationEssentials

extension InterchangeDecoder {
  /// The value of a simple type; nil where it is a problem.
  mutating func scalar(_ value: Value, _ type: PropertyType, _ place: Place) -> Value? {
    if let exact = exactly(value, as: type) { return exact }
    return refuse(value, expected(type), place)
  }

  private func exactly(_ value: Value, as type: PropertyType) -> Value? {
    switch type {
    case .bool: bool(value)
    case .integer: integer(value).map { .integer($0) }
    case .double: double(value).map { .double($0) }
    case .decimal: decimal(value)
    case .string: string(value)
    case .date: date(value)
    case .uuid: uuid(value)
    case .data: data(value)
    case .blob: blob(value)
    default: value
    }
  }

  private func expected(_ type: PropertyType) -> String {
    switch type {
    case .integer: "a whole number of 64 bits"
    case .double: "a number that a double holds exactly"
    case .decimal: "a decimal number of up to 38 digits"
    case .data: "base64"
    case .blob: "a blob's hash and size"
    case .date:
      switch profile.dates {
      case .iso8601: "a date such as 2013-01-01T10:00:00Z"
      case .seconds: "a number of seconds"
      case .milliseconds: "a number of milliseconds"
      }
    default: "\(type)"
    }
  }

  private func bool(_ value: Value) -> Value? {
    switch value {
    case .bool: value
    case .string(let text) where profile.isLenient:
      ScalarText.boolean(Array(text.utf8).span).map { .bool($0) }
    default: nil
    }
  }

  private func integer(_ value: Value) -> Int64? {
    switch value {
    case .integer(let number): return number
    case .double(let number): return Int64(exactly: number)
    case .decimal(let number): return Int64("\(number)")
    case .string(let text):
      guard let number = ScalarText.integer(Array(text.utf8).span) else { return nil }
      // A number that JSON would not keep exactly is written as text.
      let isLarge = number.magnitude > JSONTypes.integerMax.magnitude
      return isLarge || profile.isLenient ? number : nil
    default: return nil
    }
  }

  private func double(_ value: Value) -> Double? {
    switch value {
    case .double(let number): return number
    case .integer(let number):
      return profile.isLenient ? Double(number) : Double(exactly: number)
    case .decimal(let number):
      // Some write a double with more digits than it needs.
      let bytes = Array(DecimalText.text(number).utf8)
      let text = NumberText(bytes.span)
      return profile.isLenient ? text?.double(bytes.span) : text?.exactDouble(bytes.span)
    case .string(let text):
      let bytes = Array(text.utf8)
      if let special = ScalarText.special(bytes.span) { return special }
      guard profile.isLenient else { return nil }
      return NumberText(bytes.span)?.double(bytes.span)
    default: return nil
    }
  }

  private func decimal(_ value: Value) -> Value? {
    switch value {
    case .decimal: value
    // It is written as an integer where numbers are not marked with their kind.
    case .integer(let number): .decimal(Decimal(number))
    case .double(let number) where number.isFinite:
      DecimalText.parse(Array(number.description.utf8).span).map { .decimal($0) }
    case .string(let text): DecimalText.parse(Array(text.utf8).span).map { .decimal($0) }
    default: nil
    }
  }

  private func string(_ value: Value) -> Value? {
    if case .string = value { return value }
    guard profile.isLenient else { return nil }
    switch value {
    case .integer, .double, .bool: return .string(JSONWriter.text(value, isPlain: true))
    case .decimal(let number): return .string(DecimalText.text(number))
    default: return nil
    }
  }

  private func date(_ value: Value) -> Value? {
    guard let microseconds = microseconds(value) else { return nil }
    let date = Date(microseconds: microseconds)
    // Far from our time a date has not all microseconds.
    return date.microseconds == microseconds ? .date(date) : nil
  }

  private func microseconds(_ value: Value) -> Int64? {
    let unit: Int64
    switch (profile.dates, value) {
    case (_, .date(let date)): return date.microseconds
    case (.iso8601, .string(let text)):
      return ScalarText.date(Array(text.utf8).span, nil)?.microseconds
    case (.iso8601, _): return nil
    case (.seconds, _): unit = 1_000_000
    case (.milliseconds, _): unit = 1000
    }
    switch value {
    case .integer(let number):
      let (product, overflow) = number.multipliedReportingOverflow(by: unit)
      return overflow ? nil : product
    case .double(let number): return InterchangeMoment.microseconds(number, unit)
    case .decimal(let number):
      let exact = Int64("\(number * Decimal(unit))")
      guard exact == nil, profile.isLenient, let rounded = double(value) else { return exact }
      return InterchangeMoment.microseconds(rounded, unit)
    case .string(let text):
      guard let number = DecimalText.parse(Array(text.utf8).span), !number.isNaN else { return nil }
      return Int64("\(number * Decimal(unit))")
    default: return nil
    }
  }

  private func uuid(_ value: Value) -> Value? {
    switch value {
    case .uuid: value
    case .string(let text): UUID(uuidString: text).map { .uuid($0) }
    default: nil
    }
  }

  private func data(_ value: Value) -> Value? {
    switch value {
    case .data: value
    case .string(let text): Data(base64Encoded: text).map { .data($0) }
    default: nil
    }
  }

  private func blob(_ value: Value) -> Value? {
    if case .blob = value { return value }
    guard case .map(let record) = value, record.count == 2,
      case .string(let digits)? = record["hash"],
      let hash = JSONTypes.hash(digits)
    else { return nil }
    let size: UInt64? =
      switch record["size"] {
      case .integer(let number): UInt64(exactly: number)
      case .string(let text): UInt64(text)
      case .decimal(let number): UInt64("\(number)")
      default: nil
      }
    return size.map { .blob(Blob(hash: hash, size: $0)) }
  }
}
