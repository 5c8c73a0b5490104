// Goal: who observes a model, a property, a path, a pattern or a type gets the value that is there,
// and then each change. Method: iterators in the test's own task, between writes, so that nothing
// depends on time.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("Values that are observed")
struct LiveValuesTests {
  @Test("are the model's: now, then at each change, and nil once it is deleted")
  func model() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      var values = database.values(of: id).makeAsyncIterator()
      #expect(try await values.next() == .some(nil))
      try await database.insert(Airport(id: id, name: "Kennedy"))
      #expect(try await values.next()??.name == "Kennedy")
      // Others, and the same again, are no change.
      try await database.insert(Airport(id: "lga", name: "La Guardia"))
      try await database.write { try $0.set(id, \.name, to: "Kennedy") }
      try await database.update(id) { $0.place.latitude = 40.6 }
      #expect(try await values.next()??.place.latitude == 40.6)
      try await database.delete(id)
      #expect(try await values.next() == .some(nil))
    }
  }

  @Test("are a property's, whatever becomes of the others")
  func property() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      try await database.insert(Airport(id: id, name: "a"))
      var names = database.values(of: id, \.name).makeAsyncIterator()
      var places = database.values(of: id, \.place).makeAsyncIterator()
      #expect(try await names.next() == "a")
      #expect(try await places.next() == Airport.Place())
      try await database.update(id) { $0.place.longitude = 2 }
      try await database.update(id) { $0.name = "b" }
      #expect(try await names.next() == "b")
      #expect(try await places.next()??.longitude == 2)
      // NaN is the same as before, however often it is looked at.
      try await database.update(id) { $0.place.longitude = .nan }
      #expect(try await places.next()??.longitude.isNaN == true)
      try await database.update(id) { $0.name = "c" }
      try await database.update(id) { $0.place.longitude = 3 }
      #expect(try await places.next()??.longitude == 3)
    }
  }

  @Test("are only the newest for an observer that was slow")
  func coalescing() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      try await database.insert(Airport(id: id, name: "0"))
      var values = database.values(of: id, \.name).makeAsyncIterator()
      var paths = database.values(at: "airports/jfk/name").makeAsyncIterator()
      #expect(try await values.next() == "0")
      #expect(try await paths.next() == "0")
      for number in 1...50 { try await database.update(id) { $0.name = "\(number)" } }
      #expect(try await values.next() == "50")
      #expect(try await paths.next() == "50")
    }
  }

  @Test("are those of a path without a model")
  func path() async throws {
    try await withDatabase { database in
      var node = database.values(at: "notes/1").makeAsyncIterator()
      var property = database.values(at: "notes/1/title").makeAsyncIterator()
      #expect(try await node.next() == .some(nil))
      #expect(try await property.next() == .some(nil))
      try await database.write { try $0.set("notes/1", to: ["title": "a"]) }
      #expect(try await node.next() == ["title": "a"])
      #expect(try await property.next() == "a")
      try await database.write { try $0.set("notes/1", to: ["title": "a", "text": "b"]) }
      try await database.write { try $0.remove("notes") }
      let gone = (try await node.next(), try await property.next())
      #expect(gone.0 == .some(nil), "\(gone)")
      #expect(gone.1 == .some(nil), "\(gone)")
    }
  }

  @Test("end with the task, and with the database")
  func ends() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      let cancelled = Task {
        var count = 0
        for try await _ in database.values(of: id) { count += 1 }
        return count
      }
      cancelled.cancel()
      #expect(try await cancelled.value <= 1)
    }
    let database = try Database.inMemory(for: Airport.self)
    var values = database.values(of: Airport.ID("jfk")).makeAsyncIterator()
    _ = try await values.next()
    try await database.close()
    #expect(try await values.next() == nil)
  }

  @Test("refuse an id that is not assigned, when they are asked for")
  func unassigned() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      var values = database.values(of: Airport.ID()).makeAsyncIterator()
      await #expect(throws: DatabaseError.self) { _ = try await values.next() }
    }
  }

  @Test("of a type or an id are all of its changes, from a moment on")
  func changes() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self, Airline.self)
      let start = try database.head
      try await database.write { tx in
        try tx.insert(Airport(id: "b", name: "B"))
        try tx.insert(Airport(id: "a", name: "A"))
        try tx.insert(Airline(id: "x", name: "X"))
      }
      try await database.update(Airport.ID("a")) { $0.name = "A2" }
      try await database.delete(Airport.ID("b"))
      var all = try database.changes(of: Airport.self, after: start).makeAsyncIterator()
      #expect(try await all.next()?.id == "a")
      #expect(try await all.next()?.id == "b")
      #expect(try await all.next()?.new?.name == "A2")
      #expect(try await all.next() == .deleted(Airport(id: "b", name: "B")))
      var one = try database.changes(of: Airport.ID("b"), after: start).makeAsyncIterator()
      #expect(try await one.next() == .created(Airport(id: "b", name: "B")))
      #expect(try await one.next()?.new == nil)
    }
  }

  @Test("of a pattern are the changes at each path, none left out")
  func pattern() async throws {
    try await withDatabase { database in
      try await database.write(actor: "setup") { tx in
        try tx.set("users/ada", to: ["name": "Ada", "age": 36])
        try tx.set("users/ada/pets/rex", to: ["name": "Rex"])
        try tx.set("name", to: "root")
      }
      var names = database.changes(at: "users/*/name", startsWithPresent: true).makeAsyncIterator()
      var below = database.changes(at: "users/**").makeAsyncIterator()
      var anywhere = database.changes(at: "**/name", startsWithPresent: true).makeAsyncIterator()
      let first = try await names.next()
      #expect(first?.path == "users/ada/name" && first?.new == "Ada" && first?.old == nil)
      #expect(first?.transaction == nil)
      #expect(try await anywhere.next()?.path == "name")
      #expect(try await anywhere.next()?.path == "users/ada/name")
      #expect(try await anywhere.next()?.path == "users/ada/pets/rex/name")
      // `users/**` starts now.
      let position = try database.head
      below = database.changes(at: "users/**", after: position).makeAsyncIterator()
      try await database.write(actor: "eve") { tx in
        try tx.set("users/ada", to: ["name": "Ada", "age": 37])
        try tx.set("users/bob", to: ["name": "Bob"])
      }
      try await database.write { try $0.remove("users/ada") }
      let bob = try await names.next()
      #expect(bob?.path == "users/bob/name" && bob?.new == "Bob")
      #expect(bob?.transaction?.metadata["actor"] == "eve")
      let ada = try await names.next()
      #expect(ada?.path == "users/ada/name" && ada?.old == "Ada" && ada?.new == nil)
      var paths: [NodePath] = []
      for _ in 0..<4 { if let change = try await below.next() { paths.append(change.path) } }
      #expect(paths == ["users/ada", "users/bob", "users/ada", "users/ada/pets/rex"])
      #expect(try await anywhere.next()?.path == "users/bob/name")
      #expect(try await anywhere.next()?.path == "users/ada/name")
      #expect(try await anywhere.next()?.path == "users/ada/pets/rex/name")
    }
  }
}

@Suite("A path pattern")
struct PathPatternTests {
  @Test("matches what a naive one does", arguments: FormatSeeds.first(4))
  func random(seed: UInt64) throws {
    print("seed \(seed)")
    var random = FormatRandom(seed: 7000 + seed)
    var (matched, refused) = (0, 0)
    for _ in 0..<4000 {
      let steps = (0..<random.below(6)).map { _ in random.pick(["a", "b", "*", "**", "7"]) }
      let keys = (0..<random.below(7)).map { _ in random.pick(["a", "b", "7"]) }
      let found = try PathPattern(steps.joined(separator: "/"))
        .matches(NodePath(keys.joined(separator: "/")))
      let right = Self.matches(steps[...], keys[...])
      #expect(found == right, "seed \(seed): \(steps) \(keys)")
      if right { matched += 1 } else { refused += 1 }
    }
    #expect(matched > 400 && refused > 400)
  }

  private static func matches(_ steps: ArraySlice<String>, _ keys: ArraySlice<String>) -> Bool {
    guard let step = steps.first else { return keys.isEmpty }
    if step == "**" {
      return matches(steps.dropFirst(), keys) || !keys.isEmpty && matches(steps, keys.dropFirst())
    }
    guard let key = keys.first, step == "*" || step == key else { return false }
    return matches(steps.dropFirst(), keys.dropFirst())
  }

  @Test("has a prefix, and reads its own text again")
  func text() throws {
    #expect(PathPattern("users/*/name").prefix == "users")
    #expect(PathPattern("users/ada").prefix == "users/ada")
    #expect(PathPattern("**").prefix == .root)
    for text: String in ["", "a/*/b", "**/x", "a~1b/~*/~**"] {
      let pattern = try PathPattern(text)
      let again = try PathPattern(pattern.description)
      #expect(again == pattern)
    }
    #expect(PathPattern("~*").matches(NodePath(keys: [.text("*")])))
    #expect(!PathPattern("~*").matches("a"))
    // A literal of the type itself would trap.
    let invalid = "a//b"
    #expect(throws: DatabaseError.self) { try PathPattern(invalid) }
  }
}
