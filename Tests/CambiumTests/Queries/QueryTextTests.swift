// Goal: queries can be written and read back, and what cannot be read is pointed at.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("The text of a query")
struct QueryTextTests {
  @Test("is read as the query that it was", arguments: SeededGenerator.seeds(1, 2))
  func roundTrip(_ seed: UInt64) throws {
    var random = RandomConditions(seed: seed)
    for _ in 0..<1500 {
      var query = random.query()
      switch random.random.below(4) {
      case 0: query.selection = [random.path(), random.path()]
      case 1:
        query.grouping = .init(
          [random.path()], [QueryAggregate(.count), QueryAggregate(.average, random.path())],
          having: Condition(.compare(PropertyPath("count"), .greater, 2)))
      case 2: query.outcome = random.random.pick([.count, .exists, .ids])
      default:
        query.joins = [.init("p", RandomConditions.people, PropertyPath("owner"), inner: nil)]
      }
      if random.random.chance(oneIn: 3) {
        let paths = [PropertyPath("title"), PropertyPath(hops: ["owner"], "name")]
        query.section(by: random.random.pick(paths))
      }
      query.isDistinct = query.selection != nil && random.random.chance(oneIn: 2)
      let text = query.description
      try #require(try QueryDescription(parsing: text) == query, "seed \(seed): \(text)")
    }
  }

  @Test(
    "means what it says",
    arguments: [
      ("flights", "flights"), ("a/b", "a/b"),
      (
        "flights limit 5 sort -x, y offset 2",
        "flights sort -x, y limit 5 offset 2"
      ),
      ("flights where a = 1 where b = 2", "flights where a = 1 and b = 2"),
      ("flights sort name ignoring case nulls last", "flights sort name ignoring case nulls last"),
      ("flights section by origin.name", "flights section by origin.name"),
      (
        "flights sort -x, y section by origin limit 5",
        "flights section by origin sort -x, y limit 5"
      ),
      ("flights section by x sort x, y", "flights section by x sort y"),
      ("flights section by x sort -x, y", "flights section by x sort -x, y"),
      ("flights section by x sort x, -x", "flights section by x sort x, -x"),
      (
        "flights where section = 1 section by section",
        "flights where section = 1 section by section"
      ),
      (
        "flights | group by a, b select count sort -count section by a",
        "flights | group by a, b select count section by a sort -count"
      ),
      ("flights select a, b.c distinct | count", "flights select a, b.c distinct | count"),
      ("flights | sum(a), count", "flights | sum(a), count"),
      ("flights | count, avg(a)", "flights | count, avg(a)"),
      (
        "flights left join planes as p on tail == p.id where p.seats > 3",
        "flights left join planes as p on tail = p.id where p.seats > 3"
      ),
      (
        "flights | group by a, year(b) select count, average(c) having avg(c) > 3 sort -count "
          + "limit 3",
        "flights | group by a, year(b) select count, avg(c) having `avg(c)` > 3 sort -count limit 3"
      ),
    ])
  func meaning(_ text: String, _ expected: String) throws {
    #expect(try QueryDescription(parsing: text).description == expected)
  }

  @Test(
    "makes the hash of its cursors, which outlive a version",
    arguments: [
      (
        "flights | group by carrier select count, avg(delay) having count > 2 sort -count",
        0x8730_EDBB_2C9D_B997
      ),
      ("flights | count, sum(delay)", 0xE801_1446_68C4_D6AF),
    ] as [(String, UInt64)])
  func cursors(_ text: String, _ expected: UInt64) throws {
    #expect(try QueryDescription(parsing: text).cursorHash == expected)
  }

  @Test(
    "is pointed at where it cannot be read",
    arguments: [
      ("", "\n^\nexpected a collection"),
      (
        "flights wher a = 1",
        "flights wher a = 1\n        ^^^^\n"
          + "expected a clause (where, sort, section, limit, offset, after, select), “|”, "
          + "or the end"
      ),
      ("flights limit x", "flights limit x\n              ^\nexpected a number"),
      (
        "flights | groop by a",
        "flights | groop by a\n          ^^^^^\n"
          + "expected “group by”, an aggregate, “count”, “exists” or “ids”"
      ),
      (
        "flights where departureDelay >> 60",
        "flights where departureDelay >> 60\n                              ^\n"
          + "expected a value or a property"
      ),
      (
        "flights join planes on a = b",
        "flights join planes on a = b\n                    ^^\nexpected “as” and a name"
      ),
      ("flights section origin", "flights section origin\n                ^^^^^^\nexpected “by”"),
      (
        "flights after \"x\"", "flights after \"x\"\n              ^^^\nexpected a cursor in quotes"
      ),
    ])
  func mistakes(_ text: String, _ expected: String) {
    let error = #expect(throws: QueryError.self) { try QueryDescription(parsing: text) }
    #expect(error?.description == expected)
  }
}
