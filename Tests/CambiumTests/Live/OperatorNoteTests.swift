import Testing

@testable import Cambium

@Suite("The operators of a live query")
struct OperatorNoteTests {
  private static func words(_ text: String) throws -> [String] {
    Dependencies.maintenance(of: try QueryDescription(parsing: text)).map(\.words)
  }

  @Test("say how they are kept up before the query runs")
  func notes() throws {
    #expect(try Self.words("flights") == [])
    #expect(
      try Self.words("flights where code = \"A\" and origin.name = \"B\" sort -delay limit 9")
        == [
          "condition: maintained",
          "condition through references: bounded, by the records that lead to a changed one",
          "order: maintained",
          "limit: bounded, by one ordered read where the window runs short",
        ])
    #expect(
      try Self.words("airports where flights by origin any (delay > 60)")
        == ["any of related records: bounded, by the records that lead to a changed one"])
    #expect(
      try Self.words("flights | group by origin select count, max(delay) sort -count limit 3")
        == [
          "groups: maintained, keeping each group", "count: maintained",
          "max(delay): maintained, keeping all values in order",
          "order of groups: maintained, keeping all groups",
          "limit: maintained, keeping all of them",
        ])
  }

  @Test("say what is run again, and why")
  func reruns() throws {
    let query = try QueryDescription(parsing: "books")
    let search = Dependencies.maintenance(of: query, isSearch: true)
    let past = Dependencies.maintenance(of: query, isPast: true)
    #expect(
      (search + past).map(\.words) == [
        "search: run again, since the score of a text depends on the texts of all other records",
        "moment: run again, since no index has the records of the past",
      ])
  }
}
