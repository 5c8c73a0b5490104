import Cambium
import FoundationEssentials

/// Values of one type as another, where nothing is lost.
///
/// | To | From |
/// |---|---|
/// | integer | a double or decimal without a fraction; text as in `-42`; `true`, `false` as 1, 0 |
/// | double, decimal | any number that it holds exactly; text |
/// | bool | 1 and 0; `true`, `false` |
/// | date | text as in `2013-01-01` or `2013-01-01T10:00:00Z`; microseconds since 1970 |
/// | uuid | text |
/// | string | any single value, as it is written |
///
/// Null stays null.
enum ValueConversion {
  /// The names of the types that can be asked for.
  static let types: [String: PropertyType] = [
    "bool": .bool, "integer": .integer, "double": .double, "string": .string, "date": .date,
    "uuid": .uuid, "decimal": .decimal, "any": .any,
  ]

  /// The value as another type; nil where it cannot be one.
  static func convert(_ value: Value, to type: PropertyType) -> Value? {
    switch (type, value) {
    case (.any, _), (_, .null), (.bool, .bool), (.integer, .integer), (.double, .double),
      (.string, .string), (.date, .date), (.uuid, .uuid), (.decimal, .decimal):
      return value
    case (.integer, _): return integer(value).map { .integer($0) }
    case (.double, _): return double(value).map { .double($0) }
    case (.decimal, _): return decimal(value).map { .decimal($0) }
    case (.bool, _): return bool(value).map { .bool($0) }
    case (.date, .string(let text)): return ScalarText.date(text.utf8.span, nil).map { .date($0) }
    case (.date, .integer(let microseconds)): return .date(Date(microseconds: microseconds))
    case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
    case (.string, _): return text(value).map { .string($0) }
    default: return nil
    }
  }

  private static func integer(_ value: Value) -> Int64? {
    switch value {
    case .double(let number): Int64(exactly: number)
    case .decimal(let number): Int64(DecimalText.text(number))
    case .bool(let flag): flag ? 1 : 0
    case .string(let text): ScalarText.integer(text.utf8.span)
    default: nil
    }
  }

  private static func double(_ value: Value) -> Double? {
    switch value {
    case .integer(let number): Double(exactly: number)
    case .decimal(let number):
      ScalarText.number(DecimalText.text(number).utf8.span)
    case .string(let text): ScalarText.number(text.utf8.span)
    default: nil
    }
  }

  private static func decimal(_ value: Value) -> Decimal? {
    switch value {
    case .integer(let number): Decimal(number)
    case .double(let number): number.isFinite ? DecimalText.parse("\(number)".utf8.span) : nil
    case .string(let text): DecimalText.parse(text.utf8.span)
    default: nil
    }
  }

  private static func bool(_ value: Value) -> Bool? {
    switch value {
    case .integer(0): false
    case .integer(1): true
    case .string(let text): ScalarText.boolean(text.utf8.span)
    default: nil
    }
  }

  private static func text(_ value: Value) -> String? {
    switch value {
    case .bool, .integer, .double, .date, .uuid, .decimal: ValueText.whole(value)
    default: nil
    }
  }
}
