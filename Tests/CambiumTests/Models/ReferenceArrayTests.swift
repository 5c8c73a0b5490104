// Goal: an array of references, an optional one, and a set have an index that nobody declares, by
// which both sides are found, and by which a deletion finds who refers. Method: what `explain` says
// and how many records are read; every delete rule against plain arrays, on random graphs; a
// property that is new in a collection with records.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("An array of references")
struct ReferenceArrayTests {
  struct Person: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var teams: Many<Team> { many(\.members) }
    var led: Many<Team> { many(\.leads) }
    static let schema = ModelSchema<Person>("people")
  }

  struct Team: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var members: [Person.ID] = []
    var leads: [Person.ID]?
    static let schema = ModelSchema<Team>("teams") {
      Property(\.members).onDelete(.nullify)
      Property(\.leads).onDelete(.cascade)
    }
  }

  /// Teams before they had members.
  struct Plain: Cambium.Model {
    typealias Key = Int
    var id = ID()
    static let schema = ModelSchema<Plain>("teams")
  }

  @Test("is indexed without a declaration, from both sides")
  func indexed() throws {
    try withDatabase { database in
      try database.register(Person.self, Team.self)
      #expect(Team.schema.definition.indexes.isEmpty)
      try database.write { tx in
        for key in 0..<50 { try tx.insert(Person(id: .init(key), name: "p\(key)")) }
        for key in 0..<200 {
          try tx.insert(
            Team(id: .init(key), members: [.init(key % 50), .init((key + 1) % 50)], leads: nil))
        }
      }
      let seven = Person.ID(7)
      let teams = database.query(Team.self)
      let wanted: Set<Int> = [6, 7, 56, 57, 106, 107, 156, 157]
      for query in [
        teams.where { $0.members.contains(seven) },
        try database.related(database.get(seven).teams),
        teams.where { $0.members.any { $0.name == "p7" } },
      ] {
        let words = try query.explain()
        #expect(try Set(query.ids().map(\.key)) == wanted, "\(words)")
        #expect(words.contains("(members)"), "\(words)")
      }
      let contained = try teams.where { $0.members.contains(seven) }.explain()
      #expect(contained.contains("8 records read, 8 accepted"), "\(contained)")
      let loading = database.query(Person.self).where { $0.id == seven }.with(\.teams)
      #expect(try loading.counts() == [RelationCounts(indexReads: 1)])
      #expect(try loading.fetch().first?.1.count == 8)
      try database.delete(seven)
      #expect(try teams.where { $0.members.contains(seven) }.count() == 0)
      #expect(try database.get(Team.ID(7)).members == [8])
    }
  }

  @Test("is followed by delete rules", arguments: SeededGenerator.seeds(1, 2, 3))
  func rules(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Person.self, Team.self)
      var teams: [Int: Team] = [:]
      try database.write { tx in
        for key in 0..<30 { try tx.insert(Person(id: .init(key))) }
        for key in 0..<60 {
          let members = (0..<random.below(5)).map { _ in Person.ID(random.below(30)) }
          let leads =
            random.chance(oneIn: 3)
            ? nil : (0..<random.below(3)).map { _ in Person.ID(random.below(30)) }
          teams[key] = Team(id: .init(key), members: members, leads: leads)
          try tx.insert(teams[key] ?? Team())
        }
      }
      for key in (0..<30).shuffled(using: &random) {
        try database.delete(Person.ID(key))
        for (team, value) in teams {
          teams[team]?.members.removeAll { $0.key == key }
          if value.leads?.contains(Person.ID(key)) ?? false { teams[team] = nil }
        }
        let found = try database.all(Team.self).fetch()
        #expect(found == teams.values.sorted { $0.id < $1.id }, "seed \(seed)")
      }
      #expect(try database.count(Person.self) == 0)
    }
  }

  @Test("that is new is indexed for the records that there are")
  func added() throws {
    try withDatabase { database in
      try database.register(Plain.self)
      try database.write { tx in
        for key in 0..<300 { try tx.insert(Plain(id: .init(key))) }
        // As another app has stored it, before anything was declared.
        for key in 0..<5 {
          let members = Value.array([.integer(1), .integer(Int64(key))])
          try tx.set(try NodePath("teams/\(key)"), to: .map(["members": members]))
        }
      }
      try database.register(Person.self, Team.self)
      let query = database.query(Team.self).where { $0.members.contains(1) }
      #expect(try Set(query.ids().map(\.key)) == [0, 1, 2, 3, 4])
      #expect(try query.explain().contains("(members)"))
    }
  }
}
