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
      try Self.tell(bar, "types", reader)
    }
    try reader.rewind()
    var row: UInt64 = 0
    while try reader.next() {
      if row % 1024 == 0 { try Self.tell(bar, "import", reader) }
      if !rows.isDone(row) {
        let path = rows.into.appending(try rowKey(reader))
        try rows.add([(path, .map(try types.record(reader)))])
      }
      row += 1
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

  private static func tell(
    _ bar: ProgressBar, _ phase: String, _ reader: borrowing CSVReader
  ) throws {
    let progress = reader.progress
    let goesOn = bar.update(phase, progress.done, of: progress.total)
    // Between types and import nothing is committed; later the batch's commit stops.
    if !goesOn && phase == "types" { throw Failure.stopped() }
  }

  private func rowKey(_ reader: borrowing CSVReader) throws -> Key {
    do {
      return try key.key { name in
        let column = try Self.column(name, reader)
        if reader.row.isAbsent(column) {
          throw reader.error(column, expected: "a value for the key")
        }
        return reader.row.text(column)
      }
    } catch DatabaseError.badKey(_, let reason) {
      throw reader.error("expected a key, but \(reason)")
    }
  }

  private func checkColumns(_ reader: borrowing CSVReader) throws {
    for name in key.columns + text { _ = try Self.column(name, reader) }
  }

  private static func column(_ name: String, _ reader: borrowing CSVReader) throws -> Int {
    if let column = reader.header.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
      return column
    }
    throw Failure(
      .usage, "no_column", "there is no column \(JSONText.quoted(name))",
      hint: "the columns are \(reader.header.joined(separator: ", "))")
  }
}
