import Testing

@testable import Cambium

@Suite("A change of a value")
struct ValueChangeTests {
  private static let changes: [(ValueChange<Value>, met: Value)] = [
    (.increment(by: 3), 4), (.increment(by: -3), 0),
    (.append("c"), ["a", "b"]), (.append("a"), []),
    (.insert("x", at: 1), ["a", "b"]), (.removeElement(at: 0), ["a", "b"]),
    (.include("c"), ["a", "b"]), (.exclude("b"), ["a", "b"]),
    (.setEntry(key: "k", 2), .map(["k": 1])), (.setEntry(key: "k", nil), .map(["k": 1])),
    (.setEntry(key: "new", 2), .map(["k": 1])), (.incrementEntry(key: "k", by: 5), .map(["k": 1])),
  ]

  @Test("is taken back by its inverse", arguments: changes.indices)
  func inverse(index: Int) throws {
    let (change, value) = Self.changes[index]
    let (stored, met) = (try change.map { try $0.stored() }, try value.stored())
    let left = try stored.applied(to: met, "p")
    let inverse = try #require(try stored.inverse(met: met, "p"))
    #expect(left != met)
    #expect(try inverse.applied(to: left, "p") == met)
  }

  @Test("has no inverse where it changed nothing")
  func nothing() throws {
    let vain: [(ValueChange<Value>, met: Value)] = [
      (.include("a"), ["a"]), (.exclude("b"), ["a"]), (.setEntry(key: "k", 1), .map(["k": 1])),
      (.setEntry(key: "none", nil), .map(["k": 1])),
    ]
    for (change, value) in vain {
      let stored = try change.map { try $0.stored() }
      #expect(try stored.inverse(met: value.stored(), "p") == nil)
    }
  }

  @Test("by the least integer has none that fits")
  func leastInteger() throws {
    let change = ValueChange.increment(by: try Value.integer(.min).stored())
    #expect(throws: DatabaseError.self) { try change.inverse(met: nil, "p") }
  }
}
