// Goal: a handle shows what is stored, writes through, keeps what is entered, and tells whoever
// observes it. Method: by hand, each with a writer beside the handle.

import Dispatch
import Foundation
import Observation
import Synchronization
import Testing

@testable import Cambium

@Suite("A live object")
struct LiveObjectTests {
  private static let id = Airline.ID("ua")

  /// A database with an airline, and its handle.
  private func withAirline(
    _ body: (Database, Live<Airline>) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      try await database.register(Airline.self, Airport.self, Flight.self)
      try await database.insert(Airline(id: Self.id, name: "United"), actor: "ada")
      try await body(database, try database.live(Airline.self, Self.id))
    }
  }

  @Test("shows what is stored, or the initial values of one that is not there")
  func reading() async throws {
    try await withAirline { database, airline in
      #expect(airline.name == "United" && airline.model == airline.stored)
      #expect(airline.loadState == .committed(try database.head))
      let absent = try database.live(Airline.self, "xx")
      #expect(absent.name.isEmpty && absent.model == nil && absent.loadState == .absent)
      #expect(absent.id == "xx")
      // It shows a moment until it is refreshed.
      try await database.update(Self.id) { $0.name = "Other" }
      #expect(airline.name == "United")
      try airline.refresh()
      #expect(airline.name == "Other")
      try await database.delete(Self.id)
      try airline.refresh()
      #expect(airline.loadState == .deleted && airline.model == nil && airline.name.isEmpty)
    }
  }

  @Test("is one for each object, as long as it is held")
  func identity() async throws {
    try await withDatabase { database in
      try await database.register(Airline.self)
      let registry = LiveRegistry.of(database)
      do {
        let one = try database.live(Airline.self, Self.id)
        #expect(try database.live(Self.id) === one)
        #expect(try database.live(Airline.self, "xx") !== one)
        #expect(registry.count == 1)
      }
      #expect(registry.count == 0)
      await onThreads(4) { thread in
        for number in 0..<500 {
          let id = Airline.ID("\(number % 3)")
          let (one, other) = (try database.live(id), try database.live(id))
          #expect(one === other, "thread \(thread)")
        }
      }
      #expect(registry.count == 0)
    }
  }

  @Test("writes through, one property in a transaction")
  func writing() async throws {
    try await withAirline { database, airline in
      airline.name = "Delta"
      #expect(try database.get(Self.id).name == "Delta")
      let head = try database.head
      #expect(airline.loadState == .committed(head))
      // The same again is no transaction.
      airline.name = "Delta"
      #expect(try database.head == head)
      try await airline.set(\.name, to: "Eve", actor: "eve")
      let name = airline.property(\.name)
      #expect(try name.author == "eve")
      #expect(try name.changedAt == database.commit(database.head).time)
      #expect(try name.updatedAt == name.changedAt)
      try await airline.set(\.name, to: "Async")
      #expect(try database.get(Self.id).name == "Async")
      try airline.delete()
      #expect(airline.loadState == .deleted)
    }
  }

  @Test("keeps a value that is refused, and says why")
  func refusing() async throws {
    try await withAirline { database, airline in
      let name = airline.properties.name
      name.value = ""
      #expect(name.value.isEmpty && name.stored == "United" && name.loadState == .pending)
      #expect(name.validation == .invalid(["must not be empty"]))
      #expect(try database.get(Self.id).name == "United")
      #expect(throws: ValidationError.self) { try airline.save() }
      airline.name = "Good"
      #expect(name.validation.isValid)
      #expect(name.loadState == .committed(try database.head))
      airline.report("is unknown to the server", about: "name")
      #expect(name.validation.messages == ["is unknown to the server"])
      #expect(airline.validation.messages == ["name is unknown to the server"])
      airline.revert()
      #expect(airline.validation.isValid)
      // One that is not there cannot be written through; it is inserted.
      let absent = try database.live(Airline.self, "xx")
      absent.name = "New"
      #expect(absent.loadState == .pending)
      try await absent.save()
      #expect(try database.get("xx" as Airline.ID).name == "New")
      #expect(absent.loadState == .committed(try database.head))
    }
  }

  @Test("says which properties of a unique index are taken")
  func uniqueness() async throws {
    try await withAirline { database, _ in
      try await database.insert(Airport(id: "jfk"))
      let first = try await database.insert(Flight(carrier: Self.id, origin: "jfk", number: 1))
      let second = try await database.insert(Flight(carrier: Self.id, origin: "jfk", number: 2))
      let flight = try database.live(second)
      flight.number = 1
      #expect(flight.properties.number.validation.messages.count == 1)
      #expect(flight.properties.crew.validation.isValid)
      try await database.delete(first)
      try await flight.save()
      #expect(try database.get(second).number == 1)
    }
  }

  @Test("saves what was edited, on top of what others have written meanwhile")
  func editing() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      try await database.insert(Airport(id: id, name: "a"))
      let airport = try database.live(id)
      try airport.edit { $0.place.latitude = 5 }
      #expect(airport.editedProperties == ["place.latitude"])
      #expect(airport.properties.place.loadState == .pending)
      #expect(airport.properties.name.loadState == .committed(try database.head))
      try await database.update(id) {
        $0.name = "b"; $0.place.longitude = 9
      }
      try airport.refresh()
      #expect(airport.name == "b" && airport.place.longitude == 9 && airport.place.latitude == 5)
      try await database.update(id) { $0.name = "c" }
      try await airport.save()
      #expect(
        try database.get(id)
          == Airport(id: id, name: "c", place: Airport.Place(latitude: 5, longitude: 9)))
      #expect(airport.editedProperties.isEmpty)
      #expect(throws: DatabaseError.self) { try airport.edit { $0.id = "other" } }
    }
  }

  @Test("refuses to save over what another writer has changed, until told which one counts")
  func conflicts() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      try await database.insert(Airport(id: id, name: "a"))
      let airport = try database.live(id)
      try airport.edit { $0.name = "mine" }
      let theirs = try await database.write { tx in
        try tx.set(id, \.name, to: "theirs")
        return tx.sequence
      }
      let error = #expect(throws: DatabaseError.self) { try airport.save() }
      guard case .conflict(let path, _, let found) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(path == "airports/jfk/name" && found == theirs)
      let name = airport.properties.name
      #expect(name.loadState == .conflicted && airport.conflicts == ["name"])
      #expect(name.value == "mine" && name.stored == "theirs")
      // Once known, it stays one.
      #expect(throws: DatabaseError.self) { try airport.save() }
      name.revert()
      #expect(name.value == "theirs" && airport.loadState == .committed(theirs))
      // The same value is no conflict.
      try airport.edit { $0.name = "same" }
      try await database.update(id) { $0.name = "same" }
      try await airport.save()
      #expect(airport.loadState == .committed(try database.head))
      // Kept, or entered again.
      for resolve in [{ airport.keepLocal() }, { name.enter("mine 2") }] {
        try airport.edit { $0.name += " mine" }
        try await database.update(id) { $0.name += "!" }
        try airport.refresh()
        #expect(airport.loadState == .conflicted)
        resolve()
        #expect(airport.loadState == .pending)
        try await airport.save()
        #expect(try database.get(id).name == airport.name)
      }
      // A deletion is a conflict with all that was entered.
      try airport.edit { $0.name = "mine" }
      try await database.delete(id)
      #expect(throws: DatabaseError.self) { try airport.save() }
      try await airport.save(overwriting: true)
      #expect(try database.get(id).name == "mine")
    }
  }

  @Test("follows until its task is cancelled, and notifies of what differs alone")
  func following() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let id = Airport.ID("jfk")
      try await database.insert(Airport(id: id, name: "a"))
      let airport = try database.live(id)
      let (names, places, whole) = (Counter(), Counter(), Counter())
      let task = Task { try await airport.follow() }
      withObservationTracking {
        _ = airport.name
      } onChange: {
        names.add()
      }
      withObservationTracking {
        _ = airport.place
      } onChange: {
        places.add()
      }
      withObservationTracking {
        _ = airport.loadState
      } onChange: {
        whole.add()
      }
      try await database.update(id) { $0.place.latitude = 1 }
      #expect(try await eventually { airport.place.latitude == 1 })
      #expect(names.count == 0 && places.count == 1 && whole.count == 1)
      try await database.update(id) { $0.name = "b" }
      #expect(try await eventually { airport.name == "b" })
      #expect(names.count == 1)
      task.cancel()
      try await task.value
    }
    let database = try Database.inMemory(for: Airport.self)
    let airport = try database.live(Airport.ID("jfk"))
    let task = Task { try await airport.follow() }
    await Task.yield()
    try await database.close()
    // Either it had begun and ends, or it finds the database closed.
    _ = await task.result
  }

  private final class Counter: Sendable {
    private let stored = Mutex(0)
    var count: Int { stored.withLock { $0 } }
    func add() { stored.withLock { $0 += 1 } }
  }

  @Test("shows changes on the actor that follows it")
  func isolation() async throws {
    try await withAirline { database, airline in
      let screen = Screen()
      let isOnScreen = Mutex<Bool?>(nil)
      let follower = Task { try await screen.follow(airline) }
      withObservationTracking {
        _ = airline.name
      } onChange: {
        let isCurrent = Screen.isCurrent
        isOnScreen.withLock { $0 = isCurrent }
      }
      try await database.update(Self.id) { $0.name = "b" }
      #expect(try await eventually { isOnScreen.withLock { $0 } != nil })
      #expect(isOnScreen.withLock { $0 } == true)
      follower.cancel()
      try await follower.value
    }
  }

  /// An actor on a queue of its own, as the main one is on a thread.
  private actor Screen {
    private final class Executor: SerialExecutor {
      static let key = DispatchSpecificKey<Bool>()
      private let queue = DispatchQueue(label: "screen")

      init() { queue.setSpecific(key: Executor.key, value: true) }

      func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
      }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe executor.asUnownedSerialExecutor()
    }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: Executor.key) == true }

    func follow(_ airline: Live<Airline>) async throws { try await airline.follow() }
  }

  @Test("gives a property's values, entered and stored")
  func values() async throws {
    try await withAirline { database, airline in
      let name = airline.properties.name
      var values = name.values.makeAsyncIterator()
      #expect(try await values.next() == "United")
      try await database.update(Self.id) { $0.name = "b" }
      #expect(try await values.next() == "b")
      name.enter("c")
      #expect(try await values.next() == "c")
      airline.revert()
      #expect(try await values.next() == "b")
      #expect(airline.name == "b")
    }
  }

  @Test("of an enum of models is edited as a whole")
  func union() async throws {
    try await withDatabase { database in
      try await database.register(Vehicle.self, Garage.self)
      let id = try await database.insert(Vehicle.truck(Vehicle.Truck(load: 1)))
      let vehicle = try database.live(id)
      let truck = try database.live(Vehicle.Truck.ID(id.key))
      truck.load = 99
      // It is put into its domain.
      #expect(truck.load == 40 && truck.stored?.load == 40)
      try vehicle.edit { $0 = .car(Vehicle.Car(id: Vehicle.Car.ID(id.key), doors: 3)) }
      #expect(vehicle.loadState == .pending)
      #expect(throws: DatabaseError.self) { try vehicle.save() }
      #expect(vehicle.loadState == .conflicted)
      try await vehicle.save(overwriting: true)
      #expect(vehicle.loadState == .committed(try database.head))
      try truck.refresh()
      #expect(truck.loadState == .deleted)
      #expect(try database.find(Vehicle.Car.ID(id.key))?.doors == 3)
    }
  }
}
