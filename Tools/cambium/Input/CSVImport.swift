import Cambium

/// A CSV file becomes a collection of records: the types of its columns are found in a first pass
/// over all of it, and the records are written in a second.
struct CSVImport {
  let key: RowKey
  /// The columns that stay text whatever they look like.
  let text: [String]
  let absent: AbsentMark
  /// The byte between fields.
  var delimiter = ASCII.comma

  /// Imports all records.
  ///
  /// - Returns: Notes for the user on the columns' types.
  @discardableResult
  func run(
    _ source: consuming ByteSource, _ rows: RowImport, _ bar: ProgressBar
  ) throws -> [String] {
    var reader = try CSVReader(source, absent: absent, delimiter: delimiter)
    try checkColumns(reader)
    let declared = Dictionary(text.map { ($0, ColumnType.text) }, uniquingKeysWith: { a, _ in a })
    let types = try ColumnTypes(of: &reader, declared: declared) { reader in
      let (done, total) = reader.progress
      // Nothing is committed yet; later the batch's commit stops.
      if !bar.update("types", done, of: total) { throw Failure.stopped() }
    }
    try reader.rewind()
    try rows.take(&reader, bar) { reader in
      try checkSize(reader)
      let path = rows.into.appending(try rowKey(reader))
      return RowImport.Row(
        key: key.columns.isEmpty ? nil : path, nodes: [(path, .map(try types.record(reader)))])
    }
    return Self.notesOnDigits(types) + (absent == .none ? Self.notes(types) : [])
  }

  /// Refuses a record that no node can hold, at its longest field.
  private func checkSize(_ reader: borrowing CSVReader) throws {
    if reader.recordBytes <= Value.bytesMax { return }
    let fields = reader.row.fields
    throw reader.error(
      in: fields.indices.max { fields[$0].range.count < fields[$1].range.count },
      "expected a record of at most \(InputError.amount(Value.bytesMax)), found "
        + "\(reader.recordBytes) bytes")
  }

  /// Names the columns with numbers that are not kept to the last digit.
  private static func notesOnDigits(_ types: ColumnTypes) -> [String] {
    types.columns.compactMap { column in
      if let rounded = column.rounded {
        let values = Quantity.count(rounded.count, "value")
        return "the column \(column.name) became a number, in which \(values) lost digits, the "
          + "first in line \(rounded.line); with --text \(Shell.quoted(column.name)) all are kept"
      }
      guard let obstacle = column.obstacle, isTooPrecise(obstacle) else { return nil }
      return "the column \(column.name) became text because a number would lose digits of "
        + obstacle
    }
  }

  /// True for a number that no type of a column keeps to the last digit.
  private static func isTooPrecise(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return NumberText(bytes.span) != nil && FieldTypes(of: bytes.span).isEmpty
  }

  /// Names the columns in which only one text does not fit a type; it probably marks absent values.
  private static func notes(_ types: ColumnTypes) -> [String] {
    Dictionary(grouping: types.columns.filter { $0.obstacle != nil }) { $0.obstacle ?? "" }
      .filter { AbsentMark($0.key) != nil && !isTooPrecise($0.key) }
      .sorted { $0.key < $1.key }
      .map { mark, columns in
        let more = columns.count > 3 ? " and \(columns.count - 3) more" : ""
        let names = columns.prefix(3).map(\.name).joined(separator: ", ") + more
        return "\(columns.count == 1 ? "the column" : "the columns") \(names) became text because "
          + "of \(mark) alone; with --null \(Shell.quoted(mark)) that is absent"
      }
  }

  private func rowKey(_ reader: borrowing CSVReader) throws -> Key {
    do {
      return try key.key { name in
        let column = try reader.column(name)
        if reader.row.isAbsent(column) {
          throw reader.error(column, expected: "a value for the key")
        }
        return reader.row.text(column)
      }
    } catch DatabaseError.badKey(_, let reason) {
      let column = try key.columns.first.map { try reader.column($0) }
      throw reader.error(in: column, "expected a key, but \(reason)")
    }
  }

  private func checkColumns(_ reader: borrowing CSVReader) throws {
    for name in key.columns + text { _ = try reader.column(name) }
    for (column, name) in reader.header.enumerated() {
      do { _ = try Key(name) } catch DatabaseError.badKey(_, let reason) {
        throw reader.error(in: column, "expected the name of a property, but \(reason)")
      }
    }
  }
}

extension CSVReader {
  /// The column of a name that the command line has.
  func column(_ name: String) throws(Failure) -> Int {
    if let column = header.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
      return column
    }
    throw Failure(
      .usage, "no_column", "there is no column \(JSONText.quoted(name))",
      hint: "the columns are \(header.joined(separator: ", "))")
  }
}
