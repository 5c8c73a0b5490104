import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from DBClient, one")
struct DBClientTests {
  struct User: Model {
    typealias Key = String
    var id = ID()
    var name = ""
    static let schema = ModelSchema<User>("users")
  }

  private let ada = User(id: "ada", name: "Ada")
  private let bob = User(id: "bob", name: "Bob")

  @Test("opens, inserts, finds, deletes")
  func crud() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/users.cambium"
    let database = try Database(at: path, for: User.self)
    let inserted = try database.write { tx in try tx.insert(contentsOf: [ada, bob]) }
    let found = try database.find(ada.id)
    let all = try database.all(User.self).fetch()
    let deleted = try database.delete(bob.id)
    #expect(inserted == ["ada", "bob"] && found?.name == "Ada" && deleted)
    #expect(all.map(\.name) == ["Ada", "Bob"])
    #expect(try database.count(User.self) == 1)
    try checkSound(database)
    try database.close()
  }

  @Test("upserts, and tells what was new")
  func upserting() throws {
    try withDatabase { database in
      try database.register(User.self)
      try database.insert(User(id: "ada", name: "ada"))
      let (show, eve) = (Shown(), User(id: "eve", name: "Eve"))
      let result = try database.write { tx in try tx.upsert(contentsOf: [ada, eve]) }
      show(result.updated, result.inserted)
      #expect(show.lines == ["[User.ID(\"ada\")] [User.ID(\"eve\")]"])
      #expect(try database.get(ada.id).name == "Ada")
    }
  }

  @Test("keeps a request as a value")
  func requests() throws {
    try withDatabase { database in
      try database.register(User.self)
      try database.write { tx in
        for name in ["Ann", "Bob", "Ada", "Alice"] {
          try tx.insert(User(id: .init(name.lowercased()), name: name))
        }
      }
      let request = database.query(User.self)
        .where { $0.name.hasPrefix("A") }
        .order(by: \.name)
        .limit(5, offset: 1)
      let users = try request.fetch()
      #expect(users.map(\.name) == ["Alice", "Ann"])
    }
  }

  @Test("observes a request")
  func observing() async throws {
    try await withDatabase { database in
      try await database.register(User.self)
      try await database.insert(ada)
      let show = Shown()
      let request = database.query(User.self).order(by: \.name)
      let task = Task {
        for try await diff in request.changes() {
          show(diff.elements, diff.deletions, diff.insertions, diff.updates)
        }
      }
      try await show.waits(for: 1)
      try await database.insert(bob)
      try await show.waits(for: 2)
      task.cancel()
      _ = await task.result
      #expect(show.lines[0].contains("Ada") && !show.lines[0].contains("Bob"))
      #expect(show.lines[1].contains("Ada") && show.lines[1].contains("Bob"))
    }
  }
}
