// Goal: former names, former types and what is computed of older records are read without
// migrating, are never guessed, and go when the records are migrated. Method: as in MigrationTests.

import Foundation
import Testing

@testable import Cambium

@Suite("A former form of a property")
struct LazyMigrationTests {
  private struct Old: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var delay: Int?
    var number = ""
    var first = ""
    var last = ""
    static let schema = ModelSchema<Old>("trips")
  }

  private struct New: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var departureDelay: Int?
    var number = 0
    var name: String?
    static let schema = ModelSchema<New>("trips") {
      Property(\.departureDelay).was("delay")
      Property(\.number).was("number", as: String.self) { text in
        guard let number = Int(text) else { throw NoNumber() }
        return number
      }
      Property(\.name).was { old in
        try old["first", as: String.self] + " " + old["last", as: String.self]
      }
      Index(\.departureDelay)
      Index(\.number)
    }
    struct NoNumber: Error {}
  }

  private func fill(_ database: Database) throws {
    try database.register(Old.self)
    try database.write { tx in
      for number in 1...5 {
        try tx.insert(Old(delay: number * 10, number: "\(number)", first: "F", last: "\(number)"))
      }
    }
  }

  private func expected(_ number: Int) -> New {
    New(id: .init(number), departureDelay: number * 10, number: number, name: "F \(number)")
  }

  @Test("is read, changed and migrated")
  func reading() throws {
    try withDatabase { database in
      try fill(database)
      let before = try database.head
      try database.register(New.self)
      #expect(try database.get(New.ID(2)) == expected(2))
      #expect(try database.find(New.ID(3), \.number) == 3)
      #expect(try database.find(New.ID(3), \.name) == "F 3")
      #expect(try database.all(New.self).fetch() == (1...5).map(expected))
      try database.update(New.ID(1)) {
        $0.number = 11; $0.departureDelay = nil; $0.name = nil
      }
      let changed = New(id: 1, departureDelay: nil, number: 11, name: nil)
      #expect(try database.get(New.ID(1)) == changed)
      #expect(
        try database.read { try $0["trips/1"].value }
          == ["number": 11, "name": .null, "first": "F", "last": "1"])

      let steps = [
        "departureDelay was delay", "number was number: String", "name was computed",
      ]
      #expect(try database.planMigration(of: New.self).steps == steps)
      #expect(try database.planMigration(of: New.self).blocking == [])
      #expect(try database.migrate(New.self, batch: 2) == 5)
      #expect(try database.all(New.self).fetch() == [changed] + (2...5).map(expected))
      #expect(
        try database.read { try $0["trips/2"].value }
          == ["departureDelay": 20, "number": 2, "name": "F 2", "first": "F", "last": "2"])
      #expect(try database.read { try $0.definition(of: "trips")?["number"]?.type } == .integer)
      // The past is still read as it was.
      #expect(
        try database.snapshot(at: .sequence(before)).all(New.self).fetch() == (1...5).map(expected))
    }
  }

  private struct Marked: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var departureDelay: Int?
    var marks: [String] = []
    static let schema = ModelSchema<Marked>("trips") {
      Property(\.departureDelay).was("delay")
      Property(\.marks).was("tags")
    }
  }

  @Test("is counted in where a property is changed without its model")
  func changingInPlace() throws {
    try withDatabase { database in
      try database.write { tx in
        for id in 1...2 { try tx.set(Marked.ID(id).path, to: ["delay": 10, "tags": ["a"]]) }
      }
      try database.register(Marked.self)
      try database.write { tx in
        try tx.increment(Marked.ID(1), \.departureDelay, by: 5)
        try tx.append("b", to: Marked.ID(1), \.marks)
        try tx.set(Marked.ID(2), \.departureDelay, to: nil)
      }
      #expect(
        try database.read { try $0["trips/1"].value }
          == ["departureDelay": 15, "marks": ["a", "b"]])
      #expect(try database.get(Marked.ID(2)) == Marked(id: 2, departureDelay: nil, marks: ["a"]))
    }
  }

  @Test("is read as well where its name is used only later")
  func usedLater() throws {
    try withDatabase { database in
      try database.register(Marked.self)
      try database.insert(Marked(departureDelay: 1, marks: ["a"]))
      #expect(try database.count(Marked.self) == 1)
      #expect(try database.get(Marked.ID(1)).departureDelay == 1)
      try database.write { try $0.set("trips/9", to: ["delay": 5]) }
      #expect(try database.get(Marked.ID(9)).departureDelay == 5)
    }
  }

  @Test("is not asked for until it is migrated, since some records have it elsewhere")
  func asking() throws {
    try withDatabase { database in
      try fill(database)
      try database.register(New.self)
      let query = database.query(New.self)
      let error = DatabaseError.needsMigration("trips", steps: ["number was number: String"])
      #expect(throws: error) { try query.where { $0.number == 2 }.fetch() }
      #expect(throws: error) { try query.order(by: \.number).fetch() }
      #expect(throws: error) { try query.select(\.number).fetch() }
      #expect(try query.fetch().count == 5)
      try database.migrate(New.self)
      #expect(try query.where { $0.number == 2 }.fetch() == [expected(2)])
      #expect(try query.where { $0.departureDelay > 20 }.count() == 3)
    }
  }

  @Test("is an error where it cannot be converted, lazily and in bulk")
  func failing() throws {
    try withDatabase { database in
      try fill(database)
      try database.write { try $0.update("trips/4", ["number": "many"]) }
      try database.register(New.self)
      let error = #expect(throws: PropertyError.self) { try database.get(New.ID(4)) }
      #expect(error?.path == "trips/4" && error?.property == "number")
      let stopped = #expect(throws: MigrationError.self) {
        try database.migrate(New.self, batch: 2)
      }
      #expect(stopped?.path == "trips/4")
      #expect(throws: DatabaseError.self) { try database.get(New.ID(1)) }
      try database.write { try $0.update("trips/4", ["number": "4"]) }
      try database.migrate(New.self)
      #expect(try database.all(New.self).fetch() == (1...5).map(expected))
    }
  }

  @Test("that no record has ever had needs no migration")
  func vain() throws {
    struct Renamed: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var delay: Int?
      static let schema = ModelSchema<Renamed>("trips") { Property(\.delay).was("never") }
    }
    try withDatabase { database in
      try fill(database)
      try database.register(Renamed.self)
      #expect(try database.query(Renamed.self).where { $0.delay > 20 }.count() == 3)
    }
  }

  // MARK: Refusals

  private func reason(_ type: any Cambium.Model.Type) throws -> String {
    try withDatabase { database in
      try fill(database)
      do { try database.register(type) } catch DatabaseError.unsupported(_, let reason) {
        return reason
      } catch DatabaseError.misuse(let reason) { return reason } catch {
        return "\(error)"
      }
      return "nothing"
    }
  }

  private struct OtherType: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var number = 0
    static let schema = ModelSchema<OtherType>("trips")
  }
  private struct SameType: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var number = ""
    static let schema = ModelSchema<SameType>("trips") {
      Property(\.number).was("number", as: String.self) { $0 + "!" }
    }
  }
  private struct Twice: Cambium.Model {
    typealias Key = Int
    var id = ID()
    static let schema = ModelSchema<Twice>("trips") {
      Migration("one") { _, _ in }
      Migration("one") { _, _ in }
    }
  }
  private struct RemovedProperty: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var number = ""
    static let schema = ModelSchema<RemovedProperty>("trips") { Removed("number") }
  }
  private struct Demanding: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var gate: String?
    static let schema = ModelSchema<Demanding>("trips") { Property(\.gate).required() }
  }
  private struct Wider: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var delay: Double?
    static let schema = ModelSchema<Wider>("trips")
  }

  @Test("is asked for where a type changes, and refused where it says nothing")
  func refusals() throws {
    #expect(
      try reason(OtherType.self) == """
        the collection trips: the property number is declared as text, and OtherType has an \
        integer; say how it is converted: Property(…).was("number", as: …) { … } does it where a \
        record is read, Migration("…", changing: …) { old, new in … } once for all
        """)
    #expect(try reason(SameType.self).contains("no one can tell old values from new ones"))
    #expect(try reason(Twice.self) == "two steps are called 'one'")
    #expect(try reason(RemovedProperty.self).contains("said to be removed, and is a property"))
    let demanding = try reason(Demanding.self)
    #expect(demanding.contains("is required; the record was there before Demanding asked for that"))
    #expect(try reason(Wider.self) == "nothing")
  }
}
