// Goal: the changes of a schema that apps make most keep every record's meaning. Method: one
// collection, opened by one version of a model after the other; what must be there is written out.

import Foundation
import Testing

@testable import Cambium

@Suite("A property that is added with a default")
struct DefaultTests {
  struct User1: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var nick: String?
    static let schema = ModelSchema<User1>("users")
  }

  struct User2: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var nick = "none"
    var country = "NL"
    var level = 3
    static let schema = ModelSchema<User2>("users") {
      Property(\.country).required()
      Property(\.nick).required()
      Unique(\.name, \.country)
      Count(by: \.country)
    }
  }

  struct User3: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var nick = "none"
    var country = "DE"
    var level: Int?
    static let schema = ModelSchema<User3>("users")
  }

  /// Opens a database for a model, hands it to a body, checks and closes it.
  private func with(
    _ directory: TemporaryDirectory, _ model: any Cambium.Model.Type,
    migrating: ProgressHandler? = nil, _ body: (Database) throws -> Void
  ) throws {
    let database = try Database(
      at: directory.path + "/a.cambium", for: model, migrating: migrating)
    try body(database)
    try expectSound(database)
    try database.close()
  }

  private func filled() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try with(directory, User1.self) { database in
      try database.write { tx in
        try tx.insert(User1(id: 1, name: "Ada"))
        try tx.insert(User1(id: 2, name: "Bob", nick: "bo"))
        try tx.set("users/3", to: ["name": "Cid", "nick": .null])
      }
    }
    return directory
  }

  @Test("means that everywhere, without being stored")
  func everywhere() throws {
    let directory = try filled()
    try with(directory, User2.self) { database in
      let query = database.query(User2.self)
      #expect(try query.where { $0.country == "NL" }.count() == 3)
      #expect(try query.where { $0.nick == "none" }.ids() == [.init(1), .init(3)])
      #expect(try query.sum(\.level) == 9)
      #expect(try query.select(\.country).fetch() == ["NL", "NL", "NL"])
      #expect(try database.records("users where country = null").count() == 0)
      #expect(try database.records("users where nick = null").count() == 0)
      let groups = try database.records("users | group by country select count, sum(level)").fetch()
      #expect(groups.map(\.values) == [["country": "NL", "count": 3, "sum(level)": 9]])
      #expect(throws: DatabaseError.self) { try database.insert(User2(id: 9, name: "Ada")) }
      try database.insert(User2(id: 9, name: "Ada", country: "DE"))
      try database.update(User2.ID(1)) { $0.level = 4 }
      let ada = try #require(try database.snapshot()["users/1"].record)
      #expect(ada["country"] == "NL" && ada.values["country"] == nil)
      #expect(try ada["country", as: String.self] == "NL" && ada["level"] == 4)
      #expect(try database.snapshot()["users/1/country"].value == "NL")
      let before = try database.snapshot(at: .sequence(2))
      #expect(try before.records("users where country = \"NL\" and nick != null").count() == 3)
      #expect(try before.all(User2.self).fetch().map(\.nick) == ["none", "bo", "none"])
    }
  }

  @Test("keeps it where the default changes, until the records are migrated and in the past")
  func changed() throws {
    let directory = try filled()
    try with(directory, User2.self) { _ in }
    func check(_ database: Database, _ countries: [String]) throws {
      let snapshot = try database.snapshot()
      #expect(try snapshot.all(User3.self).fetch().map(\.country) == countries)
      #expect(
        try snapshot.records("users sort id select country").fetch().map { $0["country"] }
          == countries.map { .string($0) })
      #expect(
        try snapshot.query(User3.self).where { $0.country == "NL" }.count()
          == countries.count { $0 == "NL" })
      #expect(try snapshot.query(User3.self).where { $0.level == 3 }.count() == 3)
      #expect(try snapshot.all(User3.self).fetch().prefix(3).allSatisfy { $0.level == 3 })
    }
    try with(directory, User3.self) { database in
      #expect(
        try database.planMigration(of: User3.self).steps == [
          "default of country", "default of level",
        ])
      try database.insert(User3(id: 4, name: "Dan"))
      #expect(try database.get(User3.ID(4)) == User3(id: 4, name: "Dan"))
      try check(database, ["NL", "NL", "NL", "DE"])
    }
    try with(directory, User3.self, migrating: { _ in true }) { database in
      try check(database, ["NL", "NL", "NL", "DE"])
      #expect(try database.snapshot()["users/1"].record?.values["country"] == "NL")
      try database.write { try $0.set("users/5", to: ["name": "Eve"]) }
      try check(database, ["NL", "NL", "NL", "DE", "DE"])
      let before = try database.snapshot(at: .sequence(2))
      #expect(try before.all(User3.self).fetch().map(\.country) == ["NL", "NL", "NL"])
      #expect(try before.records("users where country = \"NL\" and level = 3").count() == 3)
      #expect(try database.planMigration(of: User3.self).steps == [])
    }
  }

  struct Event1: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var title = ""
    static let schema = ModelSchema<Event1>("events")
  }

  struct Event2: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var title = ""
    var token = UUID()
    var made = Date()
    var day = Calendar.current.startOfDay(for: Date())
    var epoch = Date(timeIntervalSince1970: 0)
    static let schema = ModelSchema<Event2>("events") { Unique(\.token) }
  }

  @Test("that is computed is stored once for each record, by a migration")
  func computed() throws {
    let directory = try TemporaryDirectory()
    try with(directory, Event1.self) { database in
      try database.write { tx in for id in 1...3 { try tx.insert(Event1(id: .init(id))) } }
    }
    let steps = ["default of token", "default of made", "default of day"]
    #expect(throws: DatabaseError.needsMigration("events", steps: steps)) {
      try Database(at: directory.path + "/a.cambium", for: Event2.self)
    }
    try with(directory, Event2.self, migrating: { _ in true }) { database in
      let events = try database.all(Event2.self).fetch()
      #expect(Set(events.map(\.token)).count == 3)
      for event in events {
        let record = try #require(try database.snapshot()[try event.id.path].record)
        #expect(record.values["token"] == .uuid(event.token))
        #expect(record.values["made"] == .date(event.made))
        #expect(try database.records("events where token = $1", event.token).count() == 1)
      }
      #expect(try database.query(Event2.self).where { $0.epoch < Date.distantPast }.count() == 0)
      #expect(throws: DatabaseError.self) {
        try database.write { try $0.set("events/9", to: ["title": "no token"]) }
      }
    }
  }

  struct Rating1: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var stars: Int?
    static let schema = ModelSchema<Rating1>("ratings") { Index(\.stars) }
  }

  struct Rating2: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var stars: Int? = 5
    static let schema = ModelSchema<Rating2>("ratings") { Index(\.stars) }
  }

  @Test("leaves nil where that was chosen before", arguments: [false, true])
  func optional(migrates: Bool) throws {
    let directory = try TemporaryDirectory()
    try with(directory, Rating1.self) { database in
      try database.write { tx in for id in 1...3 { try tx.insert(Rating1(id: .init(id))) } }
    }
    let goOn: ProgressHandler = { _ in true }
    try with(directory, Rating2.self, migrating: migrates ? goOn : nil) { database in
      try database.insert(Rating2(id: 4))
      try database.insert(Rating2(id: 5, stars: nil))
      #expect(try database.all(Rating2.self).fetch().map(\.stars) == [nil, nil, nil, 5, nil])
      #expect(try database.query(Rating2.self).where { $0.stars == nil }.count() == 4)
      #expect(try database.query(Rating2.self).where { $0.stars == 5 }.ids() == [.init(4)])
      let before = try database.snapshot(at: .sequence(2))
      #expect(try before.query(Rating2.self).where { $0.stars == nil }.count() == 3)
      #expect(try before.all(Rating2.self).fetch().map(\.stars) == [nil, nil, nil])
    }
  }
}
