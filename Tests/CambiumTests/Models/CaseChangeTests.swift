// Goal: cases of an enum of models come and go, and a plain model becomes one, with the records
// treated as the schema says and never otherwise. Method: small collections in several forms.

import Foundation
import Testing

@testable import Cambium

@Suite("A case of an enum of models")
struct CaseChangeTests {
  // MARK: A plain model becomes a case

  private struct Book: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""
    var pages = 100
    static let schema = ModelSchema<Book>("media") {
      Property(\.title).was("name")
      Index(\.title)
    }
  }

  private struct OldBook: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<OldBook>("media")
  }

  private enum Medium: ModelUnion, Equatable {
    typealias Key = Int
    case book(Book), film(Film)
    static let cases = ModelCases<Medium>(
      ModelCase("book", Medium.book) { if case .book(let it) = $0 { it } else { nil } }
        .wasAlone(),
      ModelCase("film", Medium.film) { if case .film(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Medium>(union: "media", version: 2) { Index(\.type) }

    struct Book: Cambium.Model, Equatable {
      typealias Key = Int
      var id = ID()
      var title = ""
      var pages = 200
      static let schema = ModelSchema<Book>(caseOf: Medium.self) {
        Property(\.title).was("name")
        Index(\.title)
      }
    }
    struct Film: Cambium.Model, Equatable {
      typealias Key = Int
      var id = ID()
      var title = ""
      var minutes = 90
      static let schema = ModelSchema<Film>(caseOf: Medium.self)
    }
  }

  @Test(
    "was a model by itself before, of which the records and the defaults stay", arguments: [1, 9])
  func alone(_ batch: Int) throws {
    try withDatabase { database in
      try database.register(OldBook.self)
      try database.insert(OldBook(id: 1, name: "a"))
      try database.register(Book.self)
      try database.insert(Book(id: 2, title: "b", pages: 7))
      let before = try database.head
      let steps = ["book: type was absent"]
      #expect(throws: DatabaseError.needsMigration("media", steps: steps)) {
        try database.register(Medium.self)
      }
      #expect(throws: DatabaseError.self) { try database.insert(Medium.Film(title: "c")) }
      try database.migrate(Medium.self, batch: batch)
      let books = [
        Medium.book(Medium.Book(id: 1, title: "a", pages: 100)),
        .book(Medium.Book(id: 2, title: "b", pages: 7)),
      ]
      #expect(try database.all(Medium.self).fetch() == books)
      #expect(
        try database.read { try $0["media/1"].value }
          == ["type": "book", "title": "a", "pages": 100])
      try database.insert(Medium.Film(id: 3, title: "c"))
      #expect(try database.query(Medium.Book.self).ids() == [1, 2])
      #expect(try database.query(Medium.Film.self).ids() == [3])
      // In the past there are books only, though no record says so; and with their defaults.
      let past = try database.snapshot(at: .sequence(before))
      #expect(try past.all(Medium.self).fetch() == books)
      #expect(try past.query(Medium.Book.self).ids() == [1, 2])
      #expect(try past.find(Medium.Film.ID(1)) == nil)
      #expect(try past.query(Medium.Film.self).count() == 0)
      #expect(throws: DatabaseError.self) { try database.register(Book.self) }
    }
  }

  // MARK: Dropping

  private enum Crew1: ModelUnion {
    typealias Key = Int
    case pilot(Pilot), guest(Guest)
    static let cases = ModelCases<Crew1>(
      ModelCase("pilot", Crew1.pilot) { if case .pilot(let it) = $0 { it } else { nil } },
      ModelCase("guest", Crew1.guest) { if case .guest(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Crew1>(union: "crew")
    struct Pilot: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var hours = 0
      static let schema = ModelSchema<Pilot>(caseOf: Crew1.self)
    }
    struct Guest: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var host: Crew1.ID?
      static let schema = ModelSchema<Guest>(caseOf: Crew1.self) {
        Property(\.host).onDelete(.cascade)
      }
    }
  }

  private struct Bag: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var owner: Crew1.ID?
    var keeper: Crew1.ID?
    static let schema = ModelSchema<Bag>("bags") {
      Property(\.owner).onDelete(.cascade)
      Property(\.keeper).onDelete(.deny)
    }
  }

  private enum Crew2: ModelUnion {
    typealias Key = Int
    case pilot(Pilot)
    static let cases = ModelCases<Crew2>(
      ModelCase("pilot", Crew2.pilot) { if case .pilot(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Crew2>(union: "crew", version: 2) {
      RemovedCase("guest", .deleted)
    }
    struct Pilot: Cambium.Model {
      typealias Key = Int
      var id = ID()
      var hours = 0
      static let schema = ModelSchema<Pilot>(caseOf: Crew2.self)
    }
  }

  @Test("that is gone takes along what its records take along when they are deleted")
  func deleted() throws {
    try withDatabase { database in
      try database.register(Crew1.self, Bag.self)
      try database.write { tx in
        try tx.insert(Crew1.Pilot(id: 1, hours: 5))
        try tx.insert(Crew1.Guest(id: 2, host: 1))
        try tx.insert(Crew1.Guest(id: 3, host: 2))
        try tx.insert(Bag(id: 1, owner: 3))
        try tx.insert(Bag(id: 2, owner: 1))
        try tx.insert(Bag(id: 3, keeper: 3))
      }
      let error = #expect(throws: MigrationError.self) { try database.migrate(Crew2.self) }
      #expect(error?.step == "case 'guest' removed" && error?.path == "crew/2")
      #expect(
        error?.cause as? DatabaseError
          == .stillReferred("crew/3", by: "bags/3", property: "keeper"))
      try database.write { try $0.remove("bags/3") }
      try database.migrate(Crew2.self, batch: 1)
      #expect(try database.all(Crew2.self).fetch().map(\.id) == [1])
      #expect(try database.read { try $0["bags"].children.fetch().map(\.path) } == ["bags/2"])
    }
  }

  @Test("that is not known, and of which nothing is said, leaves its records as they are")
  func unmentioned() throws {
    enum Crew: ModelUnion {
      typealias Key = Int
      case pilot(Pilot)
      static let cases = ModelCases<Crew>(
        ModelCase("pilot", Crew.pilot) { if case .pilot(let it) = $0 { it } else { nil } })
      static let schema = ModelSchema<Crew>(union: "crew")
      struct Pilot: Cambium.Model {
        typealias Key = Int
        var id = ID()
        var hours = 0
        static let schema = ModelSchema<Pilot>(caseOf: Crew.self)
      }
    }
    try withDatabase { database in
      try database.register(Crew1.self)
      try database.insert(Crew1.Pilot(id: 1))
      // Two versions of an app, of which one does not know guests, beside each other.
      try database.register(Crew.self)
      try database.register(Crew1.self)
      try database.insert(Crew1.Guest(id: 2, host: 1))
      try database.register(Crew.self)
      #expect(try database.query(Crew.Pilot.self).ids() == [1])
      let error = #expect(throws: PropertyError.self) { try database.query(Crew.self).fetch() }
      #expect(error?.reason == "it says \"guest\", which is no case of Crew")
      let other = #expect(throws: DatabaseError.self) { try database.get(Crew.Pilot.ID(2)) }
      #expect("\(other.map { "\($0)" } ?? "")".contains("\"guest\" of Crew"))
      try database.update(Crew.Pilot.ID(1)) { $0.hours = 4 }
      try database.register(Crew1.self)
      #expect(try database.get(Crew1.Pilot.ID(1)).hours == 4)
      #expect(try database.get(Crew1.Guest.ID(2)).host == 1)
    }
  }

  // MARK: Contradictions

  private enum Twice: ModelUnion {
    case one(One), two(Two)
    static let cases = ModelCases<Twice>(
      ModelCase("one", Twice.one) { if case .one(let it) = $0 { it } else { nil } },
      ModelCase("two", Twice.two) { if case .two(let it) = $0 { it } else { nil } }.was("one"))
    static let schema = ModelSchema<Twice>(union: "twice")
    struct One: Cambium.Model {
      var id = ID()
      static let schema = ModelSchema<One>(caseOf: Twice.self)
    }
    struct Two: Cambium.Model {
      var id = ID()
      static let schema = ModelSchema<Two>(caseOf: Twice.self)
    }
  }

  private enum Kept: ModelUnion {
    case one(One)
    static let cases = ModelCases<Kept>(
      ModelCase("one", Kept.one) { if case .one(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Kept>(union: "kept") { Removed("size") }
    struct One: Cambium.Model {
      var id = ID()
      var size = 0
      static let schema = ModelSchema<One>(caseOf: Kept.self)
    }
  }

  private enum Same: ModelUnion {
    case one(One)
    static let cases = ModelCases<Same>(
      ModelCase("one", Same.one) { if case .one(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Same>(union: "same") { Migration("tidy") { _, _ in } }
    struct One: Cambium.Model {
      var id = ID()
      static let schema = ModelSchema<One>(caseOf: Same.self) { Migration("tidy") { _, _ in } }
    }
  }

  @Test("is refused where its names or steps contradict others")
  func contradictions() throws {
    try withDatabase { database in
      func reason(_ type: any Cambium.Model.Type) -> String {
        do { try database.register(type) } catch DatabaseError.misuse(let reason) {
          return reason
        } catch {
          return "\(error)"
        }
        return "nothing"
      }
      #expect(reason(Twice.self).contains("Twice gives the name 'one' to two cases"))
      #expect(
        reason(Kept.self).contains("'size' is said to be removed, and is a property of One"))
      #expect(reason(Same.self).contains("a step of One is called 'tidy' as well"))
    }
  }

  private enum Size1: ModelUnion {
    case one(One), two(Two)
    static let cases = ModelCases<Size1>(
      ModelCase("one", Size1.one) { if case .one(let it) = $0 { it } else { nil } },
      ModelCase("two", Size1.two) { if case .two(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Size1>(union: "sizes")
    struct One: Cambium.Model {
      var id = ID()
      var size = "1"
      static let schema = ModelSchema<One>(caseOf: Size1.self)
    }
    struct Two: Cambium.Model {
      var id = ID()
      var size = "2"
      static let schema = ModelSchema<Two>(caseOf: Size1.self)
    }
  }

  private enum Size2: ModelUnion {
    case one(One), two(Two)
    static let cases = ModelCases<Size2>(
      ModelCase("one", Size2.one) { if case .one(let it) = $0 { it } else { nil } },
      ModelCase("two", Size2.two) { if case .two(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Size2>(union: "sizes", version: 2)
    struct One: Cambium.Model {
      var id = ID()
      var size = 0
      static let schema = ModelSchema<One>(caseOf: Size2.self) {
        Property(\.size).was("size", as: String.self) { Int($0) ?? 0 }
      }
    }
    /// Does not say how.
    struct Two: Cambium.Model {
      var id = ID()
      var size = 0
      static let schema = ModelSchema<Two>(caseOf: Size2.self)
    }
  }

  @Test("says for itself how a property that it shares is converted")
  func sharedType() throws {
    try withDatabase { database in
      try database.register(Size1.self)
      try database.insert(Size1.one(Size1.One()))
      let error = #expect(throws: DatabaseError.self) { try database.migrate(Size2.self) }
      let reason = "the property size is declared as text, and Two has an integer"
      #expect("\(error.map { "\($0)" } ?? "")".contains(reason))
    }
  }
}
