// Goal: what was logged, and what a write has done, prints as words: no case of an enum and no
// optional of Swift shows through. Method: a table of every kind of operation, change and outcome;
// the operations of a random history, searched for the shapes of Swift.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A printed operation")
struct OperationTextTests {
  private struct Flight: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var number = 0
    var status = ""
    static let schema = ModelSchema<Flight>("flights")
  }

  @Test(
    "is a verb, the place and the value",
    arguments: [
      (.set("users/ada", ["born": 1815]), "set users/ada to {born: 1815}"),
      (.set("motto", "festina"), "set motto to \"festina\""),
      (.set("motto", nil), "set motto to nothing"), (.set(.root, 1), "set the root to 1"),
      (
        .update(
          "users/ada",
          [.init(property: "born", value: 1816), .init(property: "nick name", value: nil)]),
        "update users/ada {born: 1816, `nick name`: nil}"
      ),
      (
        .change("users/ada", property: "visits", .increment(by: 2)),
        "change visits of users/ada: increment by 2"
      ),
      (.change("visits", property: nil, .append("x")), "change visits: append \"x\""),
      (.remove("users/ada"), "remove users/ada"),
      (
        .restore("users/ada", removedAt: SequenceNumber(12)),
        "restore users/ada, removed by transaction 12"
      ),
      (.move("a", to: "b/c"), "move a to b/c"), (.define("born"), "define born"),
      (.event(Event(name: "ordered", payload: ["number": 12])), "log ordered {number: 12}"),
      (.declare("users", CollectionDefinition()), "declare users"),
      (.declare("users", nil), "take back the declaration of users"),
    ] as [(LoggedOperation, String)])
  func operations(operation: LoggedOperation, text: String) {
    #expect("\(operation)" == text)
    #expect(!Self.isSwift(String(reflecting: operation)), "\(String(reflecting: operation))")
  }

  @Test(
    "says how a value was changed in place",
    arguments: [
      (.increment(by: 1), "increment by 1"), (.append("x"), "append \"x\""),
      (.insert(["a": 1], at: 2), "insert {a: 1} at 2"), (.removeElement(at: 0), "remove element 0"),
      (.include("vip"), "include \"vip\""), (.exclude("vip"), "exclude \"vip\""),
      (.setEntry(key: "USD", 30), "set USD to 30"), (.setEntry(key: "USD", nil), "remove USD"),
      (.incrementEntry(key: "two words", by: 2.5), "increment `two words` by 2.5"),
    ] as [(ValueChange<Value>, String)])
  func changes(change: ValueChange<Value>, text: String) {
    #expect("\(change)" == text)
    #expect(!Self.isSwift(String(reflecting: change)), "\(String(reflecting: change))")
  }

  @Test("is cut where it is long, and whole in full")
  func lengths() {
    let long = Value.array((0..<10_000).map { .integer($0) })
    let operation = LoggedOperation.set("numbers", long)
    #expect("\(operation)".utf8.count < 500 && "\(operation)".hasSuffix(" more]"))
    #expect(String(reflecting: operation) == "set numbers to \(long.debugDescription)")
    let update = LoggedOperation.update(
      "a", (0..<10_000).map { .init(property: "p\($0)", value: .integer($0)) })
    #expect("\(update)".utf8.count < 500 && "\(update)".hasSuffix(" more}"))
  }

  @Test("is no Swift in a whole history", arguments: SeededGenerator.seeds(1, 2))
  func history(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    let values: [Value] = [
      1, 2.5, "x", .null, true, .date(Date()), .uuid(UUID()), .decimal(3), .data(Data([1])),
      .reference("a/1"), ["a", ["b": 1]], ["n": 2, "none": .null],
    ]
    try withDatabase { database in
      for _ in 0..<120 {
        let path = NodePath(keys: ["a", .integer(Int64(random.below(9)))])
        try database.write { tx in
          switch random.below(5) {
          case 0: try tx.set(path, to: ["n": 1, "tags": ["x"]])
          case 1: try tx.set(path, to: random.pick(values))
          case 2 where try tx[path].record != nil: try tx.update(path, ["n": .null, "m": nil])
          case 3: try tx.event("e", random.pick(values))
          default: _ = try tx.remove(path)
          }
        }
      }
      var cursor = try database.commits()
      while let commit = try cursor.next() {
        for operation in try commit.operations() {
          #expect(!Self.isSwift("\(operation)"), "seed \(seed): \(operation)")
        }
      }
    }
  }

  @Test("says what a write of models has done")
  func outcomes() throws {
    try withDatabase { database in
      let id = try database.insert(Flight(id: 12, number: 1))
      let update = try database.update(id) { ($0.number, $0.status) = (2, "late") }
      #expect("\(update)" == "updated Flight/12: number, status")
      #expect(String(reflecting: update).hasPrefix("updated Flight/12: number, status, from "))
      #expect("\(try database.update(id) { $0.number = 2 })" == "unchanged Flight/12")
      let upserts = try database.write { tx in
        try tx.upsert(contentsOf: [Flight(id: 12, number: 3), Flight(id: 13)])
      }
      #expect("\(upserts)" == "inserted 1, updated 1, unchanged 0")
      #expect(
        String(reflecting: upserts) == "inserted [Flight/13], updated [Flight/12], unchanged []")
    }
    #expect("\(WorkProgress(phase: "rebuild", done: 3, total: 10))" == "rebuild: 3 of 10")
    #expect("\(WorkProgress(phase: "copy", done: 3, total: nil))" == "copy: 3")
  }

  /// True if a text has what only Swift's own printing gives.
  private static func isSwift(_ text: String) -> Bool {
    [
      "Optional(", ".some(", "Cambium.", "NodePath(", "SequenceNumber(", "LoggedOperation",
      "rawValue",
    ]
    .contains { text.contains($0) }
  }
}
