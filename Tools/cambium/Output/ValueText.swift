import Cambium
import FoundationEssentials

/// Values as people read them, each on one line that a terminal cannot misread.
///
/// | Value | Text |
/// |---|---|
/// | null, bool, integer, double | as in JSON; also `nan` and `inf` |
/// | string | as it is; in quotes where it has spaces, or looks like another value |
/// | date | `2013-01-01T10:00:00Z` |
/// | UUID, decimal | as it is written |
/// | data | `data 12 B 3q2+7w==`, base64 |
/// | reference | `reference users/ada` |
/// | blob | `blob 12.3 kB`, and its hash, or its first digits |
/// | array, map | JSON |
enum ValueText {
  /// Where many values are shown, a longer one is cut.
  static let columnsMax = 48

  /// A value in at most so many columns.
  static func short(_ value: Value, columns: Int = columnsMax) -> String {
    switch value {
    case .string(let text): return string(text, columns: columns)
    case .blob(let blob):
      return "blob \(Quantity.bytes(blob.size)) \(hexadecimal(blob.hash.prefix(6)))"
    default: return Terminal.truncated(whole(value, bytesMax: columns), to: columns)
    }
  }

  /// A value, uncut; text without quotes.
  static func whole(_ value: Value) -> String { whole(value, bytesMax: .max) }

  /// The whole value, but of data only the first `bytesMax` bytes.
  private static func whole(_ value: Value, bytesMax: Int) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .double(let value): value.description
    case .string(let text): Terminal.escaped(text)
    case .data(let data):
      "data \(Quantity.bytes(data.count)) \(data.prefix(bytesMax).base64EncodedString())"
    case .date(let date): date.machineText
    case .uuid(let uuid): uuid.uuidString.lowercased()
    case .decimal(let number): DecimalText.text(number)
    case .reference(let path): "reference \(Terminal.escaped(path.description))"
    case .blob(let blob): "blob \(Quantity.bytes(blob.size)) \(hexadecimal(blob.hash))"
    case .array, .map: JSONWriter.text(value)
    }
  }

  private static func string(_ text: String, columns: Int) -> String {
    let start = String(text.prefix(columns + 1))
    if isPlain(start) { return Terminal.truncated(Terminal.escaped(start), to: columns) }
    let inner = JSONText.quoted(start).dropFirst().dropLast()
    return "\"\(Terminal.truncated(String(inner), to: columns - 2))\""
  }

  /// True if a text needs no quotes.
  private static func isPlain(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    if bytes.isEmpty || text == "null" || bytes.contains(where: { $0 <= ASCII.space }) {
      return false
    }
    return !"\"[{".utf8.contains(bytes[0]) && FieldTypes(of: bytes.span).isEmpty
  }

  /// Bytes in hexadecimal.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    String(
      decoding: bytes.flatMap { [ASCII.hexDigits[Int($0 >> 4)], ASCII.hexDigits[Int($0 & 15)]] },
      as: UTF8.self)
  }

  /// The properties of a record, each with its name.
  static func properties(_ record: ValueMap, columns: Int = columnsMax) -> [StyledLine] {
    record.members.map { member in
      StyledLine(Terminal.escaped(member.name) + " ", .metadata)
        + short(member.value, columns: columns)
    }
  }
}
