// Goal: a model's binding is right for the catalog that it is used with, and lives no longer.
// Method: the bindings of snapshots before and after changes of the catalog, also of such as are
// taken back.

import Simulation
import Testing

@testable import Cambium

@Suite("A model's binding")
struct BindingTests {
  private struct Stop: Error {}

  @Test("is shared by the snapshots of one version of the catalog, and goes with it")
  func lifetime() throws {
    try withDatabase { database in
      try database.register(Airline.self)
      let core = Airline.schema.core
      weak var first: Binding?
      do {
        let binding = try database.snapshot().binding(core)
        #expect(try database.snapshot().binding(core) === binding)
        try database.write { try $0.set("known/names", to: ["name": "x"]) }
        #expect(try database.snapshot().binding(core) === binding)
        first = binding
        // A snapshot that is held keeps its catalog.
        let held = try database.snapshot()
        try database.write { try $0.set("other/names", to: ["neverNamedBefore": 1]) }
        #expect(try held.binding(core) === binding)
        #expect(try database.snapshot().binding(core) !== binding)
      }
      #expect(first == nil)
    }
  }

  @Test("that a transaction made for names that it took back is not used again")
  func takenBack() throws {
    try withDatabase { database in
      let pan = Airline(id: "PA", name: "Pan Am")
      #expect(throws: Stop.self) {
        try database.write { tx in
          try tx.insert(pan)
          throw Stop()
        }
      }
      try database.write { tx in
        // Their numbers would have been those of the model's properties.
        try tx.define("a", "b", "c", "d", "e", "f", "g", "h")
        try? tx.attempt {
          try tx.insert(pan)
          throw Stop()
        }
        try tx.define("i", "j", "k", "l")
        try tx.insert(pan)
      }
      #expect(try database.find(pan.id) == pan)
      #expect(try database.snapshot()["airlines/PA"]["name"] == "Pan Am")
    }
  }

  @Test("whose values are computed of older records does not keep itself alive")
  func computing() throws {
    weak var slots: Slots?
    do {
      var catalog = Catalog()
      try catalog.define("name", as: 0)
      let first = catalog.slots
      let bound = Bound(catalog.withoutSlots)
      let made = first.object(ObjectIdentifier(Bound.self), orMake: { bound })
      #expect(made === bound)
      let found: Bound? = first.object(ObjectIdentifier(Bound.self))
      #expect(found === bound)
      try catalog.define("other", as: 1)
      let gone: Bound? = catalog.slots.object(ObjectIdentifier(Bound.self))
      #expect(catalog.slots !== first && gone == nil)
      slots = first
    }
    #expect(slots == nil)
  }
}

/// Something that keeps the catalog that it was made of.
private final class Bound: Sendable {
  let catalog: Catalog

  init(_ catalog: Catalog) { self.catalog = catalog }
}
