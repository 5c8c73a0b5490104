// Values as JSON without types, as an `InterchangeEncoder` has made them. Every digit is written.

import FoundationEssentials

extension JSONWriter {
  /// Adds a value, without spaces. A value that JSON does not have is written as by the standard
  /// profile.
  ///
  /// It calls itself for what is inside, so not deeper than values nest.
  package static func append(plain value: Value, to output: inout [UInt8]) {
    switch value {
    case .null, .bool, .string: append(value, to: &output)
    case .integer(let number): NumberText.append(number, to: &output)
    case .double(let number) where number.isFinite: NumberText.append(number, to: &output)
    case .decimal(let number) where !number.isNaN:
      output.append(contentsOf: DecimalText.text(number).utf8)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(ASCII.comma) }
        append(plain: element, to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .map(let record):
      output.append(UInt8(ascii: "{"))
      for (index, member) in record.members.enumerated() {
        if index > 0 { output.append(ASCII.comma) }
        JSONText.append(member.name, to: &output)
        output.append(ASCII.colon)
        append(plain: member.value, to: &output)
      }
      output.append(UInt8(ascii: "}"))
    default: append(plain: InterchangeEncoder(.standard).plain(value), to: &output)
    }
  }

  /// A value as text without types.
  package static func plainText(_ value: Value) -> String {
    var output: [UInt8] = []
    append(plain: value, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Adds a record as a profile wants it.
  package static func append(
    _ record: Record, as profile: InterchangeProfile, to output: inout [UInt8]
  ) {
    if profile.kinds == .kept { return append(record, to: &output) }
    append(plain: .map(record), to: &output)
  }
}
