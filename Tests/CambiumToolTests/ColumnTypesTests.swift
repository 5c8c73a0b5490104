// Goal: a column gets the narrowest type that loses nothing, and what is written from its values
// reads
// back as the same values. Method: examples, and random tables through writer and reader.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("Column types")
struct ColumnTypesTests {
  @Test(
    "are what all fields allow",
    arguments: [
      (["0", "-1", "42", "9223372036854775807", "-9223372036854775808"], ColumnType.integer),
      (["1", "", "NA"], .integer), (["\"1\"", "\"\""], .integer),
      (["007"], .text), (["+1"], .text), (["-"], .text), (["9223372036854775808"], .number),
      (["1", "1.5", "-2e3"], .number), (["1", "-0"], .integer), (["0.1", "nan", "-inf"], .number),
      (["1."], .text), ([".5"], .text), (["0x10"], .text), (["1e"], .text), (["1,5"], .text),
      (["0.12345678901234567890"] + Array(repeating: "0.5", count: 9), .number),
      (["0.12345678901234567890"] + Array(repeating: "0.5", count: 8), .text),
      (["123456789012345678901"] + Array(repeating: "0.5", count: 9), .text),
      (["1e999"], .text), (["1e-999"], .text), (["9007199254740993", "0.5"], .text),
      (["0.1000000000000000055511151231257827"], .text), (["0.12345678901234567890"], .text),
      (["10.357019999999999", "48.053808600000004"], .number), (["18446744073709551616"], .text),
      (["true", "FALSE", "True"], .boolean), (["true", "yes"], .text), (["TRUE", "1"], .text),
      (["2013-01-01", "2012-02-29"], .date),
      (["2013-01-01T10:00:00Z", "2013-01-01T10:00:00.25Z"], .date),
      (["2013-01-01", "2013-01-01T10:00:00Z"], .text), (["2013-02-29"], .text),
      (["2013-01-01T10:00:00+01:00"], .text), (["2013-01-01 10:00:00"], .text),
      (["2013-01-01T24:00:00Z"], .text), (["2013-01-01T10:00:00.1234567Z"], .text),
      (["2013-1-1"], .text), (["20130101"], .integer),
      (["", "NA"], .text), ([], .text), (["\"\""], .text), (["a"], .text), (["\"1\"\"\""], .text),
    ])
  func inference(_ fields: [String], _ type: ColumnType) throws {
    let fields = fields.map { $0.contains(",") ? "\"\($0)\"" : $0 }
    #expect(try types(fields).columns[0].type == type, "\(fields)")
  }

  @Test(
    "make values",
    arguments: [
      (["1", "", "NA"], [Value.integer(1), nil, nil]),
      (["1", "2.5"], [1.0, 2.5]), (["1", "-0"], [1, 0]),
      (["-0", "1e3", "nan"], [-0.0, 1000.0, .double(.nan)]),
      (["true", "FALSE"], [true, false]), (["\"1\"", "\"\""], [.integer(1), nil]),
      (["", "\"\"", "\"NA\"", "\"a\"\"b\"", " 1"], [nil, "", "NA", "a\"b", " 1"]),
      (["2013-01-01"], [.date(Date(timeIntervalSince1970: 1_356_998_400))]),
      (["2013-01-01T10:00:00.25Z"], [.date(Date(timeIntervalSince1970: 1_357_034_400.25))]),
    ] as [([String], [Value?])])
  func values(_ fields: [String], _ expected: [Value?]) throws {
    #expect(try column(fields) == expected)
  }

  @Test("can be declared, and a field that does not fit is an error in the first pass")
  func declared() throws {
    #expect(try column(["1", "2"], declared: .text) == ["1", "2"])
    let noon = Value.date(Date(timeIntervalSince1970: 1_357_041_600))
    let forms = ["2013-01-01T12:00:00Z", "2013-01-01T13:30:00+01:30", "2013-01-01 12:00:00", ""]
    #expect(try column(forms, declared: .date) == [noon, noon, noon, nil])
    let error = #expect(throws: InputError.self) {
      try types(["1", "x"], declared: ["a": .integer])
    }
    #expect(
      error?.description == "in.csv:3:1: expected an integer in column \"a\", found \"x\" (byte 8)")
  }

  @Test("cannot be declared for a column that is not there")
  func unknownColumn() {
    let error = #expect(throws: InputError.self) { try types(["1"], declared: ["c": .text]) }
    #expect(error?.reason == "has no column \"c\"")
    #expect(error?.hint == "the columns are \"a\", \"b\"")
  }

  @Test("tell the one text that keeps a column from a type")
  func obstacle() throws {
    #expect(try types(["NULL", "1", "NULL", "2"]).columns[0].obstacle == "NULL")
    #expect(try types(["1", "x", "y"]).columns[0].obstacle == nil)
    #expect(try types(["x", "x"]).columns[0].obstacle == nil)
    #expect(try types(["1", "\"x\""]).columns[0].obstacle == nil)
  }

  @Test("tell how many decimals a number rounds, and where the first one is")
  func rounded() throws {
    let fields = Array(repeating: "1.5", count: 28) + ["1.00000000000000000001", "0.3", "-7e-3"]
    let rounding = try types(fields + ["1.00000000000000000002"]).columns[0]
    #expect(rounding.rounded == ColumnTypes.Rounded(count: 2, line: 30))
    #expect(try types(["1.5"]).columns[0].rounded == nil)
    #expect(try column(fields, declared: nil)[28] == 1.0)
  }

  @Test("refuse a file that was changed between the passes")
  func changed() throws {
    var first = try reader(["1"])
    let types = try ColumnTypes(of: &first)
    var second = try reader(["x"])
    #expect(try second.next())
    #expect(throws: InputError.self) { try types.record(second) }
  }

  @Test(
    "bring random tables back as they were written",
    arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func roundTrip(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = InterchangeRandom(seed: seed)
    for _ in 0..<60 {
      let mark = random.below(2) == 0 ? AbsentMark.none : try #require(AbsentMark("NA"))
      let names = (0...random.below(5)).map { "\($0)\(random.text(max: 3))" }
      let kinds = names.map { _ in random.below(6) }
      let records = (0...random.below(30)).map { _ in
        ValueMap(
          zip(names, kinds).compactMap { name, kind in
            random.below(4) == 0 ? nil : (name: name, value: value(kind, &random))
          })
      }
      try check(records, names, kinds, mark)
    }
  }

  private func value(_ kind: Int, _ random: inout InterchangeRandom) -> Value {
    switch kind {
    case 0: .integer(random.integer())
    case 1: .double(plain(random.double()))
    case 2: .bool(random.below(2) == 0)
    case 3: .date(random.date())
    case 4: .date(Date(microseconds: Int64(random.below(90_000) - 40_000) * 86_400_000_000))
    default: .string(random.below(9) == 0 ? random.pick(["", "NA", "1", "nan"]) : random.text())
    }
  }

  /// CSV does not distinguish one NaN from another.
  private func plain(_ value: Double) -> Double { value.isNaN ? .nan : value }

  private func check(
    _ records: [ValueMap], _ names: [String], _ kinds: [Int], _ mark: AbsentMark
  ) throws {
    var survey = CSVSurvey()
    for record in records { survey.note(record) }
    let columns = names.map { name in
      survey.columns.first { $0.name.utf8.elementsEqual(name.utf8) } ?? CSVColumn(name: name)
    }
    let writer = CSVWriter(columns: columns, absent: mark)
    var output: [UInt8] = []
    writer.appendHeader(to: &output)
    for record in records { writer.append(record, to: &output) }
    let source = ByteSource(bytes: output, name: "out.csv", bufferBytes: 64)
    var reader = try CSVReader(source, absent: mark)
    #expect(reader.header.map { Array($0.utf8) } == names.map { Array($0.utf8) })
    let texts = zip(names, kinds).filter { $0.1 == 5 }.map { ($0.0, ColumnType.text) }
    let declared = Dictionary(texts) { first, _ in first }
    let types = try ColumnTypes(of: &reader, declared: declared)
    try reader.rewind()
    var back: [ValueMap] = []
    while try reader.next() { back.append(try types.record(reader)) }
    #expect(back == records, "\(String(decoding: output, as: UTF8.self))")
  }

  private func reader(_ fields: [String]) throws(InputError) -> CSVReader {
    let text = "a,b\n" + fields.map { "\($0),x\n" }.joined()
    return try CSVReader(
      ByteSource(bytes: Array(text.utf8), name: "in.csv"), absent: AbsentMark("NA") ?? .none)
  }

  private func types(
    _ fields: [String], declared: [String: ColumnType] = [:]
  ) throws -> ColumnTypes {
    var reader = try reader(fields)
    return try ColumnTypes(of: &reader, declared: declared)
  }

  private func column(_ fields: [String], declared: ColumnType? = nil) throws -> [Value?] {
    var reader = try reader(fields)
    let types = try ColumnTypes(of: &reader, declared: declared.map { ["a": $0] } ?? [:])
    try reader.rewind()
    var values: [Value?] = []
    while try reader.next() {
      let value = try types.value(0, reader)
      let record = try types.record(reader)
      #expect(record["a"] == value)
      values.append(value)
    }
    return values
  }
}
