// Goal: every condition can be written and read back, and what cannot be read is pointed at.
// Method: random conditions there and back; a list of texts with what they mean; a list of
// mistakes.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("The text of a condition")
struct ConditionTextTests {
  @Test("is read as the condition that it was", arguments: SeededGenerator.seeds(1, 2))
  func roundTrip(_ seed: UInt64) throws {
    var random = RandomConditions(seed: seed)
    for _ in 0..<3000 {
      let condition = Condition(random.test())
      let text = condition.description
      try #require(try Condition(parsing: text) == condition, "seed \(seed): \(text)")
    }
  }

  @Test("holds any value and any name", arguments: FormatSeeds.first(2))
  func values(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    for _ in 0..<2000 {
      let path = PropertyPath(hops: [random.text(upTo: 8)], random.text(upTo: 12))
      let condition = Condition(.compare(path, .greater, random.value()))
      let text = condition.description
      try #require(try Condition(parsing: text) == condition, "seed \(seed): \(text)")
    }
  }

  @Test(
    "means what it says",
    arguments: [
      ("a == 1", "a = 1"), ("a <> 1", "a != 1"), ("a in (1,2)", "a in (1, 2)"),
      ("a like \"John%\"", "a prefix \"John\""), ("a like \"%n\"", "a suffix \"n\""),
      ("a like \"%oh%\"", "a contains \"oh\""), ("a like \"x\"", "a = \"x\""),
      ("a like \"a%b_\"", "a like \"a%b_\""),
      ("a between 1 and 2 and b = 3", "(a >= 1 and a <= 2) and b = 3"),
      ("a not in (1)", "not a in (1)"), ("a is not null", "a is not null"),
      ("a != null", "a is not null"),
      ("a = \"x\" ignoring case", "a equals \"x\" ignoring case"),
      ("a = 1 or b = 2 and c = 3", "a = 1 or (b = 2 and c = 3)"),
      ("a.b.id = 1", "a.b.id = 1"), ("year(made) = 2013", "year(made) = 2013"),
      ("made > date(\"2013-01-01\")", "made > date(\"2013-01-01T00:00:00Z\")"),
      ("made > date(\"2013-01-31T05:00\")", "made > date(\"2013-01-31T05:00:00Z\")"),
      ("made > date(\"2013-01-31 05:00-01:30\")", "made > date(\"2013-01-31T06:30:00Z\")"),
      ("made > date(\"2012-02-29T00:00:00.5Z\")", "made > date(\"2012-02-29T00:00:00.5Z\")"),
      ("made > date(253402300800000000)", "made > date(\"+10000-01-01T00:00:00Z\")"),
      ("made > date(\"+10000-01-01\")", "made > date(\"+10000-01-01T00:00:00Z\")"),
      ("crew any (name = \"Ada\" and age > 3)", "crew any (name = \"Ada\" and age > 3)"),
      ("flights by carrier none (delay > 60)", "`flights` by carrier none (delay > 60)"),
      (
        "title contains \"x\" ignoring case and code matches /r\\/e/",
        "title contains \"x\" ignoring case and code matches \"r/e\""
      ),
      (
        "title contains \"x\" ignoring case and diacritics",
        "title contains \"x\" ignoring case and diacritics"
      ),
      ("a < b.c", "a < b.c"), ("`and` = 1", "`and` = 1"),
      ("not (a = 1 and b = 2)", "not (a = 1 and b = 2)"),
    ])
  func meaning(_ text: String, _ expected: String) throws {
    #expect(try Condition(parsing: text).description == expected)
  }

  @Test(
    "is pointed at where it cannot be read",
    arguments: [
      ("a >> 1", "a >> 1\n   ^\nexpected a value or a property"),
      ("a = ", "a = \n    ^\nexpected a value or a property, and the text ends"),
      ("a = 1 and", "a = 1 and\n         ^\nexpected a property, and the text ends"),
      ("a = 1 b", "a = 1 b\n      ^\nexpected “and”, “or”, or the end"),
      ("(a = 1", "(a = 1\n      ^\nexpected “and”, “or” or “)”, and the text ends"),
      ("a = \"x", "a = \"x\n    ^\nthe quote is not closed"),
      ("a ? 1", "a ? 1\n  ^\nexpected a comparison"),
      ("a is 1", "a is 1\n     ^\nexpected “null”"),
      (
        "size(a) = 1",
        "size(a) = 1\n^^^^\nthere is no function “size”; there are count, lowercased, year, "
          + "month, day and hour"
      ),
      (
        "a > date(\"x\")",
        "a > date(\"x\")\n         ^^^\nthis is no moment; write it as 2013-01-31 or "
          + "2013-01-31T17:00:00Z"
      ),
      (
        "a > date(\"2013-02-29\")",
        "a > date(\"2013-02-29\")\n         ^^^^^^^^^^^^\nthis is no moment; write it as "
          + "2013-01-31 or 2013-01-31T17:00:00Z"
      ),
      (
        "a = decimal(\"1.5e\")",
        "a = decimal(\"1.5e\")\n            ^^^^^^\nthis is no decimal number"
      ),
      ("é = 12x", "é = 12x\n    ^^^\n“12x” is no number"),
    ])
  func mistakes(_ text: String, _ expected: String) {
    let error = #expect(throws: QueryError.self) { try Condition(parsing: text) }
    #expect(error?.description == expected)
  }

  @Test("cannot be nested so deep that reading it would overflow")
  func deep() throws {
    for text in ["(", "not ", "a = ["] {
      #expect(throws: QueryError.self) {
        try Condition(parsing: String(repeating: text, count: 100_000))
      }
    }
  }
}
