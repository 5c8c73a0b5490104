// Goal: tables of real data come back as they were, absent values and types included.
// Method: the week of nycflights13 is imported, exported as CSV, and compared field by field with
// the original file, as values: the same number, or the same text.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("An imported table")
struct FlightsOracleTests {
  @Test(
    "is exported as it was",
    arguments: ["airlines", "airports", "planes", "weather", "flights"])
  func comesBack(table: String) throws {
    try GitFixture.withFolder { folder in
      let file = try Self.original(table)
      let database = try Database(at: folder + "/air.cambium")
      let rows = try RowImport(
        database, into: NodePath(keys: [.text(table)]), batch: 100, identity: [table], metadata: [:]
      )
      let bar = Self.silentBar
      let csv = CSVImport(key: RowKey(nil), text: [], absent: try #require(AbsentMark("NA")))
      try csv.run(try ByteSource(path: file), rows, bar)
      let original = try Self.fields(file)
      let exported = try Self.export(database, table, header: try #require(original.first))
      #expect(exported.count == original.count)
      for (own, other) in zip(exported, original) where own != other {
        Issue.record("\(own) instead of \(other)")
        break
      }
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @Test("goes on after the last complete batch when it was interrupted")
  func resumes() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/air.cambium")
      let file = folder + "/rows.csv"
      let good = (1...250).map { "\($0),x\($0)\n" }.joined()
      // The same size, so that it is the same import: the bad row comes first, and is mended then.
      try Data(("n,t\n" + good + "9,\"a\"b\n").utf8).write(to: URL(filePath: file))
      let csv = CSVImport(key: RowKey("n"), text: ["t"], absent: .none)
      func rows() throws -> RowImport {
        try RowImport(database, into: "rows", batch: 100, identity: ["rows"], metadata: [:])
      }
      #expect(throws: InputError.self) {
        try csv.run(try ByteSource(path: file), rows(), Self.silentBar)
      }
      #expect(try database.head == 0, "bad CSV is found before anything is written")
      try Data(("n,t\n" + good).utf8).write(to: URL(filePath: file))
      let first = try rows()
      for row in 1...130 {
        let path = NodePath(keys: ["rows", .integer(Int64(row))])
        try first.add(
          RowImport.Row(key: path, nodes: [(path, ["n": .integer(Int64(row))])]))
      }
      #expect(try database.read { try $0["rows"].childCount } == 100)
      let second = try rows()
      #expect(second.resumed == 100)
      try csv.run(try ByteSource(path: file), second, Self.silentBar)
      #expect(try database.read { try $0["rows"].childCount } == 250)
      #expect(second.transactions == 2)
      #expect(try rows().resumed == 0, "a finished import starts anew")
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  private static var silentBar: ProgressBar {
    ProgressBar(.none, unit: "", columns: 80, clock: { ContinuousClock.now }, write: { _ in })
  }

  private static func original(_ table: String) throws -> String {
    let url = Bundle.module.url(
      forResource: table, withExtension: "csv", subdirectory: "Fixtures/nycflights13-week")
    return try #require(url).path
  }

  /// All fields of a file, the header first; nil where a field is absent. Numbers are compared as
  /// numbers.
  private static func fields(_ path: String) throws -> [[String?]] {
    var reader = try CSVReader(
      try ByteSource(path: path), absent: try #require(AbsentMark("NA")))
    var rows: [[String?]] = [reader.header]
    while try reader.next() { rows.append(row(reader)) }
    return rows
  }

  private static func row(_ reader: borrowing CSVReader) -> [String?] {
    let row = reader.row
    return reader.header.indices.map { column in
      if row.isAbsent(column) { return nil }
      let text = row.text(column)
      guard let number = Double(text), !row.isQuoted(column) else { return text }
      return "\(number)"
    }
  }

  private static func export(
    _ database: Database, _ table: String, header: [String?]
  ) throws -> [[String?]] {
    var survey = CSVSurvey()
    var records: [ValueMap] = []
    try database.snapshot()[NodePath(keys: [.text(table)])].children.forEach { child in
      guard case .map(let record)? = try child.value else { return }
      survey.note(record)
      records.append(record)
    }
    let columns = header.compactMap { name in survey.columns.first { $0.name == name } }
    let writer = CSVWriter(columns: columns, absent: try #require(AbsentMark("NA")))
    var bytes: [UInt8] = []
    writer.appendHeader(to: &bytes)
    for record in records { writer.append(record, to: &bytes) }
    var reader = try CSVReader(
      ByteSource(bytes: bytes, name: "export"), absent: try #require(AbsentMark("NA")))
    var rows: [[String?]] = [reader.header]
    while try reader.next() { rows.append(row(reader)) }
    return rows
  }
}
