// Values as people write them in the editors of a form, and back.
//
// | Type | Text |
// |---|---|
// | null | empty |
// | bool | `true` or `false`, in capitals too |
// | integer, double, decimal | as in `-42` or `1.5` |
// | date | `2013-01-01T10:00:00Z`; a day alone is its start in UTC |
// | UUID | as it is written |
// | data | base64 |
// | reference | the other record's key |
// | array, map, any | JSON; text itself where any value may be |

import FoundationEssentials

/// Writes and reads values as text.
enum FormText {
  /// A value as an editor shows it.
  static func text(of value: Value) -> String {
    switch value {
    case .null: ""
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): number.description
    case .string(let text): text
    case .data(let data): data.base64EncodedString()
    case .date(let date): DateText.text(moment: date.microseconds)
    case .uuid(let uuid): uuid.uuidString.lowercased()
    case .decimal(let number): DecimalText.text(number)
    case .reference(let path): path.description
    case .blob, .array, .map: JSONWriter.text(value)
    }
  }

  /// The value that a text stands for; nil if it is none of the type.
  static func value(of text: String, as type: PropertyType) -> Value? {
    if type == .string { return .string(text) }
    let text = trimmed(text)
    if text.isEmpty { return .null }
    switch type {
    case .string, .blob: return nil
    case .bool: return ScalarText.boolean(text.utf8.span).map { .bool($0) }
    case .integer: return ScalarText.integer(text.utf8.span).map { .integer($0) }
    case .double: return ScalarText.number(text.utf8.span).map { .double($0) }
    case .decimal: return DecimalText.parse(text.utf8.span).map { .decimal($0) }
    case .date: return ScalarText.date(text.utf8.span, nil).map { .date($0) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .data: return Data(base64Encoded: text).map { .data($0) }
    case .reference: return (try? Key(text)).map(value)
    case .any: return (try? JSONReader.value(of: text, name: "JSON")) ?? .string(text)
    case .array, .map, .keyed:
      let json = try? JSONReader.value(of: text, name: "JSON")
      return json.flatMap { fitted($0, to: type) }
    }
  }

  /// The text without spaces at its ends.
  private static func trimmed(_ text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    let end = start.lastIndex { !$0.isWhitespace }
    return end.map { String(start[...$0]) } ?? ""
  }

  /// A key as references to it are stored.
  static func value(of key: Key) -> Value {
    switch key {
    case .integer(let number): .integer(number)
    case .uuid(let uuid): .uuid(uuid)
    case .text(let text): .string(text)
    }
  }

  /// A value of JSON as one of a type: texts in it may stand for what JSON has no form for.
  private static func fitted(_ value: Value, to type: PropertyType) -> Value? {
    if value == .null || takes(type, value) { return value }
    switch (type, value) {
    case (.array(let element), .array(let values)):
      let fitting = values.compactMap { fitted($0, to: element) }
      return fitting.count == values.count ? .array(fitting) : nil
    case (.map(let element), .map(let map)), (.keyed(_, let element), .map(let map)):
      let fitting = map.members.compactMap { member in
        fitted(member.value, to: element).map { (name: member.name, value: $0) }
      }
      return fitting.count == map.members.count ? .map(ValueMap(fitting)) : nil
    case (_, .string(let text)): return FormText.value(of: text, as: type)
    default: return nil
    }
  }

  /// True if a value, which is not null, is one of the type.
  static func takes(_ type: PropertyType, _ value: Value) -> Bool {
    (try? value.stored().lend { try type.takes($0) }) ?? false
  }
}
