import Cambium
import Testing

@testable import CambiumCommands

@Suite("An object over several lines") struct IndentedJSONTests {
  @Test(
    "reads back as the same",
    arguments: [
      "{}", "{\"a\":[]}", "{\"a\":{},\"b\":[1,[2,{}]]}",
      "{\"a\":\"\\\\\",\"b\":\"\\\"{[,:]}\\\\\\\"\"}",
    ])
  func same(_ text: String) throws {
    let value = try JSONReader.value(of: text, name: "text")
    let line: JSONLine = ["value": value]
    let indented = line.indented
    #expect(
      try JSONReader.value(of: indented, name: "indented") == .map(["value": value]), "\(indented)")
    for part in indented.split(separator: "\n") {
      #expect(part.prefix { $0 == " " }.count % 2 == 0)
    }
  }

  @Test("has a line for each member and element, and none within what is empty")
  func lines() {
    let line: JSONLine = ["a": Value.array([1, .array([])]), "b": Value.map([:])]
    #expect(
      line.indented == """
        {
          "a": [
            1,
            []
          ],
          "b": {}
        }
        """)
  }
}
