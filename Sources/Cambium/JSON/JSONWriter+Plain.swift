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
    case .array(let elements): append(elements, isPlain: true, to: &output)
    case .map(let record): append(record, isPlain: true, to: &output)
    default: append(plain: InterchangeEncoder(.standard).plain(value), to: &output)
    }
  }

  /// Adds a record as a profile wants it.
  package static func append(
    _ record: ValueMap, as profile: InterchangeProfile, to output: inout [UInt8]
  ) {
    append(record, isPlain: profile.kinds == .plain, to: &output)
  }
}
