import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

/// A graph is saved as if its models had been written one by one in the right order. Random graphs,
/// with circles and under rules that demand every target, are held against a plain dictionary.
@Suite("A saved graph")
struct GraphTests {
  struct Person: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var boss: Person.ID?
    var friends: [Person.ID] = []
    var ratings: [Person.ID: Int] = [:]
    var team: Team.ID?
    static let schema = ModelSchema<Person>("people") {
      Property(\.name).validated("must not be empty") { !$0.isEmpty }
      Property(\.boss).onDelete(.nullify)
      Property(\.friends).onDelete(.nullify)
      Property(\.team).mustExist()
    }
  }

  struct Team: Cambium.Model {
    var id = ID()
    var lead: Person.ID?
    var notes: [String: Value] = [:]
    static let schema = ModelSchema<Team>("teams") { Property(\.lead).onDelete(.deny).required() }
  }

  struct Town: Cambium.Model {
    typealias Key = String
    var id = ID()
    var mayor: Person.ID?
    static let schema = ModelSchema<Town>("towns") { Property(\.mayor).onDelete(.cascade) }
  }

  private func prepared(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Person.self, Team.self, Town.self)
      try body(database)
    }
  }

  @Test("is written in the order of its references, with circles, and ids that were not known")
  func order() throws {
    try prepared { database in
      try database.insert(Person(id: 7, name: "Old"))
      var graph = Graph()
      let ada = graph.add(Person(name: "Ada"))
      let town = graph.add(Town(id: "delft", mayor: ada))
      let team = graph.add(Team(lead: ada))
      let bob = graph.add(Person(name: "Bob", boss: ada, friends: [ada, 7], ratings: [ada: 3]))
      graph[ada]?.team = team
      graph[ada]?.friends = [bob, ada]
      #expect(graph.count == 4 && graph[bob]?.boss == ada && graph[Person.ID(99)] == nil)
      let head = try database.head
      let saved = try database.save(graph)
      #expect(try database.head == head.next)
      #expect(saved[ada] == 8 && saved[bob] == 9 && saved[team] == team && saved[town] == town)
      #expect(saved.inserted.count == 4 && saved.updated.isEmpty && saved.unchanged.isEmpty)
      // In a circle, what was added first waits for the rest.
      let order = [try saved[bob].path, try team.path, try saved[ada].path, try town.path]
      #expect(saved.inserted == order)
      let found = try database.get(saved[bob])
      #expect(found.boss == 8 && found.friends == [8, 7] && found.ratings == [8: 3])
      #expect(try database.get(saved[ada]).friends == [9, 8])
      #expect(try database.get(team).lead == 8)
      #expect(try database.get(town).mayor == 8)
      #expect(try database.query(Person.self).where { $0.boss.name == "Ada" }.count() == 1)
    }
  }

  @Test("is one transaction, which is undone as one")
  func undoing() throws {
    try prepared { database in
      var graph = Graph()
      let ada = graph.add(Person(name: "Ada"))
      let bob = graph.add(Person(name: "Bob", boss: ada, friends: [ada]))
      graph[ada]?.friends = [bob]
      try database.save(graph)
      try database.undoLast()
      #expect(try database.count(Person.self) == 0)
      try database.redo()
      #expect(try database.get(1 as Person.ID).friends == [2])
      #expect(try database.get(2 as Person.ID).boss == 1)
    }
  }

  @Test("inserts what is new, changes what differs, and logs nothing of the rest")
  func outcomes() throws {
    try prepared { database in
      let team = Team(id: Team.ID(UUID()), lead: 1)
      let people = [Person(id: 1, name: "Ada", team: team.id), Person(id: 2, name: "Bob", boss: 1)]
      var graph = Graph(team, people[0])
      graph.add(contentsOf: people)
      #expect(graph.count == 3)
      try database.save(graph)
      let head = try database.head
      let again = try database.save(graph)
      #expect(again.unchanged.count == 3 && again.inserted.isEmpty && again.updated.isEmpty)
      #expect(try database.head == head)
      graph[people[1].id]?.name = "Rob"
      let eve = graph.add(Person(name: "Eve", boss: 2))
      let saved = try database.save(graph, actor: "ada")
      #expect(saved.updated == ["people/2"] && saved.inserted == ["people/3"] && saved[eve] == 3)
      let commit = try database.commit(try database.head)
      #expect(try commit.changes.fetch().map(\.path).sorted() == ["people/2", "people/3"])
    }
  }

  @Test("takes the form that blocks no thread")
  func waiting() async throws {
    try await withDatabase { database in
      try await database.register(Person.self, Team.self)
      var graph = Graph()
      let ada = graph.add(Person(name: "Ada"))
      let saved = try await database.save(graph)
      #expect(try database.get(saved[ada]).name == "Ada")
    }
  }

  @Test("that is refused leaves nothing, and every message names its model")
  func refusals() throws {
    try prepared { database in
      var graph = Graph()
      graph.add(Person(id: 1))
      graph.add(Person(id: 2, name: "Bob"))
      graph.add(Person(id: 3))
      let error = #expect(throws: ValidationError.self) { try database.save(graph) }
      #expect(error?.causes.map(\.path) == ["people/1", "people/3"])
      #expect(try database.count(Person.self) == 0)

      let stray = Graph(Person(id: 4, name: "Eve", boss: 99))
      let violation = #expect(throws: DatabaseError.self) { try database.save(stray) }
      #expect("\(violation.map { "\($0)" } ?? "")".contains("people/4"))

      var hidden = Graph()
      let ada = hidden.add(Person(name: "Ada"))
      hidden.add(Team(id: Team.ID(UUID()), lead: ada, notes: ["who": .integer(Int64(ada.key))]))
      #expect {
        try database.save(hidden)
      } throws: { error in
        guard case DatabaseError.badValue(let path, let reason) = error else { return false }
        return path.parent == "teams" && reason.hasPrefix("notes: it has the provisional id")
      }
      #expect(throws: ValidationError.self) { try database.save(Graph(Town())) }
      try database.write { tx in
        #expect(throws: ValidationError.self) { try tx.save(graph) }
        try tx.insert(Person(id: 5, name: "after"))
      }
      #expect(try database.count(Person.self) == 1)
      // The models that the graph was about to write count no longer.
      #expect(throws: DatabaseError.self) { try database.insert(Person(name: "x", boss: 2)) }
    }
  }

  @Test("may be a chain of any length")
  func chain() throws {
    try prepared { database in
      var graph = Graph()
      var ids = [graph.add(Person(name: "0"))]
      for index in 1..<20_000 { ids.append(graph.add(Person(name: "\(index)"))) }
      for index in 1..<ids.count { graph[ids[index - 1]]?.boss = ids[index] }
      let saved = try database.save(graph)
      #expect(saved.inserted.first == (try saved[ids[19_999]].path))
      #expect(saved.inserted.last == (try saved[ids[0]].path))
      let target = saved[ids[1]]
      #expect(try database.get(saved[ids[0]]).boss == target)
    }
  }

  enum Thing: ModelUnion {
    typealias Key = Int
    case box(Box)
    case lid(Lid)
    static let cases = ModelCases<Thing>(
      ModelCase("box", Thing.box) { if case .box(let box) = $0 { box } else { nil } },
      ModelCase("lid", Thing.lid) { if case .lid(let lid) = $0 { lid } else { nil } })
    static let schema = ModelSchema<Thing>(union: "things")
  }
  struct Box: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var lid: Thing.ID?
    static let schema = ModelSchema<Box>(caseOf: Thing.self) { Property(\.lid).mustExist() }
  }
  struct Lid: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var size = 0
    static let schema = ModelSchema<Lid>(caseOf: Thing.self)
  }

  @Test("may have models that are cases of one enum")
  func unions() throws {
    try withDatabase { database in
      try database.register(Thing.self)
      var graph = Graph()
      var ids: [Thing.ID] = []
      let lid = graph.add(Thing.lid(Lid(size: 3)))
      ids.append(graph.add(Thing.box(Box(lid: lid))))
      let saved = try database.save(graph)
      #expect(saved.inserted == ["things/1", "things/2"])
      #expect(try database.get(Box.ID(2)).lid == 1 && saved[ids[0]] == 2)
    }
  }

  @Test("has what writing one by one would have", arguments: [1, 2, 3, 4] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    try prepared { database in
      var model: [Int: Person] = [:]
      for _ in 0..<40 {
        var graph = Graph()
        var members: [Person.ID] = []
        for key in model.keys.sorted() where below(3) == 0 {
          members.append(graph.add(model[key] ?? Person()))
        }
        for _ in 0..<(1 + below(5)) { members.append(graph.add(Person(name: "n\(below(9))"))) }
        members.shuffle(using: &random)
        for id in members where below(4) > 0 {
          graph[id]?.boss = below(5) == 0 ? nil : members[below(members.count)]
          graph[id]?.friends = (0..<below(3)).map { _ in members[below(members.count)] }
          if below(3) == 0 { graph[id]?.ratings = [members[below(members.count)]: below(5)] }
        }
        let before = model
        let saved = try database.save(graph)
        for id in members {
          guard var person = graph[id] else { continue }
          person.id = saved[id]
          person.boss = person.boss.map { saved[$0] }
          person.friends = person.friends.map { saved[$0] }
          person.ratings = Dictionary(
            uniqueKeysWithValues: person.ratings.map { (saved[$0.key], $0.value) })
          model[person.id.key] = person
        }
        let isNew = { (path: NodePath) in
          !before.keys.contains { path.last == .integer(Int64($0)) }
        }
        #expect(saved.inserted.allSatisfy(isNew) && !saved.updated.contains(where: isNew))
        #expect(saved.inserted.count == model.count - before.count)
        let stored = try database.query(Person.self).fetch()
        try #require(stored.count == model.count)
        for person in stored {
          let wanted = try #require(model[person.id.key])
          try #require(person.name == wanted.name && person.boss == wanted.boss)
          try #require(person.friends == wanted.friends && person.ratings == wanted.ratings)
        }
      }
    }
  }
}
