// Goal: every store does what `ModelStore` promises. Method: one suite, which each of them runs; a
// store elsewhere has only to be added to `StoreKind`.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("Every store")
struct ModelStoreTests {
  @Test("creates what is not there, and gives it as it is kept", arguments: StoreKind.allCases)
  func creating(kind: StoreKind) async throws {
    try await kind.lend { store in
      let moment = Date(timeIntervalSince1970: 1.123_456_7)
      let ada = try await store.create(Owner(id: "ada", name: "Ada", since: moment))
      #expect(ada.since.microseconds == 1_123_457)
      #expect(try await store.lookup(ada.id) == ada)
      let rex = try await store.create(Pet(owner: "ada", age: 99))
      let max = try await store.create(Pet(owner: "ada"))
      #expect(rex.id == Pet.ID(1) && rex.age == 30 && max.id == Pet.ID(2))
      #expect(try await store.create(Pet(id: 2_000, owner: "ada")).id == Pet.ID(2_000))
      #expect(try await store.create(Pet(owner: "ada")).id == Pet.ID(2_001))
      await #expect(throws: DatabaseError.self) { try await store.create(ada) }
      await #expect(throws: ValidationError.self) { try await store.create(Owner(name: "x")) }
      #expect(try await store.list(Owner.self) == [ada])
      #expect(try await store.lookup(Owner.ID("eve")) == nil)
      #expect(try await store.lookup(Owner.ID()) == nil)
    }
  }

  @Test("changes what is there, and refuses what is not", arguments: StoreKind.allCases)
  func updating(kind: StoreKind) async throws {
    struct Stop: Error {}
    try await kind.lend { store in
      let ada = try await store.create(Owner(id: "ada", name: "Ada"))
      #expect(try await store.update(ada.id) { $0.name = "Ada L." }.name == "Ada L.")
      let error = await #expect(throws: DatabaseError.self) {
        try await store.update(Owner.ID("eve")) { $0.name = "Eve" }
      }
      #expect(error.map(told) == "not found owners/eve")
      await #expect(throws: Stop.self) {
        try await store.update(ada.id) {
          $0.name = "x"
          throw Stop()
        }
      }
      await #expect(throws: DatabaseError.self) {
        try await store.update(ada.id) { $0.id = "eve" }
      }
      #expect(try await store.list(Owner.self).map(\.name) == ["Ada L."])
      #expect(try await store.save(Owner(id: "ada", name: "A")).name == "A")
      #expect(try await store.save(Owner(id: "bob", name: "B")).id == "bob")
      #expect(try await store.list(Owner.self).map(\.name) == ["A", "B"])
    }
  }

  @Test("checks every rule, all of an error at once", arguments: StoreKind.allCases)
  func rules(kind: StoreKind) async throws {
    try await kind.lend { store in
      try await store.create(Owner(id: "ada", name: "Ada"))
      let wrong = await #expect(throws: ValidationError.self) {
        try await store.create(Pet(id: 1, weight: 200))
      }
      #expect(wrong?.messages == ["owner is required", "weight must be from 0.0 to 100.0"])
      let nobody = await #expect(throws: ValidationError.self) {
        try await store.update(Owner.ID("ada")) { $0.name = "nobody" }
      }
      #expect(nobody?.description == "owners/ada: name must not be 'nobody'")
      let taken = await #expect(throws: DatabaseError.self) {
        try await store.create(Owner(id: "ida", name: "ADA"))
      }
      #expect(
        taken == .notUnique("owners/ida", index: ["name"], takenBy: "owners/ada"))
      try await store.create(Pet(id: 1, owner: "ada"))
      try await store.create(Pet(id: 2, owner: "ada"))
      try await store.create(Pet(id: 3, owner: "ada", chip: "c"))
      await #expect(throws: DatabaseError.self) {
        try await store.update(Pet.ID(1)) { $0.chip = "c" }
      }
      try await store.update(Pet.ID(3)) { $0.chip = "d" }
      try await store.update(Pet.ID(1)) { $0.chip = "c" }
      let dangling = await #expect(throws: DatabaseError.self) {
        try await store.update(Pet.ID(1)) { $0.sitter = "ghost" }
      }
      #expect(
        dangling
          == .invalid([Violation("pets", "sitter", "refers to \"ghost\", which is not in owners")]))
      // Without a rule a reference may lead nowhere, and where it did, it may stay.
      try await store.update(Pet.ID(1)) { $0.friends = [77] }
      try await store.update(Pet.ID(1)) { $0.age = 3 }
    }
  }

  @Test("deletes, and does what the delete rules say", arguments: StoreKind.allCases)
  func deleting(kind: StoreKind) async throws {
    try await kind.lend { store in
      for name in ["ada", "bob", "eve"] {
        try await store.create(Owner(id: .init(name), name: name))
      }
      try await store.create(Pet(id: 1, owner: "ada", sitter: "bob", vet: "eve"))
      try await store.create(Pet(id: 2, owner: "bob", mother: 1))
      try await store.create(Pet(id: 3, owner: "bob", mother: 2, friends: [1, 3, 4]))
      try await store.create(Pet(id: 4, owner: "bob", sitter: "bob", friends: [1, 2, 4]))
      #expect(try await store.delete(Owner.ID("ghost")) == false)
      #expect(try await store.delete(Owner.ID()) == false)
      let denied = await #expect(throws: DatabaseError.self) {
        try await store.delete(Owner.ID("eve"))
      }
      #expect(denied == .stillReferred("owners/eve", by: "pets/1", property: "vet"))
      #expect(try await store.delete(Owner.ID("ada")))
      #expect(try await store.list(Owner.self).map(\.id) == ["bob", "eve"])
      let left = try await store.list(Pet.self)
      #expect(left.map(\.id) == [4] && left[0].friends == [4])
      #expect(try await store.delete(Owner.ID("eve")))
      #expect(try await store.delete(Owner.ID("eve")) == false)
      // Its unique values are free again.
      try await store.create(Owner(id: "ada", name: "Eve"))
    }
  }

  @Test("lists in the order that is asked for", arguments: StoreKind.allCases)
  func listing(kind: StoreKind) async throws {
    try await kind.lend { store in
      for (name, text) in [("ada", "Ada"), ("bob", "bob"), ("10", "Ten"), ("9", "Nine")] {
        try await store.create(Owner(id: .init(name), name: text))
      }
      for number in 1...20 {
        try await store.create(
          Pet(
            id: .init(number), owner: number % 3 == 0 ? "ada" : "bob", name: "pet \(number % 5)",
            age: number % 7, weight: number % 4 == 0 ? nil : Double(number)))
      }
      #expect(try await store.list(Owner.self).map(\.id) == ["9", "10", "ada", "bob"])
      let names = try await store.list(Listing<Owner>().order(by: \.name.descending))
      #expect(names.map(\.name) == ["bob", "Ten", "Nine", "Ada"])
      let folded = try await store.list(Listing<Owner>().order(by: \.name.ignoringCase))
      #expect(folded.map(\.name) == ["Ada", "bob", "Nine", "Ten"])
      let old = Listing<Pet>().where {
        $0.age > 3; $0.owner.name == "Ada"
      }
      #expect(try await store.list(old).map(\.id) == [6, 12, 18])
      #expect(try await store.list(old.order(by: \.age.descending)).map(\.id) == [6, 12, 18])
      #expect(
        try await store.list(old.order(by: \.name, \.age.descending).limit(2, offset: 1))
          .map(\.id) == [12, 18])
      let unweighed = Listing<Pet>().where { $0.weight == nil }.order(by: \.age, \.name.descending)
      #expect(
        try await store.list(unweighed).map(\.id)
          == [8, 16, 4, 12, 20].sorted { a, b in
            (a.key % 7, -(a.key % 5), a.key) < (b.key % 7, -(b.key % 5), b.key)
          })
      let weighed = try await store.list(Listing<Pet>().order(by: \.weight.nullsLast).limit(3))
      #expect(weighed.map(\.id) == [1, 2, 3])
      #expect(try await store.list(Listing<Pet>().limit(0)) == [])
      #expect(try await store.list(Listing<Pet>().limit(5, offset: 18)).map(\.id) == [19, 20])
    }
  }

  @Test(
    "tells each change once, in order, and none after cancelling", arguments: StoreKind.allCases)
  func observing(kind: StoreKind) async throws {
    try await kind.lend { store in
      var ada = try await store.create(Owner(id: "ada", name: "Ada"))
      let all = try store.observe(Pet.self)
      let one = try store.observe(Pet.ID(2))
      let owners = try store.observe(Owner.self)
      let cancelled = try store.observe(Pet.self)
      let rex = try await store.create(Pet(id: 1, owner: "ada"))
      let max = try await store.create(Pet(id: 2, owner: "ada", mother: 1))
      let older = try await store.update(rex.id) { $0.age = 2 }
      try await store.update(rex.id) { $0.age = 2 }
      _ = try? await store.create(rex)
      _ = try? await store.update(rex.id) { $0.owner = nil }
      ada = try await store.update(ada.id) { $0.name = "A" }
      try await store.delete(ada.id)
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        var seen = 0
        for try await _ in cancelled { seen += 1 }
        return seen
      }
      // All of it waits for the observer, who wants no more.
      task.cancel()
      #expect(try await task.value == 0)
      var found: [ModelChange<Pet>] = []
      for try await change in all {
        found.append(change)
        if found.count == 5 { break }
      }
      #expect(
        found == [
          .created(rex), .created(max), .updated(older, from: rex), .deleted(older), .deleted(max),
        ])
      var ofOne = one.makeAsyncIterator()
      #expect(try await ofOne.next() == .created(max))
      #expect(try await ofOne.next() == .deleted(max))
      var ofOwners = owners.makeAsyncIterator()
      #expect(try await ofOwners.next()?.model == ada)
      #expect(try await ofOwners.next() == .deleted(ada))
      #expect(throws: DatabaseError.self) { try store.observe(Owner.ID()) }
    }
  }

  @Test("lets one observer go without the others")
  func leaving() async throws {
    let store = try MemoryStore()
    for _ in 0..<10 {
      let changes = try store.observe(Owner.self)
      _ = changes
    }
    let kept = try store.observe(Owner.self)
    try store.create(Owner(id: "ada", name: "Ada"))
    #expect(store.observerCount == 1)
    var iterator = kept.makeAsyncIterator()
    #expect(try await iterator.next()?.id == "ada")
  }

  @Test("in memory refuses what it cannot do")
  func hooks() async throws {
    #expect(throws: DatabaseError.self) { try MemoryStore(for: Watched.self) }
    let store = try MemoryStore()
    #expect(throws: DatabaseError.self) { try store.create(Watched()) }
    #expect(throws: QueryError.self) {
      try store.list(Listing<Owner>().matching(Condition(parsing: "name.x = 1")))
    }
  }
}
