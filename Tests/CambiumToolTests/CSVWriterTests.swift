import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The CSV writer")
struct CSVWriterTests {
  @Test("writes every kind of value in its form, and quotes only where it must")
  func forms() throws {
    let uuid = try #require(UUID(uuidString: "0190163D-8694-739B-AEA5-966C26F8AD91"))
    let values: [(Value?, String)] = [
      (nil, ""), (.null, ""), (true, "true"), (false, "false"), (-42, "-42"),
      (.integer(.min), "-9223372036854775808"),
      (12.0, "12.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e300, "1e+300"), (.double(.nan), "nan"),
      (.double(-.infinity), "-inf"), ("", "\"\""), ("a b", "a b"), ("a,b", "\"a,b\""),
      ("\"", "\"\"\"\""),
      ("a\nb", "\"a\nb\""), ("a\rb", "\"a\rb\""), ("é", "é"), ("\u{FEFF}", "\"\u{FEFF}\""),
      (.data(Data([0xDE, 0xAD])), "3q0="),
      (.date(Date(timeIntervalSince1970: 1_357_034_400)), "2013-01-01T10:00:00Z"),
      (.date(Date(timeIntervalSince1970: 1_357_034_400.25)), "2013-01-01T10:00:00.25Z"),
      (.uuid(uuid), "0190163d-8694-739b-aea5-966c26f8ad91"),
      (.decimal(Decimal(string: "12.5") ?? 0), "12.5"),
      (.reference("users/ada"), "users/ada"), ([1, "a"], "\"[1,\"\"a\"\"]\""),
      (["x": 1.5], "\"{\"\"x\"\":1.5}\""),
    ]
    for (value, text) in values {
      var record = ValueMap()
      record["v"] = value
      #expect(line(record, CSVWriter(columns: [CSVColumn(name: "v")])) == text + "\n")
    }
  }

  @Test("writes the mark for what is absent, and quotes a text that reads like it")
  func mark() throws {
    let mark = try #require(AbsentMark("NA"))
    let writer = CSVWriter(columns: ["NA", "b", "c"].map { CSVColumn(name: $0) }, absent: mark)
    var output: [UInt8] = []
    writer.appendHeader(to: &output)
    writer.append(["c": "NA", "x": "left out"], to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "\"NA\",b,c\nNA,NA,\"NA\"\n")
  }

  @Test("leaves no formula for a spreadsheet in its safe form, and only texts differ")
  func formulas() {
    let writer = CSVWriter(columns: [CSVColumn(name: "=v")], isSafe: true)
    var header: [UInt8] = []
    writer.appendHeader(to: &header)
    #expect(String(decoding: header, as: UTF8.self) == "'=v\n")
    for start in ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"] {
      let text = start + "cmd|' /C calc'!A0"
      let written = line(["=v": .string(text)], writer)
      #expect(written == "'\(text)\n" || written == "\"'\(text)\"\n", "\(start)")
    }
    for value in [-42, -0.5, "a=1", "'", "é", .null, true] as [Value] {
      let plain = CSVWriter(columns: writer.columns)
      #expect(line(["=v": value], writer) == line(["=v": value], plain))
    }
    let base64 = line(["=v": .data(Data([0xFB, 0xEF]))], writer)
    #expect(base64 == "'++8=\n")
  }

  @Test("writes days as days where all dates of a column are")
  func days() {
    let midnight = Value.date(Date(timeIntervalSince1970: -86_400))
    let noon = Value.date(Date(timeIntervalSince1970: 43_200))
    var survey = CSVSurvey()
    survey.note(["day": midnight, "time": midnight, "mixed": midnight])
    survey.note(["time": noon, "mixed": 1, "day": .null])
    #expect(
      survey.columns == [
        CSVColumn(name: "day", isDays: true), CSVColumn(name: "mixed"), CSVColumn(name: "time"),
      ])
    let writer = CSVWriter(columns: survey.columns)
    #expect(
      line(["day": midnight, "time": midnight], writer) == "1969-12-31,,1969-12-31T00:00:00Z\n")
  }

  private func line(_ record: ValueMap, _ writer: CSVWriter) -> String {
    var output: [UInt8] = []
    writer.append(record, to: &output)
    return String(decoding: output, as: UTF8.self)
  }
}
