import Cambium

/// Writes a list in the form that is asked for: all forms but the one for people, in one place.
///
/// | Form | What it is |
/// |---|---|
/// | `json` | JSON lines: an object a line |
/// | `json-pretty` | objects over several lines |
/// | `json-array` | one array, an object a line |
/// | `csv` | RFC 4180 |
/// | `tsv` | fields between tabs; a tab, line feed or backslash in one is `\t`, `\n`, `\\` |
/// | `markdown` | a table for documents |
/// | `table` | a box; it alone waits for the last row, and keeps all until then |
///
/// Nothing in a row or header can control a terminal: tables and Markdown are made of escaped text,
/// JSON escapes by itself, and CSV and TSV are escaped where a terminal shows them.
final class ListWriter {
  private let output: Output
  private let format: OutputFormat
  private let csv: CSVWriter
  /// The fields that `--fields` names; nil for all.
  private let fields: [String]?
  private let absent: String
  private let hasHeader: Bool
  private var rows: [[String]] = []
  private var isFirst = true

  /// Prepares to write rows with fields of these names, and objects that may have further ones.
  init(_ call: Call, columns: [String], further: [String] = []) throws {
    self.output = call.output
    format = call.format
    fields = call[.fields]?.text.split(separator: ",").map(String.init)
    hasHeader = !call.has(.noHeader)
    absent = call[.null]?.text ?? ""
    if format == .short,
      let name = [Option.fields, .noHeader, .null].first(where: call.has)?.name
    {
      throw Failure.usage(
        "--\(name) is not for what people read",
        hint: "add -o table, csv, tsv, markdown, or a form of JSON")
    }
    let known = format.isJSON ? columns + further : columns
    for field in fields ?? [] where !known.contains(field) {
      throw Failure.usage(
        "there is no field “\(field)”", hint: "there are \(known.joined(separator: ", "))")
    }
    if fields?.isEmpty == true { throw Failure.usage("--fields names no field") }
    if format.isJSON, let name = [Option.noHeader, .null].first(where: call.has)?.name {
      throw Failure.usage("--\(name) is for tables", hint: "use -o csv, tsv, or table")
    }
    if call.has(.safe), format != .csv, format != .tsv {
      throw Failure.usage("--safe is for spreadsheets", hint: "add -o csv or tsv, or leave it out")
    }
    csv = CSVWriter(
      columns: (fields ?? columns).map { CSVColumn(name: $0) },
      absent: try ImportCommand.absentMark(call[.null]?.text),
      isSafe: call.has(.safe))
  }

  /// Writes an entry, as an object or as a row; `cells` replace those of the object.
  func write(_ object: JSONLine, cells special: ValueMap = [:]) throws {
    defer { isFirst = false }
    switch format {
    case .short, .json: try output.write(bytes: chosen(object).object + [ASCII.lineFeed])
    case .jsonPretty: try output.line(chosen(object).indented)
    case .jsonArray:
      try output.write(isFirst ? "[\n" : ",\n")
      try output.write(bytes: chosen(object).object)
    case .csv, .tsv, .markdown: try write(row(object, special))
    case .table: rows.append(cells(row(object, special)))
    }
  }

  /// Writes a value in a form of JSON, as the only one and as it is.
  func write(only value: Value) throws {
    if fields != nil {
      throw Failure.usage("--fields is for lists, and JSON is the value itself here")
    }
    let text = JSONWriter.text(value)
    switch format {
    case .jsonPretty: try output.line(JSONLine.indented(text.utf8))
    case .jsonArray: try output.line("[\n\(text)\n]")
    default: try output.line(text)
    }
  }

  /// Writes the end of the list, and the header where there is no entry.
  func finish() throws {
    switch format {
    case .jsonArray: try output.write(isFirst ? "[]\n" : "\n]\n")
    case .csv where isFirst, .tsv where isFirst, .markdown where isFirst: try writeHeader()
    case .table: try writeTable()
    default: break
    }
  }

  private func chosen(_ object: JSONLine) -> JSONLine {
    fields.map { object.only($0) } ?? object.versioned
  }
}

/// Rows.
extension ListWriter {
  private var names: [String] { csv.columns.map(\.name) }

  private func writeHeader() throws {
    guard hasHeader else { return }
    if format == .csv {
      var bytes: [UInt8] = []
      csv.appendHeader(to: &bytes)
      return try output.write(form: bytes)
    }
    try write(line: names.map { fit($0) })
    if format == .markdown { try output.line("|" + names.map { _ in "---|" }.joined()) }
  }

  private func row(_ object: JSONLine, _ special: ValueMap) -> ValueMap {
    var row = object.cells
    for member in special.members { row[member.name] = member.value }
    return row
  }

  private func write(_ row: ValueMap) throws {
    if isFirst { try writeHeader() }
    if format != .csv { return try write(line: cells(row)) }
    var bytes: [UInt8] = []
    csv.append(row, to: &bytes)
    try output.write(form: bytes)
  }

  private func write(line cells: [String]) throws {
    let isMarkdown = format == .markdown
    let line =
      isMarkdown ? "| " + cells.joined(separator: " | ") + " |" : cells.joined(separator: "\t")
    try output.write(form: (line + "\n").utf8)
  }

  /// The text of a row in each column, fit for the form.
  private func cells(_ row: ValueMap) -> [String] {
    names.map { name in
      guard let value = row[name], value != .null else { return absent }
      if format == .table { return ValueText.short(value) }
      if case .string(let text) = value { return fit(text) }
      return escaped(ValueText.whole(value))
    }
  }

  /// A text or the name of a column as a cell.
  private func fit(_ text: String) -> String {
    escaped(csv.isSafe ? CSVWriter.withoutFormula(text) : text)
  }

  /// Text in which nothing ends the cell, or the line.
  private func escaped(_ text: String) -> String {
    switch format {
    case .table: Terminal.escaped(text)
    case .markdown: Terminal.escaped(text).replacing("|", with: "\\|")
    default:
      text.replacing("\\", with: "\\\\").replacing("\t", with: "\\t")
        .replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    }
  }

  private func writeTable() throws {
    let all = (hasHeader ? [names.map { fit($0) }] : []) + rows
    let widths = names.indices.map { column in
      all.map { Terminal.displayWidth($0[column]) }.max() ?? 0
    }
    func rule(_ left: String, _ cross: String, _ right: String) throws {
      let lines = widths.map { String(repeating: "─", count: $0 + 2) }
      try output.line(StyledLine(left + lines.joined(separator: cross) + right, .metadata))
    }
    try rule("┌", "┬", "┐")
    for (index, row) in all.enumerated() {
      let isHeader = hasHeader && index == 0
      var line = StyledLine("│", .metadata)
      for (cell, width) in zip(row, widths) {
        line.add(" " + Terminal.padded(cell, to: width), isHeader ? .heading : nil)
        line.add(" │", .metadata)
      }
      try output.line(line)
      if isHeader { try rule("├", "┼", "┤") }
    }
    try rule("└", "┴", "┘")
  }
}
