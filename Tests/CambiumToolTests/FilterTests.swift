import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("A glob") struct GlobTests {
  @Test(
    "matches whole texts",
    arguments: [
      ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false), ("*", "", true),
      ("a*", "a", true), ("a*c", "abbc", true), ("a*c", "acb", false), ("*a*a*", "xaya", true),
      ("*a*a*", "xay", false), ("?", "é", true), ("?", "", false), ("a\\*", "a*", true),
      ("a\\*", "ab", false), ("users/*", "users/ada/name", true), ("*/name", "users/name", true),
      ("a\\", "a\\", true), ("**b", "aab", true),
    ])
  func matching(_ pattern: String, _ text: String, _ isMatch: Bool) {
    #expect(Glob(pattern).matches(text) == isMatch)
  }

  @Test("agrees with a definition that tries everything, on random texts")
  func model() {
    var random = SplitMix(seed: 4711)
    for _ in 0..<5000 {
      let pattern = String(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
          Character(["a", "b", "*", "?"].randomElement(using: &random) ?? "a")
        })
      let text = String(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
          Character(["a", "b"].randomElement(using: &random) ?? "a")
        })
      let expected = Self.matches(pattern[...], text[...])
      #expect(Glob(pattern).matches(text) == expected, "\(pattern) \(text)")
    }
  }

  private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == "*" {
      return matches(rest, text) || !text.isEmpty && matches(pattern, text.dropFirst())
    }
    guard let next = text.first, first == "?" || first == next else { return false }
    return matches(rest, text.dropFirst())
  }
}

@Suite("A filter's condition") struct MatchTests {
  @Test(
    "is known by its form",
    arguments: [
      ("actor=anna", true), ("+", true), ("a=", true), ("=a", false), ("users/a=b", false),
      ("users", false), ("++", false),
    ])
  func form(_ word: String, _ isMatch: Bool) { #expect(Match.isMatch(word) == isMatch) }

  @Test("names a field of its own, or metadata")
  func fields() throws {
    #expect(try Match("tx=4").field == .sequence)
    #expect(try Match("ticket=7=7").field == .metadata("ticket"))
    #expect(try Match("ticket=7=7").value == Glob("7=7"))
    #expect(try Match("op=*e").field == .kind)
    let error = try #require(throws: GrammarError.self) { try Match("op=remove") }
    #expect(error.offset == 3)
  }

  @Test("may stand before the path and the database, and is no operand of a place")
  func places() throws {
    let here = Surroundings(
      environment: ["CAMBIUM_DB": "x"], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    let parser = Parser(commands: Commands.all, here: here)
    let near = try parser.parse(["log", "actor=a", "users", "+", "op=delete"])
    #expect(near.database == "x" && near[LogCommand.path]?.text == "users")
    #expect(near.all(.matches).map(\.text) == ["actor=a", "+", "op=delete"])
    let far = try parser.parse(["log", "a.cambium", "users", "actor=a"])
    #expect(far.database == "a.cambium" && far[LogCommand.path]?.text == "users")
  }

  @Test("has every field in the help")
  func topic() throws {
    let text = try #require(Topic.all.first { $0.name == "filters" }).text
    for (name, _) in Match.fields { #expect(text.contains("\(name)=")) }
    for kind in Match.kinds { #expect(text.contains(kind)) }
  }
}
