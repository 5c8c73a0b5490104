// Goal: every store does what `ModelStore` promises, and the checks that say so find the stores
// that do not. Method: the public checks, on each of our stores and on stores with one mistake.

import CambiumConformance
import FoundationEssentials
import Synchronization
import Testing

@testable import Cambium

@Suite("Every store")
struct ModelStoreTests {
  @Test("is one that", arguments: StoreKind.allCases, StoreCheck.all)
  func conforms(kind: StoreKind, check: StoreCheck) async throws {
    try await kind.lend { try await check.run(on: $0) }
  }

  @Test("answers random calls alike", arguments: StoreKind.allCases, FormatSeeds.first(4))
  func random(kind: StoreKind, seed: UInt64) async throws {
    print("seed \(5000 + seed)")
    try await kind.lend { try await StoreCheck.random(seed: 5000 + seed).run(on: $0) }
  }

  @Test("runs the hooks of its models", arguments: StoreKind.allCases)
  func hooks(kind: StoreKind) async throws {
    try await kind.lend { store in
      if let store = store as? DatabaseStore {
        try await store.database.register(Watched.self, Mourning.self)
      }
      let rex = try await store.create(Watched(name: "rex"))
      #expect(try await store.update(rex.id) { $0.name = "Rex" }.changes == 1)
      let kept = try await store.create(Watched(name: "kept"))
      await #expect(throws: DatabaseError.self) { try await store.delete(kept.id) }
      #expect(try await store.delete(rex.id))
      #expect(try await store.list(Mourning.self).map(\.name) == ["Rex"])
      #expect(try await store.list(Watched.self) == [kept])
    }
  }

  @Test("keeps models that share a collection", arguments: StoreKind.allCases)
  func unions(kind: StoreKind) async throws {
    try await kind.lend { store in
      if let store = store as? DatabaseStore {
        try await store.database.register(Vehicle.self, Garage.self)
      }
      let changes = try store.observe(Vehicle.Truck.self)
      let truck = try await store.create(Vehicle.Truck(load: 99))
      #expect(truck.load == 40)
      let other = try await store.create(Vehicle.truck(Vehicle.Truck(wheels: 8)))
      #expect(try await store.list(Vehicle.Truck.self).count == 2)
      #expect(try await store.list(Vehicle.self).contains(.truck(truck)))
      #expect(try await store.list(Vehicle.Car.self) == [])
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next() == .created(truck))
      #expect(try await iterator.next()?.id.key == other.id.key)
    }
  }

  @Test("refuses a listing that cannot be answered", arguments: StoreKind.allCases)
  func unanswerable(kind: StoreKind) async throws {
    try await kind.lend { store in
      if let store = store as? DatabaseStore { try await store.database.register(Watched.self) }
      await #expect(throws: QueryError.self) {
        try await store.list(
          Listing<Watched>().matching(try Condition(parsing: "name.x = 1")))
      }
    }
  }
}

@Suite("The checks of stores")
struct StoreCheckTests {
  @Test("find a mistake, each its own", arguments: FaultyStore.Fault.allCases)
  func faults(fault: FaultyStore.Fault) async throws {
    var found: [String] = []
    for check in StoreCheck.all {
      if check.name.hasPrefix("answers random"), fault != .forgetsOneKey { continue }
      let store = try FaultyStore(fault)
      do { try await check.run(on: store, within: .seconds(3)) } catch {
        #expect(error.check == check.name && error.description.contains(error.reason))
        found.append(check.name)
      }
    }
    #expect(found.contains(fault.check), "\(fault) is found by \(found)")
  }

  @Test("end where a store does not answer")
  func limit() async throws {
    let check = try #require(StoreCheck.all.first { $0.name.hasPrefix("tells each change") })
    let start = ContinuousClock.now
    await #expect(throws: StoreFailure.self) {
      try await check.run(on: try FaultyStore(.tellsNothing), within: .milliseconds(300))
    }
    #expect(ContinuousClock.now - start < .seconds(10))
  }
}

@Suite("A store in memory")
struct MemoryStoreTests {
  @Test("is empty whenever it is opened, and leaves no file behind")
  func opening() throws {
    let start = ContinuousClock.now
    for _ in 0..<20 {
      let store = try MemoryStore(for: Airline.self)
      #expect(try store.list(Listing<Airline>()).isEmpty)
      try store.create(Airline(id: "PA", name: "Pan Am"))
      let path = store.database.path
      #expect(FileManager.default.fileExists(atPath: path))
      try store.database.close()
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    print("a store in memory takes \((ContinuousClock.now - start) / 20)")
  }
}
