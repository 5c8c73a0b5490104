import FoundationEssentials
import Synchronization
import LMDB
import Testing

@testable import Cambium

/// Lends a database for the flights.
func withFlights(_ body: (Database) throws -> Void) throws {
  try withDatabase { database in
    try database.register(Airline.self, Airport.self, Flight.self)
    try database.write { tx in
      try tx.insert(Airline(id: "UA", name: "United"))
      try tx.insert(Airport(id: "JFK", name: "John F. Kennedy"))
      try tx.insert(Airport(id: "42", name: "Forty-two"))
    }
    try body(database)
  }
}

@Suite("Models in a database")
struct ModelCRUDTests {
  @Test("are inserted, found, changed and deleted, at present and in the past")
  func roundTrip() throws {
    try withFlights { database in
      let id = try database.write { tx in
        let id = try tx.insert(Flight(carrier: "UA", origin: "JFK", number: 1545))
        #expect(try tx.get(id).number == 1545)
        #expect(try tx.find(id, \.origin) == "JFK")
        try tx.update(id) { $0.departureDelay = 12 }
        #expect(try tx.find(id)?.departureDelay == 12)
        return id
      }
      let before = try database.head
      let update = try database.update(id) {
        $0.departureDelay = 30
        $0.crew.append("Ada")
      }
      #expect(update.properties == ["departureDelay", "crew"])
      #expect(update.before.departureDelay == 12 && update.after.crew == ["Ada"])
      #expect(try database.snapshot(at: .sequence(before)).get(id).departureDelay == 12)
      #expect(try database.delete(id))
      #expect(try database.delete(id) == false)
      #expect(try database.find(id) == nil && database.exists(id) == false)
      #expect(try database.find(id, \.number) == nil)
      #expect(throws: DatabaseError.notFound(try id.path, reason: "there is no such Flight")) {
        try database.get(id)
      }
      let past = try database.snapshot(at: .sequence(before))
      #expect(try past.exists(id) && past.count(Flight.self) == 1)
      #expect(try past.all(Flight.self).fetch().map(\.id) == [id])
    }
  }

  @Test("log only what an update changed")
  func changedOnly() throws {
    try withFlights { database in
      let id = try database.insert(Flight(carrier: "UA", origin: "JFK", number: 1))
      let head = try database.head
      #expect(try database.update(id) { $0.number = 1 }.properties == [])
      #expect(try database.head == head)
      try database.update(id) { $0.number = 2 }
      var commits = try database.commits(after: head)
      let operations = try #require(try commits.next()).operations()
      #expect(operations.count == 1)
      #expect("\(operations)".contains("number"))
      #expect("\(operations)".contains("carrier") == false)
    }
  }

  @Test("keep natural keys, also those that read as numbers")
  func keys() throws {
    try withFlights { database in
      #expect(try database.get(Airport.ID("42")).name == "Forty-two")
      #expect(try database.all(Airport.self).fetch().map(\.id) == ["42", "JFK"])
      #expect(try database.all(Airport.self).reversed().limit(1).fetch().map(\.id) == ["JFK"])
      #expect(try database.all(Airport.self).from("50").fetch().map(\.id) == ["JFK"])
      let path = try Airport.ID("42").path
      #expect(path == "airports/42")
      let bad = Airport(id: "a\u{0}")
      #expect(throws: DatabaseError.self) { try database.insert(bad) }
      #expect(throws: ValidationError.self) { try database.insert(Airport()) }
    }
  }

  struct Numbered: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var text = ""
    static let schema = ModelSchema<Numbered>("numbered")
  }

  @Test("get the next integer where their keys are integers")
  func integers() throws {
    try withDatabase { database in
      try database.write { tx in
        let first = try tx.insert(Numbered(text: "a"))
        #expect(first == 1)
        #expect(try tx.insert(Numbered(id: 0, text: "zero")) == 0)
        #expect(try tx.insert(Numbered(id: 41, text: "b")) == 41)
        #expect(try tx.insert(Numbered(text: "c")) == 42)
      }
      #expect(try database.all(Numbered.self).fetch().map(\.text) == ["zero", "a", "b", "c"])
      #expect(try database.find([1, 2, 42] as [Numbered.ID]).map(\.text) == ["a", "c"])
    }
  }

  @Test("are refused where the id is taken")
  func taken() throws {
    try withFlights { database in
      let error = #expect(throws: DatabaseError.self) {
        try database.insert(Airport(id: "JFK", name: "again"))
      }
      #expect(
        error
          == .exists(
            "airports/JFK", reason: "there is such a Airport already; use upsert or update"))
      let kept = try database.get(Airport.ID("JFK"))
      #expect(kept.name == "John F. Kennedy")
    }
  }

  @Test("are inserted, updated or left by an upsert, which says so")
  func upsert() throws {
    try withFlights { database in
      let same = try database.get(Airport.ID("JFK"))
      let split = try database.write { tx in
        try tx.upsert(contentsOf: [
          same, Airport(id: "42", name: "Answer"), Airport(id: "EWR", name: "Newark"),
        ])
      }
      #expect(split == Upserts(inserted: ["EWR"], updated: ["42"], unchanged: ["JFK"]))
      #expect(try database.upsert(same) == .unchanged)
      #expect(try database.count(Airport.self) == 3)
      try database.write { tx in
        let newark = try tx.findOrCreate(Airport.ID("EWR"))
        #expect(newark.name == "Newark")
        #expect(try tx.findOrCreate("LGA") { Airport(name: "LaGuardia") }.id == "LGA")
      }
      #expect(try database.find(Airport.ID("LGA"))?.name == "LaGuardia")
    }
  }

  @Test("change by one property without being read")
  func blind() throws {
    try withFlights { database in
      let id = try database.insert(Flight(carrier: "UA", origin: "JFK", number: 1))
      try database.write { tx in
        try tx.set(id, \.departureDelay, to: 5)
        try tx.increment(id, \.departureDelay, by: 7)
        try tx.increment(id, \.number, by: 2)
        try tx.append("Ada", to: id, \.crew)
        try tx.append("Eve", to: id, \.crew)
        try tx.insert("Bob", at: 1, into: id, \.crew)
        try tx.append("Eve", to: id, \.crew)
        try tx.removeElement(at: 0, from: id, \.crew)
        #expect(try tx.removeAll("Eve", from: id, \.crew) == 2)
        try tx.set(Airport.ID("JFK"), \.place, to: .init(latitude: 40.6, longitude: -73.8))
        try tx.set(Airport.ID("42"), \.place.latitude, to: 1)
      }
      let flight = try database.get(id)
      #expect(flight.departureDelay == 12 && flight.number == 3 && flight.crew == ["Bob"])
      #expect(try database.get(Airport.ID("JFK")).place == .init(latitude: 40.6, longitude: -73.8))
      #expect(try database.find(Airport.ID("42"), \.place) == .init(latitude: 1, longitude: 0))
      #expect(try database.find(Airport.ID("42"), \.place.latitude) == 1)
      try database.write { tx in try tx.set(id, \.departureDelay, to: nil) }
      #expect(try database.find(id, \.departureDelay) == .some(nil))
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set(Airport.ID("ZZZ"), \.name, to: "x") }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.removeElement(at: 9, from: id, \.crew) }
      }
    }
  }

  @Test("are deleted by their ids, or all")
  func deletion() throws {
    try withFlights { database in
      let ids = try database.write { tx in
        try tx.insert(contentsOf: (1...5).map { Flight(origin: "JFK", number: $0) })
      }
      #expect(try database.count(Flight.self) == 5)
      #expect(ids == ids.sorted())
      try database.write { tx in
        let deleted = try tx.delete(contentsOf: ids.prefix(2))
        #expect(deleted == 2)
        #expect(try tx.delete(contentsOf: ids.prefix(3)) == 1)
        #expect(try tx.deleteAll(Flight.self) == 2)
        #expect(try tx.deleteAll(Flight.self) == 0)
        #expect(try tx.count(Flight.self) == 0)
      }
      #expect(try database.all(Flight.self).fetch() == [])
      try database.insert(Flight(origin: "JFK", number: 9))
      #expect(try database.count(Flight.self) == 1)
    }
  }

  @Test("keep their rules in the database")
  func declared() throws {
    try withFlights { database in
      let id = try database.insert(Flight(carrier: "UA", origin: "JFK", number: 1))
      let denied = #expect(throws: DatabaseError.self) { try database.delete(Airport.ID("JFK")) }
      #expect(
        denied == .stillReferred("airports/JFK", by: try id.path, property: "origin"))
      try database.delete(Airline.ID("UA"))
      #expect(try database.get(id).carrier == nil)
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("flights/1/origin", to: 1) }
        try database.write { tx in try tx.update(try id.path, ["origin": nil]) }
      }
      let flight = Flight(carrier: "B6", origin: "JFK", number: 7)
      try database.insert(flight)
      let taken = #expect(throws: DatabaseError.self) { try database.insert(flight) }
      guard case .notUnique? = taken else {
        Issue.record("\(String(describing: taken))")
        return
      }
    }
  }

  @Test("read what a failed part of a transaction defined, and took back")
  func attempts() throws {
    try withDatabase { database in
      try database.write { tx in
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try tx.attempt {
            try tx.insert(Airport(id: "A", name: "a"))
            #expect(try tx.find(Airport.ID("A"))?.name == "a")
            throw Stop()
          }
        }
        #expect(try tx.find(Airport.ID("A")) == nil)
        try tx.define("other", "place.longitude")
        try tx.insert(Airport(id: "B", name: "b", place: .init(latitude: 1, longitude: 2)))
        #expect(try tx.get(Airport.ID("B")).place.longitude == 2)
      }
      #expect(try database.get(Airport.ID("B")).place.longitude == 2)
      #expect(try database.read { try $0["airports/B/place.longitude"].value } == 2.0)
    }
  }

  @Test("live in memory as they do on disk, and go with the database")
  func inMemory() throws {
    let database = try Database.inMemory(for: Airport.self)
    let path = database.path
    try database.insert(Airport(id: "JFK", name: "x"))
    #expect(try database.count(Airport.self) == 1)
    try expectSound(database)
    try database.close()
    #expect(FileManager.default.fileExists(atPath: path) == false)
  }

  @Test("live in memory for their owner alone, and go with a process that is killed")
  func inMemoryKilled() async throws {
    let place = try Place()
    var claim: ClaimedDirectory?
    // Another process of the tests may sweep it away before this one has claimed it.
    for _ in 0..<10 where claim == nil {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [note = place.beside("note") as String] in
        let database = try Database.inMemory(for: Airport.self)
        try database.commit { tx in
          try tx.set("blob", to: .blob(try tx.store(Data(repeating: 7, count: 1 << 20))))
        }
        try database.compact(keeping: Retention(transactions: 1))
        try database.rebuild()
        try expectSound(database)
        try Data(database.path.utf8).write(to: URL(filePath: note))
        kill(getpid(), SIGKILL)
      }
      let note = try Data(contentsOf: URL(filePath: place.beside("note")))
      let container = Files.parent(of: String(decoding: note, as: UTF8.self))
      claim = try? ClaimedDirectory(locking: container)
    }
    let container = try #require(claim).path
    let files = FileManager.default
    let mode = try files.attributesOfItem(atPath: container)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    let left = try files.subpathsOfDirectory(atPath: container)
    let named = left.filter { $0.hasPrefix("data/log/") || $0.hasPrefix("data/state-") }
    #expect(named.filter { !Files.isDirectory("\(container)/\($0)") } == [])
    claim = nil
    // The next one sweeps what is left.
    let other = try Database.inMemory(for: Airport.self)
    #expect(try await eventually { !Files.exists(container) })
    try await other.close()
  }

  @Test("cannot be used when the transaction has ended")
  func ended() throws {
    try withFlights { database in
      let (snapshot, models) = try database.write { tx in
        (try tx.readingSnapshot(), try tx.all(Airport.self))
      }
      #expect(throws: DatabaseError.self) { try snapshot.find(Airport.ID("JFK")) }
      #expect(throws: DatabaseError.self) { try models.fetch() }
    }
  }

  private struct Batched: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Batched>("batched")
  }

  @Test("of one batch get ids of their own")
  func batchIDs() throws {
    try withDatabase { database in
      try database.write { tx in
        let ids = try tx.insert(contentsOf: [
          Batched(name: "a"), Batched(name: "b"), Batched(id: 5), Batched(name: "c"),
        ])
        #expect(ids == [1, 2, 5, 6])
        #expect(throws: DatabaseError.self) {
          try tx.insert(contentsOf: [Batched(id: 9), Batched(id: 9)])
        }
        #expect(throws: DatabaseError.self) {
          try tx.insert(contentsOf: [Batched(id: .init(.max)), Batched()])
        }
      }
      #expect(try database.all(Batched.self).fetch().map(\.name) == ["a", "b", "", "c"])
    }
  }
}
