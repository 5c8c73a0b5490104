import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from Realtime, one")
struct RealtimeTests {
  struct User: Model {
    typealias Key = String
    var id = ID()
    var name = ""
    var age = 0
    var photo: Blob?
    var groups: [Group.ID] = []
    var roles: [Group.ID: String] = [:]
    var conversations: Many<Conversation> { many(\.user) }
    var ownedGroups: Many<Group> { many(\.manager) }

    static let schema = ModelSchema<User>("users") {
      Property(\.groups).onDelete(.nullify)
      Property(\.roles).onDelete(.nullify)
    }
  }

  struct Group: Model {
    typealias Key = String
    var id = ID()
    var manager: User.ID?
    var members: Many<User> { many(\.groups) }
    var holders: Many<User> { many(\.roles) }
    static let schema = ModelSchema<Group>("groups") { Property(\.manager).onDelete(.nullify) }
  }

  struct Conversation: Model {
    var id = ID()
    var user: User.ID?
    var topic = ""
    static let schema = ModelSchema<Conversation>("conversations") {
      Property(\.user).onDelete(.cascade)
    }
  }

  private let image = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })

  private func withUser(_ body: (Database, User) throws -> Void) throws {
    try withDatabase { database in
      try database.register(User.self, Group.self, Conversation.self)
      try database.write { tx in
        let photo = try tx.store(image)
        try tx.insert(User(id: "user_1", name: "User name", photo: photo))
      }
      try database.write { tx in
        try tx.insert(Group(id: "swimmers", manager: "user_1"))
        try tx.insert(Group(id: "readers"))
        try tx.update("user_1" as User.ID) {
          $0.groups = ["swimmers", "readers"]
          $0.roles = ["readers": "guest"]
        }
      }
      try body(database, try database.get("user_1"))
    }
  }

  @Test("saves with a file")
  func saving() throws {
    try withUser { database, user in
      let photo = try #require(user.photo)
      let content = try database.read { try $0.read(photo) }
      #expect(user.name == "User name" && content == image)
      #expect(try database.query(user.ownedGroups).ids() == ["swimmers"])
    }
  }

  @Test("changes several collections at once, and keeps both sides")
  func collections() throws {
    try withUser { database, user in
      try database.write { tx in
        try tx.insert(Conversation(user: user.id, topic: "Hello"))
        try tx.removeElement(at: 0, from: user.id, \.groups)
      }
      #expect(try database.get(user.id).groups == ["readers"])
      #expect(try database.query(user.conversations).fetch().map(\.topic) == ["Hello"])
      let readers = try database.get("readers" as Group.ID)
      #expect(try database.query(readers.members).ids() == ["user_1"])
      try database.delete(readers.id)
      #expect(try database.get(user.id).groups == [])
      try database.delete(user.id)
      #expect(try database.count(Conversation.self) == 0)
      #expect(try database.get("swimmers" as Group.ID).manager == nil)
    }
  }

  @Test("keeps a dictionary by objects, whose entries go with them")
  func dictionary() throws {
    try withUser { database, user in
      let (swimmers, readers): (Group.ID, Group.ID) = ("swimmers", "readers")
      try database.update(user.id) {
        $0.roles[swimmers] = "admin"
        $0.roles[readers] = nil
      }
      let admins = try database.query(User.self).where { $0.roles.hasKey(swimmers) }.fetch()
      #expect(admins.map(\.roles) == [[swimmers: "admin"]])
      let holders = try database.query(try database.get(swimmers).holders).ids()
      #expect(holders == ["user_1"])
      try database.delete(swimmers)
      #expect(try database.get(user.id).roles == [:])
    }
  }

  @Test("takes back what was committed, and derives")
  func reverting() throws {
    try withUser { database, user in
      try database.update(user.id) { $0.name = "Someone else" }
      try database.undoLast()
      #expect(try database.get(user.id).name == "User name")
      let userNames = try database.query(User.self).select(\.name).fetch()
      #expect(userNames == ["User name"])
    }
  }
}
