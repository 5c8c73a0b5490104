import Cambium
import Foundation

/// Values as they are written in Swift, where a property of their type is expected.
enum SwiftLiteral {
  /// The literal; nil for what has none: blobs, decimals of more than 64 bits.
  static func text(_ value: Value, as type: PropertyType) -> String? {
    switch value {
    case .null, .blob: return nil
    case .array(let values):
      let element: PropertyType = if case .array(let element) = type { element } else { .any }
      let elements = values.compactMap { text($0, as: element) }
      return elements.count == values.count ? "[\(elements.joined(separator: ", "))]" : nil
    case .map(let record): return map(record, as: type)
    default: break
    }
    guard let (word, plain) = scalar(value) else { return nil }
    if case .reference = type { return ".init(\(plain))" }
    // The other literals make a `Value` by themselves.
    return type == .any && !word.isEmpty ? ".\(word)(\(plain))" : plain
  }

  /// Text in quotes, with what it escapes.
  static func quoted(_ text: String) -> String { String(reflecting: text) }

  /// The literal, and the case of ``Value`` that it needs where any value may be.
  private static func scalar(_ value: Value) -> (word: String, text: String)? {
    switch value {
    case .bool(let value): ("", "\(value)")
    case .integer(let value): ("", "\(value)")
    case .double(let value) where value.isFinite: ("", "\(value)")
    case .double(let value):
      ("double", value.isNaN ? ".nan" : value < 0 ? "-.infinity" : ".infinity")
    case .string(let value): ("", quoted(value))
    case .data(let data): ("data", "Data(\(Array(data)))")
    case .date(let date):
      ("date", "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))")
    case .uuid(let uuid): ("uuid", "UUID(uuid: \(uuid.uuid))")
    case .decimal(let decimal): text(decimal).map { (word: "decimal", text: $0) }
    case .reference(let path): ("reference", quoted(path.description))
    case .null, .blob, .array, .map: nil
    }
  }

  private static func text(_ decimal: Decimal) -> String? {
    guard !decimal.isNaN, let significand = Int("\(decimal.significand)") else { return nil }
    let sign = decimal.sign == .minus ? ".minus" : ".plus"
    return "Decimal(sign: \(sign), exponent: \(decimal.exponent), significand: \(significand))"
  }

  private static func map(_ record: ValueMap, as type: PropertyType) -> String? {
    let element: PropertyType =
      switch type {
      case .map(let element), .keyed(by: _, let element): element
      default: .any
      }
    var members: [String] = []
    for member in record.members {
      guard let value = text(member.value, as: element) else { return nil }
      members.append("\(quoted(member.name)): \(value)")
    }
    return members.isEmpty ? "[:]" : "[\(members.joined(separator: ", "))]"
  }
}
