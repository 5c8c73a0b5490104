// Goal: records of an older form become those of the newest, by any way that a schema can say, and
// nothing is lost or guessed on the way. Method: small collections, written by one model and read
// and migrated by others of the same collection; what must be there is written out.

import Foundation
import Synchronization
import Testing

@testable import Cambium

@Suite("A migration")
struct MigrationTests {
  private func fill(_ database: Database, _ people: [Person1]) throws {
    try database.register(Person1.self)
    try database.write { tx in try tx.insert(contentsOf: people) }
  }

  private static let people = (1...7).map {
    Person1(first: "F\($0)", last: "L\($0)", born: $0 % 3 == 0 ? nil : "\(1900 + $0)")
  }

  private static let steps = ["full name", "year", "first removed", "last removed"]

  private static let migrated = (1...7).map {
    Person2(id: .init($0), name: "F\($0) L\($0)", born: $0 % 3 == 0 ? nil : 1900 + $0)
  }

  @Test("merges, converts and removes, and keeps what nobody let go", arguments: [1, 2, 7, 100])
  func bulk(_ batch: Int) throws {
    try withDatabase { database in
      try fill(database, Self.people)
      #expect(throws: DatabaseError.needsMigration("people", steps: ["full name", "year"])) {
        try database.register(Person2.self)
      }
      #expect(throws: DatabaseError.needsMigration("people", steps: ["full name", "year"])) {
        try database.get(Person2.ID(1))
      }
      let plan = try database.planMigration(of: Person2.self)
      #expect(plan.steps == Self.steps && plan.records == 7 && plan.done == 0)
      #expect(plan.blocking == ["full name", "year"] && plan.unknownProperties == ["legacy"])

      let told = Mutex<[UInt64]>([])
      let count = try database.migrate(Person2.self, batch: batch) { progress in
        #expect(progress.total == 7)
        told.withLock { $0.append(progress.done) }
        return true
      }
      #expect(count == 7 && told.withLock { $0.first == 0 && $0.last == 7 && $0 == $0.sorted() })
      #expect(try database.all(Person2.self).fetch() == Self.migrated)
      #expect(
        try database.read { try $0["people/1"].value }
          == ["name": "F1 L1", "born": 1901, "legacy": 1])
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.migration == nil && declared.steps.map(\.name) == Self.steps)
      #expect(declared.properties.map(\.name) == ["name", "born", "legacy"])
      #expect(try database.query(Person2.self).where { $0.born == 1902 }.ids() == [.init(2)])
      #expect(try database.migrate(Person2.self) == 0)
    }
  }

  @Test("goes on where it was broken off, before each batch and after a new start")
  func resumed() throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    var database = try Database(at: place)
    try fill(database, Self.people)
    for done in 0..<7 {
      let isFirst = Mutex(true)
      #expect(throws: CancellationError.self) {
        try database.migrate(Person2.self, batch: 1) { progress in
          #expect(progress.done >= UInt64(done))
          return isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
        }
      }
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.migration?.done == done + 1)
      #expect(throws: DatabaseError.self) { try database.find(Person2.ID(1)) }
      try database.close()
      #expect(throws: DatabaseError.self) { try Database(at: place, for: Person2.self) }
      #expect(throws: DatabaseError.self) { try Database(at: place, for: Person1.self) }
      database = try Database(at: place)
    }
    try database.close()
    database = try Database(at: place, for: Person2.self, migrating: { _ in true })
    #expect(try database.all(Person2.self).fetch() == Self.migrated)
    try expectSound(database)
    try database.close()
  }

  @Test("of an older app is finished by a newer one, which then runs its own steps")
  func resumedByNewer() throws {
    try withDatabase { database in
      try fill(database, Self.people)
      try database.write { tx in
        for id in 1...7 { try tx.update(Person1.ID(id).path, ["extra": .string("e\(id)")]) }
      }
      #expect(throws: CancellationError.self) {
        try database.migrate(Person2.self, batch: 3) { $0.done < 3 }
      }
      let steps = Self.steps + ["rank was legacy", "title", "extra removed"]
      #expect(try database.planMigration(of: Person3.self).steps == steps)
      #expect(try database.migrate(Person3.self, batch: 2) == 7)
      let expected = Self.migrated.map {
        Person3(
          id: .init($0.id.key), name: $0.name, born: $0.born, rank: 1, title: "1 e\($0.id.key)")
      }
      #expect(try database.all(Person3.self).fetch() == expected)
      #expect(
        try database.read { try $0["people/7"].value }
          == ["name": "F7 L7", "born": 1907, "rank": 1, "title": "1 e7"])
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.steps.map(\.name) == steps && declared.migration == nil)
      #expect(declared["title"]?.isRequired == true && declared.indexes.count == 1)
    }
  }

  @Test("is not taken for finished where its declaration is gone")
  func declarationGone() throws {
    try withDatabase { database in
      try fill(database, Self.people)
      let error = #expect(throws: DatabaseError.self) {
        try database.migrate(Person2.self, batch: 3) { progress in
          if progress.done == 3 { try? database.write { try $0.declare("people", nil) } }
          return true
        }
      }
      #expect(
        error
          == .misuse(
            reason: """
              the migration of people was broken off: its declaration has changed in between
              """))
    }
  }

  @Test("stops at a record that cannot be made, and keeps what was done")
  func failing() throws {
    try withDatabase { database in
      var people = Self.people
      people[4].born = "unknown"
      try fill(database, people)
      let error = #expect(throws: MigrationError.self) {
        try database.migrate(Person2.self, batch: 2)
      }
      #expect(error?.path == "people/5" && error?.step == "year")
      #expect(error?.cause as? Person2.Unreadable == .init(text: "unknown"))
      #expect(try database.read { try $0.definition(of: "people")?.migration?.done } == 4)
      #expect(try database.read { try $0["people/4"]["name"] } == "F4 L4")
      #expect(try database.read { try $0["people/5"]["first"] } == "F5")
      try database.write { try $0.update("people/5", ["born": "1905"]) }
      try database.migrate(Person2.self, batch: 2)
      #expect(try database.all(Person2.self).fetch() == Self.migrated)
    }
  }

  @Test("asks for what is new of every record in the end")
  func unique() throws {
    try withDatabase { database in
      var people = Self.people
      (people[2].first, people[2].last) = (people[1].first, people[1].last)
      try fill(database, people)
      #expect(throws: DatabaseError.notUnique("people/3", index: ["name"], takenBy: "people/2")) {
        try database.migrate(Person2.self, batch: 3)
      }
      try database.write { try $0.update("people/3", ["name": "F3 L3"]) }
      try database.migrate(Person2.self, batch: 3)
      #expect(try database.all(Person2.self).fetch() == Self.migrated)
    }
  }

  @Test("lets others write between its batches, and apps of another form not")
  func others() throws {
    try withDatabase { database in
      try fill(database, Self.people)
      try database.migrate(Person2.self, batch: 2) { progress in
        guard progress.done == 4, progress.total == 7 else { return true }
        do {
          try database.write { tx in
            try tx.update("people/2", ["name": "Ada"])
            try tx.remove("people/3")
            try tx.update("people/6", ["last": "X"])
            try tx.set("people/8", to: ["first": "F8", "last": "L8", "born": .null])
          }
          #expect(throws: DatabaseError.needsMigration("people", steps: Self.steps)) {
            try database.get(Person2.ID(1))
          }
          #expect(throws: DatabaseError.self) { try database.get(Person1.ID(6)) }
          #expect(throws: DatabaseError.self) { try database.insert(Person1()) }
        } catch { Issue.record(error) }
        return true
      }
      var expected = Self.migrated
      expected[1].name = "Ada"
      expected[5].name = "F6 X"
      expected.append(Person2(id: 8, name: "F8 L8"))
      expected.remove(at: 2)
      #expect(try database.all(Person2.self).fetch() == expected)
    }
  }

  @Test("does nothing where there are no records, and is needed by no later one")
  func empty() throws {
    try withDatabase { database in
      try database.register(Person2.self)
      try database.insert(Person2(name: "Ada"))
      #expect(try database.migrate(Person2.self) == 0)
      #expect(try database.planMigration(of: Person2.self).steps.isEmpty)
      #expect(try database.count(Person2.self) == 1)
    }
    try withDatabase { database in
      try database.register(Person1.self)
      try database.register(Person2.self)
      try database.insert(Person2(name: "Ada"))
    }
  }

  @Test("with nothing to do keeps older forms in history, of records that are gone, apart")
  func emptied() throws {
    try withDatabase { database in
      try fill(database, [Self.people[0]])
      let before = try database.head
      try database.delete(Person1.ID(1))
      let removal = try database.head
      try database.register(Person2.self)
      #expect(throws: DatabaseError.self) { try database.undo(removal) }
      #expect(throws: DatabaseError.self) {
        try database.write { try $0.restore("people/1", removedAt: removal) }
      }
      #expect(throws: DatabaseError.self) {
        try database.snapshot(at: .sequence(before)).find(Person2.ID(1))
      }
      #expect(try database.find(Person2.ID(1)) == nil)
    }
    // Nor was anything declared about them, nor is their path there.
    try withDatabase { database in
      try database.write { try $0.set("people/1", to: ["first": "Ada", "last": "Byron"]) }
      try database.write { try $0.remove("people") }
      let removal = try database.head
      try database.register(Person2.self)
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.steps.first { $0.name == "full name" }?.sequence == (try database.head))
      #expect(throws: DatabaseError.self) { try database.undo(removal) }
      #expect(throws: DatabaseError.self) {
        try database.write { try $0.restore("people", removedAt: removal) }
      }
    }
    try withDatabase { database in
      try database.register(Person2.self)
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.steps.count == 4 && declared.steps.allSatisfy { $0.sequence == .zero })
    }
  }

  @Test("of a model that is not registered is done with where its collection is empty")
  func unregistered() throws {
    try withDatabase { database in
      try database.insert(Person2(name: "Ada"))
      let declared = try #require(try database.read { try $0.definition(of: "people") })
      #expect(declared.steps.count == 4)
    }
  }

  // MARK: Splitting into two collections

  private struct Address: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var city = ""
    static let schema = ModelSchema<Address>("addresses") { Unique(\.city) }
  }

  private struct Customer1: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var city = ""
    static let schema = ModelSchema<Customer1>("customers")
  }

  private struct Customer2: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var address: Address.ID?
    static let schema = ModelSchema<Customer2>("customers") {
      Property(\.address).mustExist().onDelete(.deny)
      Migration("addresses apart") { old, new, tx in
        let city = try old["city", as: String.self]
        if city.isEmpty {
          try tx.remove(old.path)
          return
        }
        let known = try tx.query(Address.self).where { $0.city == city }.ids().first
        new.address = try known ?? tx.insert(Address(city: city))
      }
      Removed("city")
    }
  }

  @Test("splits records into two collections, joins equal ones, and leaves some out")
  func splitting() throws {
    try withDatabase { database in
      try database.register(Customer1.self, Address.self)
      try database.write { tx in
        try tx.insert(contentsOf: ["Rome", "Paris", "", "Rome"].map { Customer1(city: $0) })
      }
      try database.migrate(Customer2.self, batch: 2)
      #expect(try database.all(Address.self).fetch().map(\.city) == ["Rome", "Paris"])
      #expect(
        try database.all(Customer2.self).fetch() == [
          Customer2(id: 1, address: 1), Customer2(id: 2, address: 2), Customer2(id: 4, address: 1),
        ])
      #expect(throws: DatabaseError.self) { try database.delete(Address.ID(1)) }
    }
  }

  // MARK: Versions

  @Test("is known to older apps, which are refused and told what they lack")
  func older() throws {
    struct SameVersion: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var name = ""
      static let schema = ModelSchema<SameVersion>("people", version: 2)
    }
    struct Later: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var name = ""
      var born: Int?
      static let schema = ModelSchema<Later>("people", version: 3)
    }
    try withDatabase { database in
      try fill(database, Self.people)
      #expect(try database.count(Person1.self) == 7)
      try database.migrate(Person2.self)
      func reason(_ body: () throws -> Void) -> String {
        do { try body() } catch DatabaseError.unsupported(_, let reason) { return reason } catch {
          return "\(error)"
        }
        return "nothing"
      }
      let old = reason { try database.register(Person1.self) }
      #expect(old.contains("version 2, not 1") && old.contains("the properties 'name'"))
      // Reading and writing are refused as well, without registering again.
      let claimed = "declared for Person2, and Person1 claims it as well"
      #expect(reason { _ = try database.get(Person1.ID(1)) } == old)
      #expect(reason { try database.insert(Person1()) }.contains(claimed))
      let same = reason { try database.register(SameVersion.self) }
      #expect(same.contains("'full name', 'year', 'first removed', 'last removed'"))
      try database.register(Later.self)
      #expect(try database.count(Later.self) == 7)
      #expect(reason { try database.register(Person2.self) }.contains("version 3, not 2"))
    }
  }

  @Test("leaves past moments readable by their paths, and refuses them to the model")
  func past() throws {
    try withDatabase { database in
      try fill(database, Self.people)
      let before = try database.head
      try database.migrate(Person2.self, batch: 2)
      let old = try database.snapshot(at: .sequence(before))
      #expect(try old["people/2"].record?["first"] == "F2")
      #expect(throws: DatabaseError.self) { try old.find(Person2.ID(2)) }
      #expect(throws: DatabaseError.self) { try old.query(Person2.self).fetch() }
      #expect(try database.snapshot().get(Person2.ID(2)) == Self.migrated[1])
    }
  }

  @Test("is not undone, and neither is what would bring back an older form")
  func undo() throws {
    try withDatabase { database in
      try fill(database, Self.people)
      try database.delete(Person1.ID(7))
      let removal = try database.head
      try database.write { try $0.set("note", to: 1) }
      let note = try database.head
      try database.migrate(Person2.self)
      for sequence in [removal.rawValue, note.rawValue + 1, note.rawValue + 2] {
        #expect(throws: DatabaseError.self) { try database.undo(SequenceNumber(sequence)) }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { try $0.restore("people/7", removedAt: removal) }
      }
      try database.undo(note)
      try database.delete(Person2.ID(6))
      try database.undoLast()
      #expect(try database.all(Person2.self).fetch() == Array(Self.migrated[..<6]))
    }
  }
}
