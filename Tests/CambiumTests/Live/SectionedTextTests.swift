// Goal: each result of a query in text has the value that divides it into sections, however the
// query is answered, and a live result follows that value, also behind a reference. Method: queries
// with and without indexes, selections and groups; then random changes, of which each step must
// lead to the sections that a new run has.

import Simulation
import Testing

@testable import Cambium

@Suite("Sections of a query in text")
struct SectionedTextTests {
  private struct Team: Cambium.Model {
    typealias Key = String
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Team>("teams")
  }

  private struct Person: Cambium.Model {
    typealias Key = String
    var id = ID()
    var name = ""
    var city: String?
    var team: Team.ID?
    static let schema = ModelSchema<Person>("people") {
      Index(\.city).covering(\.name)
      Property(\.team).onDelete(.nullify)
    }
  }

  private static let teams = ["x", "y", "z"]
  private static let people = (0..<12).map { "p\($0)" }
  private static let cities = ["Delft", "Ghent", nil]

  private static func fill(_ database: Database) throws {
    try database.register(Team.self, Person.self)
    try database.write { tx in
      for (rank, key) in teams.enumerated() { try tx.insert(Team(id: .init(key), rank: rank)) }
      for (number, key) in people.enumerated() {
        try tx.insert(
          Person(
            id: .init(key), name: "n\(number)", city: cities[number % 3],
            team: .init(teams[number % 2])))
      }
    }
  }

  private static let queries = [
    "people section by city", "people select name section by city",
    "people select id, name section by team.rank sort name", "people section by team.rank",
    "people where team.rank < 2 section by city sort name limit 5",
    "people section by city sort team.rank", "people select city distinct section by city",
    "people select name section by lowercased(city)",
  ]

  /// The value by which a result is in its section, found by itself.
  private static func section(
    of result: DynamicRecord, _ query: String, _ snapshot: Snapshot
  ) throws -> Value {
    if query.contains("distinct") { return result["city"] ?? .null }
    let person = try snapshot.find(Person.ID(try #require(result.key?.description)))
    if query.contains("team.rank") && query.contains("section by team") {
      let team = try person?.team.flatMap { try snapshot.find($0) }
      return team.map { .integer(Int64($0.rank)) } ?? .null
    }
    let city = person?.city
    let isLowercased = query.contains("lowercased")
    return city.map { .string(isLowercased ? $0.lowercased() : $0) } ?? .null
  }

  @Test("have the value of each result", arguments: queries)
  func values(_ text: String) throws {
    try withDatabase { database in
      try Self.fill(database)
      let query = try database.records(text)
      let (results, snapshot) = (try query.fetch(), try database.snapshot())
      #expect(query.isSectioned && !results.isEmpty)
      for result in results {
        #expect(result.section == (try Self.section(of: result, text, snapshot)))
      }
      #expect(try database.records("people").fetch().allSatisfy { $0.section == nil })
    }
  }

  @Test("are followed", arguments: queries, 1...2 as ClosedRange<UInt64>)
  func following(_ text: String, _ seed: UInt64) throws {
    try withDatabase { database in
      try Self.fill(database)
      var random = SeededGenerator(seed: seed)
      let query = try database.records(text)
      let live = try query.live()
      var sections = try Sectioning(live.elements, at: live.sequence) { $0.section ?? .null }
      var view = StrictListView(sections.sections)
      for step in 0..<150 {
        try Self.change(database, &random)
        try view.apply(try sections.apply(try live.refresh()))
        let wanted = try query.fetch()
        #expect(Array(live) == wanted, "seed \(seed), step \(step)")
        for section in sections.sections {
          #expect(section.elements.allSatisfy { $0.section == section.key }, "seed \(seed)")
        }
      }
    }
  }

  private static func change(_ database: Database, _ random: inout SeededGenerator) throws {
    try database.write { tx in
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let person = Person.ID(people.randomElement(using: &random) ?? "")
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          let team = Team.ID(teams.randomElement(using: &random) ?? "")
          try tx.update(team) { $0.rank = Int.random(in: 0..<4, using: &random) }
        case 1: try tx.update(person) { $0.city = cities.randomElement(using: &random) ?? nil }
        case 2: try tx.update(person) { $0.name = "n\(Int.random(in: 0..<9, using: &random))" }
        case 3:
          let team = teams.randomElement(using: &random).map { Team.ID($0) }
          try tx.update(person) { $0.team = team }
        default: try tx.update(person) { $0.team = nil }
        }
      }
    }
  }
}
