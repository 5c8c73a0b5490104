// Goal: whoever reads, thinks and writes never overwrites what he has not seen, and gets there in
// the end. Method: single cases of what counts as a change; many tasks that add to one number
// without an increment, whose sum shows every lost update; batches against the order they promise.

import FoundationEssentials
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("An expectation")
struct ExpectationTests {
  private final class Tries: Sendable {
    let count = Atomic<Int>(0)
  }

  @Test("holds until somebody writes to the node, below it, or takes it along")
  func unchanged() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("users/ada/city", to: "London")
        try tx.set("users/bob", to: ["age": 3])
        try tx.set("other", to: 1)
      }
      typealias Body = @Sendable (borrowing Database.Transaction) throws -> Void
      let writes: [(change: Body, touched: Set<NodePath>)] = [
        ({ try $0.set("other", to: 2) }, ["other", ""]),
        ({ try $0.update("users/bob", ["age": 3]) }, ["users/bob", "users", ""]),
        (
          { try $0.set("users/ada/city", to: "Paris") },
          ["users/ada/city", "users/ada", "users", ""]
        ),
        (
          { try $0.move("users", to: "people") },
          ["users/bob", "users/ada/city", "users/ada", "users", ""]
        ),
        ({ try $0.remove("people/bob") }, [""]),
      ]
      for (change, touched) in writes {
        let seen = try database.head
        try database.write { try change($0) }
        for path: NodePath in ["", "other", "users", "users/ada", "users/ada/city", "users/bob"] {
          try database.write { tx in
            try tx.expect(unchanged: path, since: tx.sequence.previous)
            if touched.contains(path) {
              #expect(
                throws: DatabaseError.conflict(path, expected: seen, found: tx.sequence.previous)
              ) { try tx.expect(unchanged: path, since: seen) }
            } else {
              try tx.expect(unchanged: path, since: seen)
            }
          }
        }
      }
      try database.write { tx in
        try tx.set("other", to: 3)
        try tx.expect(unchanged: "other", since: tx.sequence.previous)
        #expect(throws: DatabaseError.self) { try tx.expect(unchanged: "other", since: 99) }
      }
    }
  }

  @Test("for what may be a property sees writes of that property alone")
  func properties() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("orders/1", to: ["total": 1])
        try tx.set("orders/1/lines/2", to: 1)
        // So that the name is known.
        try tx.set("orders/2", to: ["lines": [], "sum": 1])
      }
      var seen = try database.head
      try database.write { tx in
        try tx.update("orders/1", ["total": 5])
        try tx.increment("orders/1", "total", by: 1)
        try tx.append(3, to: "orders/2", "lines")
      }
      func isUnchanged(_ path: NodePath) throws -> Bool {
        try database.write { tx in
          do { try tx.expect(unchanged: path, since: seen) } catch DatabaseError.conflict {
            return false
          }
          return true
        }
      }
      #expect(try isUnchanged("orders/1/lines") && isUnchanged("orders/2/sum"))
      #expect(try !isUnchanged("orders/1/total") && !isUnchanged("orders/2/lines"))
      #expect(try !isUnchanged("orders/1"))
      seen = try database.head
      try database.write { tx in try tx.set("orders/2", to: ["total": 2]) }
      #expect(try !isUnchanged("orders/2/lines") && isUnchanged("orders/2/neverNamed"))
    }
  }

  @Test("of a model or of all of a type sees those of the same group, too")
  func models() async throws {
    try await withDatabase { database in
      try await database.register(Airline.self, Airport.self)
      try await database.insert(Airport(id: "JFK"))
      let seen = try database.head
      let outcomes = try await database.writeTogether(3) { tx in
        try tx.expect(unchanged: Airport.ID("JFK"), since: seen)
        try tx.expect(unchanged: Airport.self, since: seen)
        try tx.set(Airport.ID("JFK"), \.name, to: "Kennedy")
      }
      #expect(outcomes.filter { if case .success = $0 { true } else { false } }.count == 1)
      try Self.checkOthers(database, seen)
    }
  }

  private static func checkOthers(_ database: Database, _ seen: SequenceNumber) throws {
    try database.write { tx in
      try tx.expect(unchanged: Airport.ID("LGA"), since: seen)
      try tx.expect(unchanged: Airline.self, since: seen)
      #expect(throws: DatabaseError.self) { try tx.expect(unchanged: Airport.self, since: seen) }
    }
  }

  @Test("that fails is tried again until nothing is lost")
  func retrying() async throws {
    try await withDatabase { database in
      try await database.write { tx in try tx.set("n", to: 0) }
      let tries = Tries()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask {
            try await database.retrying(attempts: 100) { snapshot in
              tries.count.add(1, ordering: .relaxed)
              guard case .integer(let old)? = try snapshot["n"].value else { return }
              await Task.yield()
              try await database.write { tx in
                try tx.expect(unchanged: "n", since: snapshot.sequence)
                try tx.set("n", to: .integer(old + 1))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try database.read { try $0["n"].value } == 16)
      #expect(tries.count.load(ordering: .relaxed) >= 16)
    }
  }

  @Test("is given up after the last attempt, and other errors at once")
  func givingUp() throws {
    try withDatabase { database in
      var tries = 0
      #expect(throws: DatabaseError.self) {
        try database.retrying(attempts: 3) { snapshot in
          tries += 1
          try database.write { tx in try tx.set("n", to: .integer(Int64(tries))) }
          try database.write { tx in try tx.expect(unchanged: "n", since: snapshot.sequence) }
        }
      }
      #expect(tries == 3)
      #expect(throws: CancellationError.self) {
        try database.retrying { _ in
          tries += 1
          throw CancellationError()
        }
      }
      #expect(tries == 4)
      let seen = try database.retrying { $0.sequence }
      #expect(seen == 3)
    }
  }
}

@Suite("Attempts that are overtaken")
struct BackoffTests {
  @Test("are as many as asked for, and wait longer each time")
  func pauses() {
    for attempts in [-1, 0, 1, 2, 30] {
      var backoff = Backoff(attempts: attempts)
      var bound = Duration.microseconds(100)
      var count = 1
      while let pause = backoff.next() {
        count += 1
        #expect(pause >= bound / 2 && pause <= bound)
        bound = min(bound * 2, .milliseconds(50))
      }
      #expect(count == max(attempts, 1))
    }
  }

  @Test("wait between them")
  func waiting() throws {
    try withDatabase { database in
      let conflict = DatabaseError.conflict("n", expected: 1, found: 2)
      let start = ContinuousClock.now
      #expect(throws: conflict) { try database.retrying(attempts: 8) { _ in throw conflict } }
      #expect(ContinuousClock.now - start >= .microseconds(6300))
    }
  }

  @Test("end where the task is cancelled")
  func cancelling() async throws {
    try await withDatabase { database in
      let conflict = DatabaseError.conflict("n", expected: 1, found: 2)
      let task = Task {
        try await database.retrying(attempts: .max) { _ in
          await Task.yield()
          throw conflict
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("hold back no condition: each form refuses the same way")
  func forms() throws {
    try withDatabase { database in
      for value in 1...3 { try database.write { try $0.set("n", to: .integer(Int64(value))) } }
      #expect(throws: DatabaseError.conflict(.root, expected: 1, found: 3)) {
        try database.write(expecting: 1) { _ in }
      }
      try database.write(expecting: 3) { tx in
        try tx.expect("n", at: 3)
        try tx.expect("m", at: .zero)
        try tx.expect(unchanged: "n", since: 3)
        #expect(throws: DatabaseError.conflict("n", expected: 2, found: 3)) {
          try tx.expect("n", at: 2)
        }
        #expect(throws: DatabaseError.conflict("n", expected: 1, found: 2)) {
          try tx.expect(unchanged: "n", since: 1)
        }
      }
    }
  }
}

@Suite("A batch of changes")
struct WriteBatchTests {
  @Test("is one transaction, or none")
  func whole() throws {
    try withFlights { database in
      let flight = try database.insert(Flight(carrier: "UA", origin: "JFK", number: 1))
      let head = try database.head
      var batch = WriteBatch()
      batch.set("motto", to: "x")
      batch.update("airports/JFK", ["name": "Kennedy"])
      batch.increment("visits", by: 2)
      batch.insert("vip", into: "tags")
      batch.event("changed")
      try batch.upsert(Airline(id: "AA", name: "American"))
      try batch.set(flight, \.departureDelay, to: 12)
      try batch.increment(flight, \.number, by: 1)
      #expect(batch.count == 8 && !batch.isEmpty)
      try database.write(batch, metadata: ["who": "ada"])
      #expect(try database.head == head.next)
      #expect(try database.get(flight).departureDelay == 12)
      #expect(try database.find(Airline.ID("AA"))?.name == "American")
      var bad = batch
      try bad.set(Flight.ID(flight.key), \.number, to: -1)
      let copy = bad
      #expect(throws: ValidationError.self) { try database.write(copy) }
      try database.write { tx in
        #expect(throws: ValidationError.self) { try tx.apply(copy) }
        try tx.apply(batch)
      }
      #expect(try database.read { try $0["visits"].value } == 4)
      #expect(try database.get(flight).number == 3)
    }
  }

  @Test("takes another one in, and where both change a place, one wins or both are refused")
  func merging() throws {
    var first = WriteBatch()
    first.set("ada", to: ["a": 1, "b": 1])
    first.remove("bob")
    first.increment("n", by: 1)
    var second = WriteBatch()
    second.update("ada", ["b": 2])
    second.update("bob", ["age": 2])
    second.increment("n", by: 2)
    second.set("new", to: 2)
    let expected: [(WriteBatch.MergeStrategy, ada: Value, bob: Value?)] = [
      (.laterWins, ada: ["a": 1, "b": 2], bob: ["age": 2, "name": "Bob"]),
      (.firstWins, ada: ["a": 1, "b": 1], bob: nil),
    ]
    for (strategy, ada, bob) in expected {
      try withDatabase { database in
        try database.write { tx in
          try tx.set("ada", to: ["a": 0])
          try tx.set("bob", to: ["name": "Bob", "age": 1])
        }
        var merged = first
        try merged.merge(second, strategy)
        try database.write(merged)
        #expect(try database.read { try $0["ada"].value } == ada)
        #expect(try database.read { try $0["bob"].value } == bob)
        #expect(try database.read { try $0["n"].value } == 3)
        #expect(try database.read { try $0["new"].value } == 2)
      }
    }
    var refused = first
    #expect(throws: WriteBatch.Conflict(paths: ["ada", "bob"])) {
      try refused.merge(second, .refuse)
    }
    #expect(refused.count == first.count)
    var counts = WriteBatch()
    counts.increment("n", by: 5)
    counts.update("carl", ["age": 1])
    try refused.merge(counts, .refuse)
    #expect(refused.count == 5)
  }

  @Test("that wins stays as it was, and only what is not in conflict comes behind it")
  func winning() throws {
    try withDatabase { database in
      var author = PropertyDefinition("author", .reference("authors"))
      author.mustExist = true
      var definition = CollectionDefinition()
      definition.properties = [author]
      try database.write { [definition] tx in try tx.declare("books", definition) }
      var batch = WriteBatch()
      batch.set("authors/ada", to: ["name": "Ada"])
      var other = WriteBatch()
      other.update("authors/ada", ["name": "Bob", "born": 1815])
      other.set("books/1", to: ["author": "ada"])
      try batch.merge(other, .firstWins)
      #expect(batch.count == 2)
      try database.write(batch)
      #expect(try database.read { try $0["authors/ada"].value } == ["name": "Ada"])
      var name = WriteBatch()
      name.update("authors/ada", ["name": "Countess"])
      try name.merge(other, .firstWins)
      #expect(name.count == 3)
      try database.write(name)
      #expect(
        try database.read { try $0["authors/ada"].value } == ["name": "Countess", "born": 1815])
    }
  }

  @Test("leaves a removal out whole where something below is changed")
  func removals() throws {
    for strategy in [WriteBatch.MergeStrategy.firstWins, .laterWins] {
      try withDatabase { database in
        try database.write { tx in try tx.set("users/bob", to: 1) }
        var (setting, removing) = (WriteBatch(), WriteBatch())
        setting.set("users/ada", to: 2)
        removing.remove("users")
        removing.remove("others")
        var merged = strategy == .firstWins ? setting : removing
        try merged.merge(strategy == .firstWins ? removing : setting, strategy)
        #expect(merged.count == 2)
        try database.write(merged)
        #expect(try database.read { try $0["users"].childCount } == 2)
        var both = removing
        both.remove("users/ada")
        try both.merge(removing, .refuse)
        #expect(both.count == 5)
      }
    }
  }

  @Test("changes the properties of one update at once")
  func updates() throws {
    try withDatabase { database in
      var index = IndexDefinition([.init("a"), .init("b")])
      index.isUnique = true
      var definition = CollectionDefinition()
      definition.indexes = [index]
      try database.write { [definition] tx in
        try tx.declare("pairs", definition)
        try tx.set("pairs/1", to: ["a": 1, "b": 2])
        try tx.set("pairs/2", to: ["a": 2, "b": 2])
      }
      var batch = WriteBatch()
      batch.update("pairs/2", ["a": 1, "b": 3])
      try database.write(batch)
      #expect(try database.read { try $0["pairs/2"].value } == ["a": 1, "b": 3])
    }
  }

  @Test("knows the properties of models, and what goes with a record")
  func models() throws {
    let id = Airport.ID("JFK")
    var first = WriteBatch()
    try first.set(id, \.name, to: "Kennedy")
    var second = WriteBatch()
    try second.set(id, \.place.latitude, to: 40)
    var merged = first
    try merged.merge(second, .refuse)
    #expect(merged.count == 2)
    var third = WriteBatch()
    try third.delete(id)
    #expect(throws: WriteBatch.Conflict(paths: ["airports/JFK"])) {
      try merged.merge(third, .refuse)
    }
    try third.merge(first, .laterWins)
    #expect(third.count == 1)
    var nested = WriteBatch()
    try nested.set(id, \.place, to: .init())
    #expect(throws: WriteBatch.Conflict.self) { try nested.merge(second, .refuse) }
  }
}
