// The kinds of values in words, for messages.

import FoundationEssentials

extension Value {
  /// The value's kind, for messages, with the value if it is short.
  var kindText: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "the whole number \(value)"
    case .double(let value): "the number \(value)"
    case .string(let text): text.utf8.count <= 40 ? "the text '\(text)'" : "a text"
    case .data: "bytes"
    case .date: "a date"
    case .uuid: "a UUID"
    case .decimal(let value): "the decimal number \(value)"
    case .array: "an array"
    case .map: "a map"
    case .reference: "a path"
    case .blob: "a blob"
    }
  }
}

extension ValueTag {
  /// The kind that a tag denotes, for messages.
  static func text(_ tag: UInt8) -> String {
    switch tag {
    case null: "null"
    case `false`, `true`: "a Boolean"
    case integer1...integer8: "a whole number"
    case double: "a floating-point number"
    case string: "a text"
    case data: "bytes"
    case date: "a date"
    case uuid: "a UUID"
    case decimal: "a decimal number"
    case array: "an array"
    case map: "a map"
    case reference: "a path"
    case blob: "a blob"
    default: "something of the unknown kind \(tag)"
    }
  }
}

extension Value {
  /// The value as shown in a message.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .decimal(let value): "\(value)"
    case .uuid(let value): value.uuidString.lowercased()
    default: "\(self)"
    }
  }
}
