// Goal: bound properties agree as their direction says, whoever changes them, and no longer than
// the binding is held. Method: handles on two objects, one of another type.

import Foundation
import Synchronization
import Testing

@testable import Cambium

@Suite("A binding")
struct LiveBindingTests {
  /// Two airports, and an airline.
  private func withObjects(
    _ body: (Live<Airport>, Live<Airport>, Live<Airline>) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      try await database.register(Airport.self, Airline.self)
      try await database.insert(Airport(id: "a", name: "one"))
      try await database.insert(Airport(id: "b", name: "two"))
      try await database.insert(Airline(id: "c", name: "three"))
      try await body(
        try database.live("a" as Airport.ID), try database.live("b" as Airport.ID),
        try database.live("c" as Airline.ID))
    }
  }

  @Test("in one direction sets the target at once and at each change")
  func oneWay() async throws {
    try await withObjects { a, b, c in
      let binding = a.properties.name.bind(to: c.properties.name)
      #expect(c.stored?.name == "one")
      a.name = "new"
      #expect(c.stored?.name == "new")
      // The other direction is not bound.
      c.name = "other"
      #expect(a.name == "new")
      try a.edit { $0.name = "entered" }
      #expect(c.stored?.name == "entered" && a.stored?.name == "new")
      // Another property is none of its business.
      c.name = "kept"
      a.place.latitude = 1
      #expect(c.name == "entered")
      binding.end()
      a.name = "later"
      #expect(c.name == "entered" && binding.isOver)
    }
  }

  @Test("in both directions keeps both the same, and ends with its owner")
  func twoWay() async throws {
    try await withObjects { a, b, _ in
      do {
        let binding = a.properties.name <--> b.properties.name
        #expect(a.stored?.name == "two")
        a.name = "left"
        #expect(b.stored?.name == "left")
        let head = try a.database.head
        b.name = "right"
        #expect(a.stored?.name == "right")
        // One transaction for each side: nothing comes back.
        #expect(try a.database.head.rawValue == head.rawValue + 2)
        withExtendedLifetime(binding) {}
      }
      a.name = "alone"
      #expect(b.name == "right")
    }
  }

  @Test("once takes the value that is there, or the first that comes")
  func once() async throws {
    try await withObjects { a, b, _ in
      let now = a.properties.name.bind(to: b.properties.name, .once)
      #expect(now.isOver && b.name == "one")
      a.name = "later"
      #expect(b.name == "one")
      let absent = try a.database.live("x" as Airport.ID)
      let first = absent.properties.name.bind(to: b.properties.name, .once)
      #expect(!first.isOver && b.name == "one")
      try await a.database.insert(Airport(id: "x", name: "came"))
      try absent.refresh()
      #expect(first.isOver && b.name == "came")
    }
  }

  @Test("converts in both directions, and leaves what cannot be converted")
  func conversions() async throws {
    try await withObjects { a, b, _ in
      let latitude = a.property(\.place.latitude)
      let binding = latitude.bind(to: b.properties.name, .twoWay, .text)
      #expect(b.name == "0.0")
      b.name = "12.50"
      #expect(a.stored?.place.latitude == 12.5)
      // It is told again as the type writes it.
      #expect(b.stored?.name == "12.5")
      b.name = "far"
      #expect(a.place.latitude == 12.5 && b.name == "far")
      withExtendedLifetime(binding) {}
      #expect(BindingConversion<Bool, Bool>.negated.forward(true) == false)
      let chain = BindingConversion<Int, String>.text.then(.optional)
      #expect(chain.forward(7) == .some(.some("7")))
      #expect(chain.backward("8") == 8)
      #expect(chain.backward(nil) == nil)
      #expect(chain.reversed.forward("9") == 9)
    }
  }

  @Test("of conversions that never agree ends its rounds")
  func disagreement() async throws {
    try await withObjects { a, b, _ in
      let growing = BindingConversion<String, String>(
        forward: { $0 + "+" }, backward: { $0 + "-" })
      let binding = a.properties.name.bind(to: b.properties.name, .twoWay, growing)
      #expect(b.name.count < 30)
      let before = b.name
      a.name = "again"
      #expect(b.name != before)
      withExtendedLifetime(binding) {}
    }
  }

  @Test("holds across threads that write to either side")
  func threads() async throws {
    try await withObjects { a, b, _ in
      let binding = a.properties.name.bind(to: b.properties.name)
      await onThreads(3) { thread in
        for number in 0..<60 { a.name = "\(thread) \(number)" }
      }
      #expect(a.name == b.name && b.stored?.name == a.stored?.name)
      withExtendedLifetime(binding) {}
    }
  }

  @Test("passes the changes of others while it is followed")
  func following() async throws {
    try await withObjects { a, b, _ in
      let binding = a.properties.name --> b.properties.name
      let task = Task { try await binding.follow() }
      try await a.database.update(a.id) { $0.name = "by another" }
      #expect(try await eventually { b.stored?.name == "by another" })
      task.cancel()
      try await task.value
    }
  }

  @Test("to any object or closure gives each value once")
  func closures() async throws {
    final class Label: Sendable {
      private let stored = Mutex("")
      var text: String {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
      }
    }
    try await withObjects { a, _, _ in
      let label = Label()
      let texts = Mutex<[String]>([])
      let one = a.properties.name.bind(to: label, \.text)
      let other = a.properties.name.bind { text in texts.withLock { $0.append(text) } }
      a.place.latitude = 7
      a.name = "next"
      #expect(label.text == "next")
      #expect(texts.withLock { $0 } == ["one", "next"])
      withExtendedLifetime((one, other)) {}
    }
  }
}
