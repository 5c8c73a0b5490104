import Cambium
import FoundationEssentials

/// A type that a member of a ``JSONLine`` can have: it knows how JSON writes it, and its cell in a
/// table.
protocol JSONPart {
  func append(to output: inout [UInt8])

  /// The cell; nil for a member that only JSON has.
  var cell: Value? { get }
}

extension Value: JSONPart {
  func append(to output: inout [UInt8]) { JSONWriter.append(self, to: &output) }
  var cell: Value? { self }
}

extension String: JSONPart {
  func append(to output: inout [UInt8]) { JSONText.append(self, to: &output) }
  var cell: Value? { .string(self) }
}

extension Bool: JSONPart {
  func append(to output: inout [UInt8]) { output.append(contentsOf: description.utf8) }
  var cell: Value? { .bool(self) }
}

extension Double: JSONPart {
  func append(to output: inout [UInt8]) { Value.double(self).append(to: &output) }
  var cell: Value? { .double(self) }
}

extension JSONPart where Self: BinaryInteger {
  func append(to output: inout [UInt8]) { output.append(contentsOf: description.utf8) }
  var cell: Value? { .integer(Int64(clamping: self)) }
}

extension Int: JSONPart {}
extension UInt32: JSONPart {}
extension UInt64: JSONPart {}

extension SequenceNumber: JSONPart {
  func append(to output: inout [UInt8]) { rawValue.append(to: &output) }
  var cell: Value? { rawValue.cell }
}

extension UUID: JSONPart {
  func append(to output: inout [UInt8]) { uuidString.lowercased().append(to: &output) }
  var cell: Value? { .uuid(self) }
}

extension Date: JSONPart {
  func append(to output: inout [UInt8]) { JSONLine.text(self).append(to: &output) }
  var cell: Value? { .date(self) }
}

extension JSONLine: JSONPart {
  func append(to output: inout [UInt8]) { output += object }
  var cell: Cambium.Value? { nil }
}

extension Array: JSONPart where Element: JSONPart {
  func append(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, element) in enumerated() {
      if index > 0 { output.append(ASCII.comma) }
      element.append(to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  var cell: Value? { nil }
}

/// Texts by name, such as metadata, in the order of their names.
extension Dictionary: JSONPart where Key == String, Value == String {
  func append(to output: inout [UInt8]) {
    let texts = sorted { $0.key < $1.key }
    output += JSONLine(texts.map { ($0.key, $0.value) }).object
  }

  var cell: Cambium.Value? {
    .map(ValueMap(map { (name: $0.key, value: .string($0.value)) }))
  }
}
