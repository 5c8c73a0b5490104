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
      #expect(try database.related(user.ownedGroups).ids() == ["swimmers"])
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
      #expect(try database.related(user.conversations).fetch().map(\.topic) == ["Hello"])
      let readers = try database.get("readers" as Group.ID)
      #expect(try database.related(readers.members).ids() == ["user_1"])
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
      let holders = try database.related(try database.get(swimmers).holders).ids()
      #expect(holders == ["user_1"])
      try database.delete(swimmers)
      #expect(try database.get(user.id).roles == [:])
    }
  }

  /// A table that writes down the batches that it gets.
  private struct Table {
    let shown = Shown()
    func beginUpdates() { shown("begin") }
    func delete(_ positions: [Int]) { shown("delete", positions) }
    func insert(_ positions: [Int]) { shown("insert", positions) }
    func move(_ from: Int, to: Int) { shown("move", from, to) }
    func endUpdates() { shown("end") }
    func reload(_ positions: [Int]) { shown("reload", positions) }
  }

  @Test("drives a table, and a cell that shows a property")
  func following() async throws {
    try await withDatabase { database in
      try await database.register(User.self, Group.self, Conversation.self)
      try await database.insert(User(id: "user_1", name: "Ada"))
      let (table, show) = (Table(), Shown())
      let user = try database.get("user_1" as User.ID)
      let list = Task { try await Self.list(database.query(User.self).order(by: \.name), table) }
      let cell = Task {
        for try await name in database.values(of: user.id, \.name) {
          show(name)
        }
      }
      try await table.shown.waits(for: 5)
      try await show.waits(for: 1)
      try await database.insert(User(id: "user_2", name: "Aaron"))
      try await table.shown.waits(for: 10)
      try await database.update(user.id) { $0.name = "Ada L." }
      try await show.waits(for: 2)
      for task in [list, cell] { task.cancel() }
      _ = await (list.result, cell.result)
      let first = ["begin", "delete []", "insert [0]", "end", "reload []"]
      #expect(Array(table.shown.lines.prefix(10)) == first + first)
      #expect(show.lines == ["Ada", "Ada L."])
    }
  }

  private static func list(_ users: ModelQuery<User>, _ table: Table) async throws {
    for try await diff in users.changes() {
      table.beginUpdates()
      table.delete(diff.deletions.map(\.position))
      table.insert(diff.insertions.map(\.position))
      for move in diff.moves { table.move(move.from, to: move.to) }
      table.endUpdates()
      table.reload(diff.updates.map(\.after))
    }
  }

  @Test("has a form, and takes back what was entered")
  func entering() throws {
    try withUser { database, user in
      let show = Shown()
      let entered = try database.live(user.id)
      try entered.edit { $0.name = "Someone else" }
      entered.revert()
      #expect(entered.name == "User name" && entered.editedProperties.isEmpty)

      var form = try ModelForm(user, in: database)
      for property in form.properties {
        show(property.label, form.draft.text(of: property.name))
      }
      form.draft.set("name", text: "Someone else")
      try form.save()
      #expect(show.lines.contains("Name User name"))
      #expect(try database.get(user.id).name == "Someone else")
    }
  }

  @Test("takes back what was committed, and derives")
  func reverting() throws {
    try withUser { database, user in
      try database.update(user.id) { $0.name = "Someone else" }
      try database.undoLast()
      #expect(try database.get(user.id).name == "User name")
      let userNames = try database.query(User.self).select(\.name).live()
      try database.update(user.id) { $0.name = "Ada" }
      try userNames.refresh()
      #expect(Array(userNames) == ["Ada"])
    }
  }
}
