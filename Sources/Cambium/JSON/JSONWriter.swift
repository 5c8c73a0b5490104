import FoundationEssentials

/// Writes values as JSON that reads back as the same values; ``JSONTypes`` says how.
package enum JSONWriter {
  /// Adds a value, without spaces.
  ///
  /// It calls itself for what is inside, so not deeper than values nest: `Value.nestingMax` at
  /// most.
  package static func append(_ value: Value, to output: inout [UInt8]) {
    switch value {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): append(value, to: &output)
    case .double(let value): append(value, to: &output)
    case .string(let value): JSONText.append(value, to: &output)
    case .data(let value): JSONTypes.append("data", value.base64EncodedString(), to: &output)
    case .date(let value): append(value, to: &output)
    case .uuid(let value): JSONTypes.append("uuid", value.uuidString.lowercased(), to: &output)
    case .decimal(let value): JSONTypes.append("decimal", DecimalText.text(value), to: &output)
    case .array(let elements): append(elements, isPlain: false, to: &output)
    case .map(let record): append(record, to: &output)
    case .reference(let path): JSONTypes.append("reference", path.description, to: &output)
    case .blob(let blob): append(blob, to: &output)
    }
  }

  /// Adds a record as an object, its members in the order of their names' bytes.
  /// Its values are written without types if it is to be plain.
  package static func append(
    _ record: ValueMap, isPlain: Bool = false, to output: inout [UInt8]
  ) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in record.members.enumerated() {
      if index > 0 { output.append(ASCII.comma) }
      let isEscaped = !isPlain && member.name.utf8.first == ASCII.dollar
      JSONText.append(isEscaped ? "$" + member.name : member.name, to: &output)
      output.append(ASCII.colon)
      append(member.value, isPlain: isPlain, to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  /// A value as text.
  package static func text(_ value: Value, isPlain: Bool = false) -> String {
    var output: [UInt8] = []
    append(value, isPlain: isPlain, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  static func append(_ elements: [Value], isPlain: Bool, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(ASCII.comma) }
      append(element, isPlain: isPlain, to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func append(_ value: Value, isPlain: Bool, to output: inout [UInt8]) {
    if isPlain { append(plain: value, to: &output) } else { append(value, to: &output) }
  }

  private static func append(_ value: Int64, to output: inout [UInt8]) {
    if value.magnitude <= JSONTypes.integerMax.magnitude {
      NumberText.append(value, to: &output)
    } else {
      JSONTypes.append("integer", value.description, to: &output)
    }
  }

  private static func append(_ value: Double, to output: inout [UInt8]) {
    if value.isFinite {
      NumberText.append(value, to: &output)
    } else if !value.isNaN {
      JSONTypes.append("double", value < 0 ? "-inf" : "inf", to: &output)
    } else if value.bitPattern == Double.nan.bitPattern {
      JSONTypes.append("double", "nan", to: &output)
    } else {
      let digits = String(value.bitPattern, radix: 16)
      let zeros = String(repeating: "0", count: 16 - digits.count)
      JSONTypes.append("double", "0x\(zeros)\(digits)", to: &output)
    }
  }

  private static func append(_ value: Date, to output: inout [UInt8]) {
    JSONTypes.append("date", DateText.text(moment: value.microseconds), to: &output)
  }

  private static func append(_ blob: Blob, to output: inout [UInt8]) {
    output.append(contentsOf: "{\"$blob\":\"".utf8)
    for byte in blob.hash {
      output.append(ASCII.hexDigits[Int(byte >> 4)])
      output.append(ASCII.hexDigits[Int(byte & 15)])
    }
    output.append(contentsOf: "\",\"size\":\(blob.size)}".utf8)
  }
}
