import Cambium
import FoundationEssentials

/// Writes records as CSV: RFC 4180 in UTF-8, with a header, lines ended by LF.
///
/// | Value | Field |
/// |---|---|
/// | absent, null | nothing, or the mark for it |
/// | bool | `true`, `false` |
/// | integer | `42` |
/// | double | the shortest digits that give it again, with a point or an exponent: `12.0`; `nan`,
/// `inf`, `-inf` |
/// | string | the text; the empty one, and one like the mark, in quotes |
/// | date | `2013-01-01T10:00:00Z`, with a fraction where it has one; `2013-01-01` in a column of
/// days |
/// | data | base64 |
/// | UUID, decimal, reference | as text |
/// | array, map, blob | as JSON text |
///
/// A field is put in quotes only where it must be. ``CSVReader`` and ``ColumnTypes`` read a column
/// of one type back as it was, except a text column that reads like another type: that one must be
/// declared text.
///
/// A safe form is for spreadsheets: a text that one would run as a formula, or send elsewhere, has
/// a `'` before it, which is read back as a part of the text.
struct CSVWriter: Sendable {
  /// The properties that are written, in this order; others are left out.
  let columns: [CSVColumn]
  /// The text that stands for an absent value.
  var absent = AbsentMark.none
  /// True if no field is a formula to a spreadsheet.
  var isSafe = false

  /// Adds the line with the names of the columns.
  func appendHeader(to output: inout [UInt8]) {
    for (index, column) in columns.enumerated() {
      if index > 0 { output.append(ASCII.comma) }
      append(text: column.name, to: &output)
    }
    output.append(ASCII.lineFeed)
  }

  /// Adds the line of a record.
  func append(_ record: ValueMap, to output: inout [UInt8]) {
    for (index, column) in columns.enumerated() {
      if index > 0 { output.append(ASCII.comma) }
      append(record[column.name] ?? .null, isDay: column.isDays, to: &output)
    }
    output.append(ASCII.lineFeed)
  }

  private func append(_ value: Value, isDay: Bool, to output: inout [UInt8]) {
    switch value {
    case .null: output.append(contentsOf: absent.bytes)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): NumberText.append(value, to: &output)
    case .double(let value): NumberText.append(value, to: &output)
    case .string(let value): append(text: value, to: &output)
    case .date(let value):
      let microseconds = value.microseconds
      if isDay && DateText.isDay(microseconds) {
        DateText.append(day: microseconds, to: &output)
      } else {
        DateText.append(moment: microseconds, to: &output)
      }
    case .data(let value): append(text: value.base64EncodedString(), to: &output)
    case .uuid(let value): output.append(contentsOf: value.uuidString.lowercased().utf8)
    case .decimal(let value): output.append(contentsOf: DecimalText.text(value).utf8)
    case .reference(let path): append(text: path.description, to: &output)
    case .array, .map, .blob: append(text: JSONWriter.text(value), to: &output)
    }
  }

  /// Adds text, in quotes where a reader would take it for something else without.
  private func append(text: String, to output: inout [UInt8]) {
    let text = isSafe ? CSVWriter.withoutFormula(text) : text
    let bytes = text.utf8
    let isPlain =
      !bytes.isEmpty && !bytes.elementsEqual(absent.bytes)
      && bytes.first != CSVWriter.byteOrderMark && !CSVScanner.needsQuotes(bytes)
    if isPlain {
      output.append(contentsOf: bytes)
      return
    }
    output.append(ASCII.quote)
    for byte in bytes {
      if byte == ASCII.quote { output.append(ASCII.quote) }
      output.append(byte)
    }
    output.append(ASCII.quote)
  }

  /// A text that no spreadsheet takes for a formula: what begins with a character that starts one
  /// (OWASP, "CSV injection"; also as East Asian keyboards write it) has a `'` before it.
  static func withoutFormula(_ text: String) -> String {
    switch text.unicodeScalars.first {
    case "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}":
      "'" + text
    default: text
    }
  }

  /// The first byte of a byte order mark, which a reader would pass over at the start of a file.
  private static let byteOrderMark: UInt8 = 0xEF
}

/// A column that is written.
struct CSVColumn: Equatable, Sendable {
  let name: String
  /// True if all its values are dates, and each the first moment of a day.
  var isDays = false
}

/// Finds the columns of some records, before the first line is written.
struct CSVSurvey: Sendable {
  /// The records' properties, in the order of their names' bytes.
  private(set) var columns: [CSVColumn] = []

  /// Looks at a record.
  mutating func note(_ record: ValueMap) {
    var index = 0
    for member in record.members {
      index = position(of: member.name, from: index)
      if columns[index].isDays, !CSVSurvey.isDay(member.value) { columns[index].isDays = false }
    }
  }

  /// Where a name is, which is put there if it is new.
  private mutating func position(of name: String, from start: Int) -> Int {
    var index = start
    while index < columns.count {
      let column = columns[index].name.utf8
      if column.elementsEqual(name.utf8) { return index }
      guard column.lexicographicallyPrecedes(name.utf8) else { break }
      index += 1
    }
    columns.insert(CSVColumn(name: name, isDays: true), at: index)
    return index
  }

  private static func isDay(_ value: Value) -> Bool {
    switch value {
    case .date(let date): DateText.isDay(date.microseconds)
    case .null: true
    default: false
    }
  }
}
