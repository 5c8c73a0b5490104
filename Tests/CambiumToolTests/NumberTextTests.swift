// Goal: numbers are read as the nearest double, and the test for exactness neither lets a digit go
// nor
// refuses a double that was written out. Method: random doubles in the shortest and in the 17-digit
// form; random decimals against the standard library.

import Cambium
import Testing

@testable import CambiumCommands

@Suite("Number text")
struct NumberTextTests {
  @Test("is read as the standard library reads it", arguments: [1, 2, 3] as [UInt64])
  func nearest(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = InterchangeRandom(seed: seed)
    for _ in 0..<20_000 {
      let text = decimal(&random)
      let number = try #require(parse(text), "\(text)")
      #expect(number.nearest.bitPattern == Double(text)?.bitPattern, "\(text)")
      #expect(number.integer == Int64(text), "\(text)")
    }
  }

  @Test("of a double's shortest form is exact", arguments: [4, 5] as [UInt64])
  func shortest(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = InterchangeRandom(seed: seed)
    for _ in 0..<20_000 {
      let value = random.double()
      guard value.isFinite else { continue }
      let number = try #require(parse(value.description))
      #expect(number.exact?.bitPattern == value.bitPattern, "\(value)")
    }
  }

  @Test("that a double would not keep has none")
  func inexact() {
    let texts = ["9007199254740993", "1e400", "1e-400", "0.1234567890123456789012"]
    for text in texts {
      let number = parse(text)
      #expect(number != nil && number?.exact == nil, "\(text)")
    }
  }

  @Test("is written back digit by digit")
  func integers() {
    for value in [
      0, 7, -7, 10, 99, 100, .max, .min, 999_999_999_999_999_999, 1_000_000_000_000_000_000,
    ] as [Int64] {
      var output: [UInt8] = []
      NumberText.append(value, to: &output)
      #expect(String(decoding: output, as: UTF8.self) == value.description)
    }
  }

  private func parse(_ text: String) -> (nearest: Double, exact: Double?, integer: Int64?)? {
    let bytes = Array(text.utf8)
    return NumberText(bytes.span).map {
      ($0.double(bytes.span), $0.exactDouble(bytes.span), $0.integer)
    }
  }

  private func decimal(_ random: inout InterchangeRandom) -> String {
    func digits(_ count: Int) -> String {
      (0..<count).map { _ in String(random.below(10)) }.joined()
    }
    var text = random.below(2) == 0 ? "-" : ""
    text += random.below(3) == 0 ? "0" : String(1 + random.below(9)) + digits(random.below(24))
    if random.below(2) == 0 { text += "." + digits(1 + random.below(24)) }
    if random.below(2) == 0 {
      text += random.pick(["e", "E", "e+", "e-"]) + digits(1 + random.below(3))
    }
    return text
  }
}
