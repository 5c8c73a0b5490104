import FoundationEssentials
import Synchronization
import Testing

@testable import Cambium

@Suite("Rules of models")
struct ValidationTests {
  struct Song: LifecycleModel {
    var id = ID()
    var title = ""
    var rating = 3
    var year: Int?
    var genre = "jazz"
    var length = 1.0
    var note: String?

    static let schema = ModelSchema<Song>("songs") {
      Property(\.title).validated("must not be empty") { !$0.isEmpty }
        .validated("must be short") { $0.count < 20 }
      Property(\.rating).clamped(to: 1...5)
      Property(\.year).cleared(outside: 1900...2100)
      Property(\.genre).oneOf(["jazz", "folk"])
      Property(\.length).rejected(outside: 0...60)
      Property(\.note).writeRequired()
      Rule("a folk song has a year") { $0.genre != "folk" || $0.year != nil }
    }

    static let log = Mutex<[String]>([])

    mutating func willInsert(in transaction: borrowing Database.Transaction) throws {
      if title == "veto" { throw Veto() }
      note = note ?? "new"
      try transaction.increment("counts/songs", by: 1)
    }
    mutating func willUpdate(from old: Song, in transaction: borrowing Database.Transaction) throws
    {
      if title == "veto" { throw Veto() }
      note = "was \(old.title)"
    }
    func willDelete(in transaction: borrowing Database.Transaction) throws {
      if title == "kept" { throw Veto() }
      try transaction.increment("counts/songs", by: -1)
    }
    func didInsert() { Song.log.withLock { $0.append("+\(title)") } }
    func didUpdate(from old: Song) { Song.log.withLock { $0.append("\(old.title)>\(title)") } }
    func didDelete() { Song.log.withLock { $0.append("-\(title)") } }
  }

  struct Veto: Error, Equatable {}

  @Test("come after an id that is taken, and nothing is logged then")
  func takenID() throws {
    try withDatabase { database in
      var stop = Stop(name: "first")
      stop.id = try database.insert(stop)
      let head = try database.head
      var wrong = stop
      wrong.place.longitude = -1
      for model in [stop, wrong] {
        try database.write { tx in
          let error = #expect(throws: DatabaseError.self) { try tx.insert(model) }
          guard case .exists(let path, _) = error else {
            Issue.record("\(error as Any)")
            return
          }
          let taken = try stop.id.path
          #expect(path == taken)
        }
      }
      #expect(try database.head == head)
      #expect(try database.get(stop.id).place.longitude == 0)
      wrong.id = Stop.ID()
      #expect(throws: ValidationError.self) { try database.insert(wrong) }
      #expect(try database.head == head)
    }
  }

  /// Models of one collection in two versions of an app, without rules.
  struct OldStop: Cambium.Model {
    var id = ID()
    var name = ""

    static let schema = ModelSchema<OldStop>("stops")
  }

  struct NewStop: Cambium.Model {
    var id = ID()
    var name = ""
    var note = ""

    static let schema = ModelSchema<NewStop>("stops")
  }

  @Test("of a new version are not declared by an insert that is refused")
  func takenIDUndeclared() throws {
    try withDatabase { database in
      let old = try database.insert(OldStop(name: "old"))
      let head = try database.head
      var stop = NewStop(name: "new")
      stop.id = NewStop.ID(old.key)
      try database.write { tx in
        #expect(throws: DatabaseError.self) { try tx.insert(stop) }
      }
      #expect(try database.head == head)
    }
  }

  struct Stop: Cambium.Model {
    var id = ID()
    var place = Place()
    var name = ""

    struct Place: Nested { var latitude = 0.0, longitude = 0.0 }

    static let schema = ModelSchema<Stop>("stops") {
      Property(\.place.longitude).validated("is east") { $0 >= 0 }
      Property(\.place).validated("is on land") { $0.latitude != 13 }
    }
  }

  @Test("hold for the whole model, and for nested values, where one property is set")
  func single() throws {
    try withDatabase { database in
      try database.register(Song.self, Stop.self)
      let (song, stop) = try database.write { tx in
        (try tx.insert(Song(title: "x", note: "n")), try tx.insert(Stop()))
      }
      func refuses(_ change: (borrowing Database.Transaction) throws -> Void) {
        #expect(throws: ValidationError.self) { try database.write { try change($0) } }
      }
      refuses { try $0.set(song, \.genre, to: "folk") }
      refuses { try $0.set(stop, \.place, to: Stop.Place(latitude: 1, longitude: -1)) }
      refuses { try $0.set(stop, \.place.latitude, to: 13) }
      refuses { try $0.increment(stop, \.place.longitude, by: -1) }
      try database.write { tx in
        try tx.set(song, \.year, to: 1970)
        try tx.set(song, \.genre, to: "folk")
        try tx.set(stop, \.place, to: Stop.Place(latitude: 1, longitude: 1))
        try tx.set(stop, \.name, to: "west")
      }
    }
  }

  @Test("are reported all at once, with their properties, before anything is logged")
  func messages() throws {
    try withDatabase { database in
      try database.register(Song.self)
      let head = try database.head
      let bad = Song(rating: 9, year: 1000, genre: "folk", length: 99)
      let error = #expect(throws: ValidationError.self) {
        try database.write { tx in _ = try tx.insert(bad) }
      }
      #expect(
        error?.messages == [
          "length must be from 0.0 to 60.0", "title must not be empty", "a folk song has a year",
        ])
      #expect(error?.messages(for: "title") == ["must not be empty"])
      #expect(error?.path?.parent == "songs")
      #expect(try database.head == head)
      #expect(bad.validationErrors().map(\.property) == ["length", "note", "title", nil])
      let both = #expect(throws: ValidationError.self) {
        try database.write { tx in
          try tx.insert(contentsOf: [Song(), Song(title: "fine"), Song(genre: "rock")])
        }
      }
      #expect(both?.causes.count == 2)
      #expect(both?.messages.count == 3)
      #expect(try database.head == head)
    }
  }

  @Test("put values into their domain")
  func domains() throws {
    try withDatabase { database in
      try database.register(Song.self)
      let id = try database.insert(Song(title: "a", rating: 9, year: 1000))
      #expect(try database.get(id).rating == 5)
      #expect(try database.get(id).year == nil)
      try database.update(id) { $0.rating = -4 }
      #expect(try database.get(id).rating == 1)
      try database.write { tx in
        try tx.increment(id, \.rating, by: 100)
        #expect(try tx.get(id).rating == 5)
        try tx.set(try id.path.appending(.text("rating")), to: 7)
        #expect(try tx.get(id).rating == 5)
      }
    }
  }

  @Test("hold for changes of one property, too, and take them back")
  func blind() throws {
    try withDatabase { database in
      try database.register(Song.self)
      let id = try database.insert(Song(title: "a"))
      try database.write { tx in
        let error = #expect(throws: ValidationError.self) { try tx.set(id, \.title, to: "") }
        #expect(error?.messages == ["title must not be empty"])
        #expect(try tx.get(id).title == "a")
        try tx.set(id, \.title, to: "b")
      }
      #expect(try database.get(id).title == "b")
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set(id, \.genre, to: "rock") }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.update(try id.path, ["length": 99]) }
      }
    }
  }

  @Test("in hooks refuse a write, change it, and hear of it once it is durable")
  func hooks() throws {
    try withDatabase { database in
      try database.register(Song.self)
      Song.log.withLock { $0 = [] }
      #expect(throws: Veto()) { try database.insert(Song(title: "veto")) }
      let id = try database.write { tx in
        let id = try tx.insert(Song(title: "one"))
        try? tx.attempt {
          try tx.insert(Song(title: "undone"))
          throw Veto()
        }
        #expect(Song.log.withLock { $0 } == [])
        return id
      }
      #expect(Song.log.withLock { $0 } == ["+one"])
      #expect(try database.get(id).note == "new")
      #expect(try database["counts/songs"] == 1)
      #expect(throws: Veto()) { try database.update(id) { $0.title = "veto" } }
      try database.update(id) { $0.title = "kept" }
      #expect(try database.get(id).note == "was one")
      #expect(throws: Veto()) { try database.delete(id) }
      try database.update(id) { $0.title = "two" }
      #expect(throws: Veto()) {
        try database.write { tx in
          try tx.delete(id)
          throw Veto()
        }
      }
      let deleted = try database.write { tx in try tx.deleteAll(Song.self) }
      #expect(deleted == 1)
      #expect(Song.log.withLock { $0 } == ["+one", "one>kept", "kept>two", "-two"])
      #expect(try database["counts/songs"] == 0)
    }
  }

  @Test("may write again after the commit")
  func afterCommit() throws {
    try withDatabase { database in
      for count in 1...2 {
        try database.write { tx in
          try tx.set("a", to: 1)
          try tx.afterCommit { _ = try? database.write { tx in try tx.increment("b", by: 1) } }
        }
        #expect(try database["b"] == .integer(Int64(count)))
      }
    }
  }

  @Test("may write again after the commit, also where the write was async")
  func afterCommitAsync() async throws {
    try await withDatabase { database in
      try await database.write { tx in
        try tx.set("a", to: 1)
        try tx.afterCommit { _ = try? database.write { tx in try tx.increment("b", by: 1) } }
      }
      #expect(try database["b"] == 1)
    }
  }
}

extension Database {
  fileprivate subscript(path: NodePath) -> Value? { get throws { try read { try $0[path].value } } }
}
