// Goal: the rules of a model hold whether or not it was named when the database was opened. Method:
// models that refer to each other, used in every way on databases that were opened without them.

import Foundation
import Testing

@testable import Cambium

@Suite("A model that was not named when opening")
struct ClaimingTests {
  struct Team: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Team>("teams") { Unique(\.name) }
  }

  struct Player: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var team: Team.ID?
    var number = 0
    static let schema = ModelSchema<Player>("players") {
      Property(\.team).onDelete(.cascade)
      Property(\.number).rejected(below: 0)
    }
  }

  struct Club: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Club>("teams")
  }

  struct Team2: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var city = "Delft"
    static let schema: ModelSchema<Team2> = {
      ModelSchema("teams") { Unique(\.name, \.city) }
    }()
  }

  private func isDuplicate(_ body: () throws -> Void) -> Bool {
    do { try body() } catch DatabaseError.notUnique { return true } catch {}
    return false
  }

  private func expectRefused(
    naming words: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    guard case .misuse(let reason)? = error else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
    for word in words {
      #expect(reason.contains(word), "\(reason)", sourceLocation: sourceLocation)
    }
  }

  @Test("is bound by what the file declares")
  func declaredBefore() throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    try Database(at: place, for: Team.self, Player.self).close()
    let database = try Database(at: place)
    try database.insert(Team(id: 1, name: "Ajax"))
    try database.insert(Player(id: 1, team: .init(1)))
    #expect(isDuplicate { try database.insert(Team(id: 2, name: "Ajax")) })
    #expect(throws: ValidationError.self) { try database.insert(Player(id: 2, number: -1)) }
    try database.delete(Team.ID(1))
    #expect(try database.count(Player.self) == 0)
    try expectSound(database)
    try database.close()
  }

  @Test("is declared by the first write")
  func firstWrite() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.upsert(Team(id: 1, name: "Ajax"))
        try tx.upsert(Player(id: 1, team: .init(1)))
      }
      #expect(isDuplicate { try database.insert(Team(id: 2, name: "Ajax")) })
      #expect(try database.query(Team.self).where { $0.name == "Ajax" }.count() == 1)
      try database.delete(Team.ID(1))
      #expect(try database.count(Player.self) == 0)
      // A declaration that is taken back is made again by the next write.
      let other = try Database.inMemory()
      struct Broken: Error {}
      #expect(throws: Broken.self) {
        try other.write { tx in
          try tx.insert(Team(id: 1, name: "Ajax"))
          throw Broken()
        }
      }
      #expect(try other.read { try $0.definition(of: "teams") } == nil)
      try other.insert(Team(id: 1, name: "Ajax"))
      #expect(isDuplicate { try other.insert(Team(id: 2, name: "Ajax")) })
      try other.close()
    }
  }

  @Test("is not read before it is declared")
  func reading() throws {
    try withDatabase { database in
      func expectNone(_ snapshot: Snapshot) {
        let words = ["Team", "register(Team.self)"]
        expectRefused(naming: words[0], words[1]) { _ = try snapshot.find(Team.ID(1)) }
        expectRefused(naming: words[0], words[1]) { _ = try snapshot.find(Team.ID(1), \.name) }
        expectRefused(naming: words[0], words[1]) { _ = try snapshot.exists(Team.ID(1)) }
        expectRefused(naming: words[0], words[1]) { _ = try snapshot.all(Team.self).fetch() }
        expectRefused(naming: words[0], words[1]) { _ = try snapshot.count(Team.self) }
        let query = snapshot.query(Team.self)
        expectRefused(naming: words[0], words[1]) { _ = try query.fetch() }
        expectRefused(naming: words[0], words[1]) { _ = try query.count() }
        expectRefused(naming: words[0], words[1]) { _ = try query.ids() }
        expectRefused(naming: words[0], words[1]) { _ = try query.select(\.name).fetch() }
      }
      expectNone(try database.snapshot())
      try database.write { try $0.set("teams/1", to: ["name": "Ajax"]) }
      expectNone(try database.snapshot())
      try database.register(Team.self)
      #expect(try database.get(Team.ID(1)).name == "Ajax")
    }
  }

  @Test("says so where it has more than the file")
  func newer() throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    try Database(at: place, for: Team.self).close()
    let database = try Database(at: place)
    expectRefused(naming: "Team", "Team2") { _ = try database.all(Team2.self).fetch() }
    expectRefused(naming: "Team", "Team2") { try database.insert(Team2(id: 1)) }
    try database.register(Team2.self)
    try database.insert(Team2(id: 1))
    expectRefused(naming: "Team", "Team2") { _ = try database.count(Team.self) }
    try expectSound(database)
    try database.close()
  }

  @Test("is refused where another one has its collection, with both names")
  func claimedTwice() throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    expectRefused(naming: "Team", "Club", "teams") {
      try Database(at: place, for: Team.self, Club.self).close()
    }
    let database = try Database(at: place, for: Team.self)
    expectRefused(naming: "Team", "Club", "teams") { try database.insert(Club(id: 1)) }
    expectRefused(naming: "Team", "Club", "teams") { try database.register(Team.self, Club.self) }
    #expect(try database.count(Team.self) == 0)
    try expectSound(database)
    try database.close()
  }

  @Test("is named as well where nobody waits for opening")
  func opening() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    let database = try await Database.open(at: place, for: Team.self, Player.self)
    #expect(try database.count(Team.self) == 0)
    #expect(try database.read { try $0.definition(of: "players")?.properties.count } == 2)
    try await database.close()
  }
}
