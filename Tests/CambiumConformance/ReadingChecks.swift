// The checks of lists and observers.

import Cambium

extension StoreCheck {
  private static func fill(_ store: any ModelStore) async throws {
    for (name, text) in [("ada", "Ada"), ("bob", "bob"), ("10", "Ten"), ("9", "Nine")] {
      try await store.create(Owner(id: .init(name), name: text))
    }
    for number in 1...20 {
      try await store.create(
        Pet(
          id: .init(number), owner: number % 3 == 0 ? "ada" : "bob", name: "pet \(number % 5)",
          age: number % 7, weight: number % 4 == 0 ? nil : Double(number)))
    }
  }

  static let listing = StoreCheck("lists what meets a condition, in order") { store in
    try await fill(store)
    func ids(_ listing: Listing<Pet>, are right: [Pet.ID], _ subject: String) async throws {
      try expect(try await store.list(listing).map(\.id), is: right, subject)
    }
    try expect(
      try await store.list(Owner.self).map(\.id), is: ["9", "10", "ada", "bob"], "by key")
    let names = try await store.list(Listing<Owner>().order(by: \.name.descending))
    try expect(names.map(\.name), is: ["bob", "Ten", "Nine", "Ada"], "by name, descending")
    let folded = try await store.list(Listing<Owner>().order(by: \.name.ignoringCase))
    try expect(folded.map(\.name), is: ["Ada", "bob", "Nine", "Ten"], "by name, ignoring case")
    let old = Listing<Pet>().where {
      $0.age > 3; $0.owner.name == "Ada"
    }
    try await ids(old, are: [6, 12, 18], "old pets of Ada's")
    try await ids(old.order(by: \.age.descending), are: [6, 12, 18], "by age, descending")
    let unweighed = Listing<Pet>().where { $0.weight == nil }
    let sorted = [8, 16, 4, 12, 20].sorted { a, b in
      (a % 7, -(a % 5), a) < (b % 7, -(b % 5), b)
    }
    try await ids(
      unweighed.order(by: \.age, \.name.descending), are: sorted.map { Pet.ID($0) },
      "by age, and by name")
  }

  static let limiting = StoreCheck("lists no more than is asked for") { store in
    try await fill(store)
    func ids(_ listing: Listing<Pet>, are right: [Pet.ID], _ subject: String) async throws {
      try expect(try await store.list(listing).map(\.id), is: right, subject)
    }
    let old = Listing<Pet>().where {
      $0.age > 3; $0.owner.name == "Ada"
    }
    try await ids(
      old.order(by: \.name, \.age.descending).limit(2, offset: 1), are: [12, 18], "all but one")
    try await ids(
      Listing<Pet>().order(by: \.weight.nullsLast).limit(3), are: [1, 2, 3], "the lightest")
    try await ids(Listing<Pet>().limit(0), are: [], "none")
    try await ids(Listing<Pet>().limit(5, offset: 18), are: [19, 20], "the last")
  }

  static let observing = StoreCheck("tells each change once, in order") { store in
    let ada = try await store.create(Owner(id: "ada", name: "Ada"))
    let (all, owners) = (try store.observe(Pet.self), try store.observe(Owner.self))
    let rex = try await store.create(Pet(id: 1, owner: "ada"))
    let max = try await store.create(Pet(id: 2, owner: "ada", mother: 1))
    let older = try await store.update(rex.id) { $0.age = 2 }
    // Observers are told neither of calls that change nothing nor of refused calls.
    try await store.update(rex.id) { $0.age = 2 }
    _ = try? await store.create(rex)
    _ = try? await store.update(rex.id) { $0.owner = nil }
    let other = try await store.update(ada.id) { $0.name = "A" }
    try await store.delete(ada.id)
    try await store.create(Owner(id: "zoe", name: "Zoe"))
    let last = try await store.create(Pet(id: 3, owner: "zoe"))
    try await tells(
      all,
      [
        .created(rex), .created(max), .updated(older, from: rex), .deleted(older), .deleted(max),
        .created(last),
      ])
    try await tells(owners, [.updated(other, from: ada), .deleted(other)])
  }

  static let observingOne = StoreCheck("tells the changes of one model to who asks for it") {
    store in
    try await store.create(Owner(id: "ada", name: "Ada"))
    let one = try store.observe(Pet.ID(2))
    try await store.create(Pet(id: 1, owner: "ada"))
    let max = try await store.create(Pet(id: 2, owner: "ada", mother: 1))
    try await store.update(Pet.ID(1)) { $0.age = 2 }
    try await store.delete(Owner.ID("ada"))
    try await tells(one, [.created(max), .deleted(max)])
    try await expect(error: "misuse", of: "observing without an id") {
      _ = try store.observe(Owner.ID())
    }
  }

  static let cancelling = StoreCheck("tells nothing to who was cancelled") { store in
    let changes = try store.observe(Owner.self)
    for name in ["ada", "bob"] { try await store.create(Owner(id: .init(name), name: name)) }
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      var seen = 0
      for try await _ in changes { seen += 1 }
      return seen
    }
    // All of it waits for the observer, who wants no more.
    task.cancel()
    try expect(try await task.value, is: 0, "the number of changes")
  }

  /// Holds the next changes of a walk against the right ones.
  private static func tells<M: Model & Equatable>(
    _ changes: ModelChanges<M>, _ right: [ModelChange<M>]
  ) async throws {
    var iterator = changes.makeAsyncIterator()
    for (index, change) in right.enumerated() {
      let found = try await iterator.next()
      try expect(found, is: change, "change \(index + 1)")
    }
  }
}
