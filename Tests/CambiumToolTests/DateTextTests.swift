import Cambium
import Testing

@testable import CambiumCommands

@Suite("Date text")
struct DateTextTests {
  @Test(
    "is one moment in every form",
    arguments: [
      ("1970-01-01", 0, DateText.Form.day), ("2013-01-01", 1_356_998_400_000_000, .day),
      ("2000-02-29T23:59:59Z", 951_868_799_000_000, .moment),
      ("1969-12-31T23:59:59.999999Z", -1, .moment),
      ("2013-01-01T10:00:00.5Z", 1_357_034_400_500_000, .moment),
      ("2013-01-01T10:00:00+02:00", 1_357_027_200_000_000, .other),
      ("2013-01-01T10:00:00-00:30", 1_357_036_200_000_000, .other),
      ("2013-01-01 10:00:00", 1_357_034_400_000_000, .other),
      ("2013-01-01T10:00:00", 1_357_034_400_000_000, .other),
      ("0000-03-01", -62_162_035_200_000_000, .day),
      ("-0001-12-31", -62_167_305_600_000_000, .day),
      ("+10000-01-01", 253_402_300_800_000_000, .day),
    ] as [(String, Int64, DateText.Form)])
  func forms(_ text: String, _ microseconds: Int64, _ form: DateText.Form) throws {
    let date = try #require(parse(text))
    #expect(date.microseconds == microseconds)
    #expect(date.form == form)
  }

  @Test(
    "is refused where there is no such moment",
    arguments: [
      "", "2013", "2013-13-01", "2013-00-01", "2013-01-32", "2013-02-29", "1900-02-29",
      "2013-01-00", "2013-04-31",
      "2013-01-01T", "2013-01-01Z", "2013-01-01T24:00:00Z", "2013-01-01T10:60:00Z",
      "2013-01-01T10:00:60Z",
      "2013-01-01T10:00Z", "2013-01-01T10:00:00.Z", "2013-01-01T10:00:00.1234567Z",
      "2013-01-01T10:00:00z",
      "2013-01-01T10:00:00+2:00", "2013-01-01T10:00:00+0200", "2013-01-01T10:00:00Z ",
      " 2013-01-01", "-0000-01-01",
      "+2013-01-01", "+010000-01-01", "+999999-01-01", "2O13-01-01",
    ])
  func refusals(_ text: String) {
    #expect(parse(text) == nil)
  }

  @Test(
    "is written as it is read, for every moment that 64 bits hold", arguments: [1, 2] as [UInt64])
  func roundTrip(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = InterchangeRandom(seed: seed)
    let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max]
    for value in extremes + (0..<20_000).map({ _ in random.integer() }) {
      var text: [UInt8] = []
      DateText.append(moment: value, to: &text)
      let back = try #require(
        parse(String(decoding: text, as: UTF8.self)), "\(String(decoding: text, as: UTF8.self))")
      #expect(back.microseconds == value)
      #expect(back.form == .moment)
    }
  }

  private func parse(_ text: String) -> (microseconds: Int64, form: DateText.Form)? {
    DateText.parse(Array(text.utf8).span)
  }
}
