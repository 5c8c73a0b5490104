// Goal: what tools show of indexes and views is what they take. Method: random indexes and views,
// written and read back; names that are words of the language; mistakes, with their places.

import Simulation
import Testing

@testable import Cambium

@Suite("Indexes and views as text")
struct DefinitionTextTests {
  @Test("are read as what they were", arguments: SeededGenerator.seeds(1, 2))
  func random(_ seed: UInt64) throws {
    var random = RandomConditions(seed: seed)
    for _ in 0..<300 {
      let definition = random.thingDefinition()
      for var index in definition.indexes {
        if random.random.chance(oneIn: 3) { index.condition = Condition(random.test()) }
        try #require(try IndexDefinition(parsing: index.text) == index, "\(index.text)")
      }
      for view in definition.views {
        try #require(try ViewDefinition(parsing: view.text) == view, "\(view.text)")
      }
    }
  }

  @Test("may have the words of the language as names")
  func words() throws {
    let names = ["by", "covering", "where", "in", "first", "count", "id", "a b", "x.in.y", "of"]
    var index = IndexDefinition(names.map { .init($0, isDescending: true) })
    index.covered = names
    #expect(try IndexDefinition(parsing: index.text) == index, "\(index.text)")
    let condition = Condition(.compare(PropertyPath("by"), .equal, 1))
    let contents: [ViewDefinition.Content] = [
      .text(names, language: "en"), .text(["in"], language: nil),
      .top(by: names, names.map { .init($0, collation: .ignoringCaseAndDiacritics) }),
      .groups(by: names, [.count, .sum("by"), .average("in"), .minimum("of"), .maximum("count")]),
      .groups(by: [], [.count]),
    ]
    for content in contents {
      for view in [ViewDefinition(content), ViewDefinition(content, where: condition)] {
        #expect(try ViewDefinition(parsing: view.text) == view, "\(view.text)")
      }
    }
  }

  @Test(
    "are pointed at where they cannot be read",
    arguments: [
      ("", "expected a property, and the text ends"),
      ("a b", "expected “,”, “covering”, “where”, or the end"),
      ("a, id", "expected a property of the record itself, and not its key"),
      ("count(a)", "expected a property of the record itself, and not its key"),
      ("a where", "expected a property, and the text ends"),
      ("a where b = 1 c", "expected “and”, “or”, or the end"),
    ])
  func mistakes(_ text: String, _ reason: String) {
    let error = #expect(throws: QueryError.self) { try IndexDefinition(parsing: text) }
    #expect(error?.reason == reason && error?.text == text)
  }
}
