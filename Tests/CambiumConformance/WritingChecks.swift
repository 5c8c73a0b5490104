// The checks of calls that change models.

import Cambium
import FoundationEssentials

extension StoreCheck {
  static let creating = StoreCheck("creates what is not there, once") { store in
    let ada = try await store.create(Owner(id: "ada", name: "Ada"))
    try expect(try await store.lookup(ada.id), is: ada, "what was created")
    try await expect(error: "exists owners/ada", of: "creating it again") {
      try await store.create(Owner(id: "ada", name: "Another"))
    }
    try expect(try await store.list(Owner.self), is: [ada], "the list")
    try expect(try await store.lookup(Owner.ID("eve")), is: nil, "what was not created")
    try expect(try await store.lookup(Owner.ID()), is: nil, "what has no id")
  }

  static let keeping = StoreCheck("gives back what it keeps, not what it was given") { store in
    let moment = Date(timeIntervalSince1970: 1.123_456_7)
    let ada = try await store.create(Owner(id: "ada", name: "Ada", since: moment))
    let kept = Date(timeIntervalSince1970: 1.123_457)
    try expect(ada.since.timeIntervalSince(kept).magnitude < 1e-7, is: true, "a kept microsecond")
    let rex = try await store.create(Pet(owner: "ada", age: 99))
    try expect(rex.id, is: 1, "the first id")
    try expect(rex.age, is: 30, "an age that is clamped")
    try expect(try await store.create(Pet(owner: "ada")).id, is: 2, "the second id")
    try expect(try await store.create(Pet(id: 2_000, owner: "ada")).id, is: 2_000, "a given id")
    try expect(try await store.create(Pet(owner: "ada")).id, is: 2_001, "the id behind it")
    try await expect(error: "id: is required", of: "a text id that is not given") {
      do { try await store.create(Owner(name: "x")) } catch let error as ValidationError {
        throw Wrong(error.messages(for: "id").map { "id: \($0)" }.joined())
      }
    }
    try expect(try await store.update(rex.id) { $0.age = -1 }.age, is: 0, "an updated age")
  }

  static let updating = StoreCheck("changes what is there, and keeps it") { store in
    let ada = try await store.create(Owner(id: "ada", name: "Ada"))
    try expect(try await store.update(ada.id) { $0.name = "A" }.name, is: "A", "an updated name")
    try expect(try await store.lookup(ada.id)?.name, is: "A", "the name that is kept")
    try await expect(error: "not found owners/eve", of: "updating nobody") {
      try await store.update(Owner.ID("eve")) { $0.name = "Eve" }
    }
    try await expect(error: "misuse", of: "another id") {
      try await store.update(ada.id) { $0.id = "eve" }
    }
    for number in 1...20 {
      try await store.update(ada.id) { $0.name += "\(number % 10)" }
    }
    try expect(
      try await store.lookup(ada.id)?.name, is: "A12345678901234567890", "after 20 updates")
    try expect(try await store.save(Owner(id: "ada", name: "A")).name, is: "A", "a saved name")
    try expect(try await store.save(Owner(id: "bob", name: "B")).id, is: "bob", "a saved id")
    try expect(try await store.list(Owner.self).map(\.name), is: ["A", "B"], "the list")
  }

  static let failing = StoreCheck("keeps nothing of a call that throws") { store in
    struct Stop: Error {}
    let ada = try await store.create(Owner(id: "ada", name: "Ada"))
    for _ in 0..<2 {
      _ = try? await store.update(ada.id) {
        $0.name = "x"
        throw Stop()
      }
      _ = try? await store.update(ada.id) { $0.name = "nobody" }
      _ = try? await store.create(Owner(id: "eve", name: "nobody"))
      try expect(try await store.list(Owner.self), is: [ada], "the list")
    }
  }

  static let rules = StoreCheck("checks every rule, all of an error at once") { store in
    try await store.create(Owner(id: "ada", name: "Ada"))
    do {
      try await store.create(Pet(id: 1, weight: 200))
      throw Wrong("a pet without owner is kept")
    } catch let error as ValidationError {
      try expect(
        error.messages, is: ["owner is required", "weight must be from 0.0 to 100.0"],
        "the error")
    }
    try await expect(error: "owners/ada: name must not be 'nobody'", of: "a rule in code") {
      try await store.update(Owner.ID("ada")) { $0.name = "nobody" }
    }
  }

  static let uniqueness = StoreCheck("keeps unique what is to be unique") { store in
    let ada = try await store.create(Owner(id: "ada", name: "Ada"))
    let taken = DatabaseError.notUnique("owners/ida", index: ["name"], takenBy: "owners/ada")
    try await expect(error: told(taken), of: "a taken name") {
      try await store.create(Owner(id: "ida", name: "ADA"))
    }
    for id in [1, 2] { try await store.create(Pet(id: .init(id), owner: ada.id)) }
    try await store.create(Pet(id: 3, owner: ada.id, chip: "c"))
    let chip = DatabaseError.notUnique("pets/1", index: ["chip"], takenBy: "pets/3")
    try await expect(error: told(chip), of: "a taken chip") {
      try await store.update(Pet.ID(1)) { $0.chip = "c" }
    }
    try await store.update(Pet.ID(3)) { $0.chip = "d" }
    try await store.update(Pet.ID(1)) { $0.chip = "c" }
    try await store.delete(ada.id)
    try await store.create(Owner(id: "eve", name: "Ada"))
  }

  static let references = StoreCheck("refuses references that lead nowhere") { store in
    try await store.create(Owner(id: "ada", name: "Ada"))
    try await store.create(Pet(id: 1, owner: "ada"))
    let dangling = Violation("pets", "sitter", "refers to \"ghost\", which is not in owners")
    try await expect(error: told(DatabaseError.invalid([dangling])), of: "a missing sitter") {
      try await store.update(Pet.ID(1)) { $0.sitter = "ghost" }
    }
    // Without a rule a reference may lead nowhere, and where it did, it may stay.
    try await store.update(Pet.ID(1)) { $0.friends = [77] }
    try await store.update(Pet.ID(1)) { $0.age = 3 }
    try expect(try await store.lookup(Pet.ID(1))?.friends, is: [77], "a reference without a rule")
  }

  static let deleting = StoreCheck("deletes, and does what the delete rules say") { store in
    for name in ["ada", "bob", "eve"] {
      try await store.create(Owner(id: .init(name), name: name))
    }
    try await store.create(Pet(id: 1, owner: "ada", sitter: "bob", vet: "eve"))
    try await store.create(Pet(id: 2, owner: "bob", mother: 1))
    try await store.create(Pet(id: 3, owner: "bob", mother: 2, friends: [1, 3, 4]))
    try await store.create(Pet(id: 4, owner: "bob", sitter: "bob", friends: [1, 2, 4]))
    try expect(try await store.delete(Owner.ID("ghost")), is: false, "deleting nobody")
    try expect(try await store.delete(Owner.ID()), is: false, "deleting without an id")
    let denied = DatabaseError.stillReferred("owners/eve", by: "pets/1", property: "vet")
    try await expect(error: told(denied), of: "deleting a vet") {
      try await store.delete(Owner.ID("eve"))
    }
    try expect(try await store.delete(Owner.ID("ada")), is: true, "deleting an owner")
    try expect(try await store.list(Owner.self).map(\.id), is: ["bob", "eve"], "who is left")
    let left = try await store.list(Pet.self)
    try expect(left.map(\.id), is: [4], "the pets of the others")
    try expect(left.map(\.friends), is: [[4]], "the friends that are left")
    try expect(try await store.delete(Owner.ID("eve")), is: true, "deleting who was a vet")
    try expect(try await store.delete(Owner.ID("eve")), is: false, "deleting again")
    try expect(try await store.lookup(Owner.ID("eve")), is: nil, "what was deleted")
  }
}
