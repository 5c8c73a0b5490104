import Cambium

/// A CSV file becomes a collection of records: the types of its columns are found in a first pass
/// over all of it, and the records are written in a second.
struct CSVImport {
  let key: RowKey
  /// The columns that stay text whatever they look like.
  let text: [String]
  let absent: AbsentMark

  /// Imports all records.
  ///
  /// - Returns: Notes for the user on the columns' types.
  @discardableResult
  func run(
    _ source: consuming ByteSource, _ rows: RowImport, _ bar: ProgressBar
  ) throws -> [String] {
    var reader = try CSVReader(source, absent: absent)
    try checkColumns(reader)
    let declared = Dictionary(text.map { ($0, ColumnType.text) }, uniquingKeysWith: { a, _ in a })
    let types = try ColumnTypes(of: &reader, declared: declared) { reader in
      let (done, total) = reader.progress
      // Nothing is committed yet; later the batch's commit stops.
      if !bar.update("types", done, of: total) { throw Failure.stopped() }
    }
    try reader.rewind()
    try rows.take(&reader, bar) { reader in
      [(rows.into.appending(try rowKey(reader)), .map(try types.record(reader)))]
    }
    try rows.finish()
    return absent == .none ? Self.notes(types) : []
  }

  /// Names the columns in which only one text does not fit a type; it probably marks absent values.
  private static func notes(_ types: ColumnTypes) -> [String] {
    Dictionary(grouping: types.columns.filter { $0.obstacle != nil }) { $0.obstacle ?? "" }
      .filter { AbsentMark($0.key) != nil }
      .sorted { $0.key < $1.key }
      .map { mark, columns in
        let more = columns.count > 3 ? " and \(columns.count - 3) more" : ""
        let names = columns.prefix(3).map(\.name).joined(separator: ", ") + more
        return "\(columns.count == 1 ? "the column" : "the columns") \(names) became text because "
          + "of \(mark) alone; with --null \(Shell.quoted(mark)) that is absent"
      }
  }

  private func rowKey(_ reader: borrowing CSVReader) throws -> Key {
    try key.key { name in
      let column = try reader.column(name)
      if reader.row.isAbsent(column) {
        throw reader.error(column, expected: "a value for the key")
      }
      return reader.row.text(column)
    }
  }

  private func checkColumns(_ reader: borrowing CSVReader) throws {
    for name in key.columns + text { _ = try reader.column(name) }
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
