import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from Realm, Core Data, GRDB or Firebase, one")
struct OtherStoresTests {
  struct Dog: Model {
    var id = ID()
    var name = ""
    var age = 0
    static let schema = ModelSchema<Dog>("dogs") { Index(\.name) }
  }

  struct Team: Model {
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Team>("teams")
  }

  struct Player: Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var score = 0
    var team: Team.ID?
    static let schema = ModelSchema<Player>("players")
  }

  @Test("writes and asks as with Realm")
  func realm() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/dogs.cambium"
    let database = try Database(at: path, for: Dog.self)
    let id = try database.insert(Dog(name: "Rex", age: 1))
    let puppies = try database.query(Dog.self)
      .where { $0.age < 2 }
      .order(by: \.name).fetch()
    try database.update(id) { $0.age += 1 }
    #expect(puppies.map(\.name) == ["Rex"])
    #expect(try database.get(id).age == 2)
    try checkSound(database)
    try database.close()
  }

  @Test("saves, asks and undoes as with Core Data")
  func coreData() throws {
    try withDatabase { database in
      try database.register(Team.self, Player.self)
      let team = try database.insert(Team(name: "Red"))
      try database.insert(Player(name: "Ada", team: team))
      let players = try database.query(Player.self)
        .where { $0.score >= 0 && $0.team.name == "Red" }
        .order(by: \.name).limit(50)
        .fetch()
      try database.undoLast()
      #expect(players.map(\.name) == ["Ada"])
      #expect(try database.count(Player.self) == 0)
    }
  }

  @Test("inserts and reads in one transaction, as with GRDB")
  func grdb() throws {
    try withDatabase { database in
      try database.register(Team.self, Player.self)
      let best = try database.write { tx in
        try tx.insert(Player(name: "Ada", score: 1000))
        return try tx.query(Player.self).order(by: \.score.descending).limit(10).fetch()
      }
      #expect(best.map(\.id) == [1])
    }
  }

  @Test("writes to paths as with Firebase")
  func firebase() async throws {
    try await withDatabase { database in
      let (show, head) = (Shown(), try database.head)
      try Self.writePaths(database)
      let task = Task {
        for try await commit in database.changes(after: head, under: "users") {
          show(try commit.changes.fetch().map(\.path))
        }
      }
      try await show.waits(for: 1)
      task.cancel()
      _ = await task.result
      #expect(show.lines[0].contains("users/ada") && !show.lines[0].contains("\"posts/1"))
      let ada = try database.read { try $0["users/ada"]["username"] }
      #expect(ada == "Ada L.")
    }
  }

  private static func writePaths(_ database: Database) throws {
    try database.write { tx in
      try tx.set("users/ada", to: ["username": "Ada"])
      try tx.update("users/ada", ["username": "Ada L."])
      try tx.set("posts/1", to: ["title": "Notes"])
      try tx.set("users/ada/posts/1", to: true)
      try tx.increment("users/ada", "visits", by: 1)
    }
  }
}
