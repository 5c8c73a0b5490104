// Goal: the command line continues a migration that was interrupted, and values are converted only
// where nothing is lost. Method: a migration that stops after a batch, then the program; a table of
// values.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("A migration by the command line", .timeLimit(.minutes(1)))
struct MigrateTests {
  @Test("goes on where it was broken off")
  func resumed() throws {
    try Workplace.with { place in
      let database = try Database(at: place.folder + "/a.cambium")
      var definition = CollectionDefinition()
      definition.version = 3
      definition.properties = [
        PropertyDefinition("number", .string), PropertyDefinition("delay", .integer),
      ]
      definition.indexes = [IndexDefinition([.init("delay")])]
      try database.write { tx in
        try tx.declare("flights", definition)
        for number in 0..<5 {
          try tx.set(
            NodePath(keys: ["flights", .integer(Int64(number))]),
            to: ["number": .string("\(number)"), "delay": .integer(Int64(number))])
        }
      }
      var changes = RecordChanges()
      changes.converted = [("number", .integer)]
      changes.renamed = [("delay", "late")]
      let steps = changes.steps(definition)
      let migration = CollectionMigration(
        "flights", steps: steps.map(\.name), applied: steps, keepsTarget: true,
        target: { [changes] in try changes.target($0) },
        rewrite: { [changes] record, _ in try changes.apply(to: &record) })
      #expect(throws: CancellationError.self) {
        try database.migrate(migration, batch: 2) { $0.done < 2 }
      }
      try database.close()

      #expect(
        try place.run("cambium migrate a.cambium flights")
          == "under way: late renamed from delay; number converted from string, 2 of 5 records\n")
      let other = try place.run("cambium migrate a.cambium flights --rename delay=x")
      #expect(other.contains("another migration is under way") && other.hasSuffix("[7]\n"))
      let done = try place.run(
        "cambium migrate a.cambium flights --rename delay=late --change number=integer")
      #expect(done.hasPrefix("3 of 5 records of flights changed\n"))
      try check(Database(at: place.folder + "/a.cambium"), steps.map(\.name))
    }
  }

  @Test("done again counts from then on")
  func again() throws {
    try Workplace.with { place in
      let database = try Database(at: place.folder + "/a.cambium")
      try database.write { tx in
        try tx.declare("flights", CollectionDefinition())
        try tx.set("flights/1", to: ["a": 1])
      }
      try database.close()
      for change in ["a=b", "b=a", "a=b"] {
        _ = try place.run("cambium migrate a.cambium flights --rename \(change)")
      }
      let reopened = try Database(at: place.folder + "/a.cambium")
      let steps = try reopened.snapshot().definition(of: "flights")?.steps ?? []
      #expect(steps.map(\.name) == ["a was b", "b was a"])
      #expect(steps.last?.sequence == (try reopened.head))
      #expect(try reopened.verify().isSound)
      try reopened.close()
    }
  }

  private func check(_ database: Database, _ steps: [String]) throws {
    let snapshot = try database.snapshot()
    let declared = try #require(try snapshot.definition(of: "flights"))
    #expect(declared.migration == nil && declared.steps.map(\.name) == steps)
    #expect(declared.steps.allSatisfy { $0.version == 3 && $0.sequence > .zero })
    #expect(declared["number"]?.type == .integer && declared["late"]?.type == .integer)
    #expect(declared.indexes == [IndexDefinition([.init("late")])])
    for number in 0..<5 {
      let value = Value.integer(Int64(number))
      #expect(
        try snapshot[NodePath(keys: ["flights", .integer(Int64(number))])].value
          == ["number": value, "late": value])
    }
    #expect(try database.verify().isSound)
    try database.close()
  }

  @Test("says in words what a step is")
  func words() {
    let words = [
      ("late was delay", "late renamed from delay"),
      ("number was number: String", "number converted from string to integer"),
      ("number was number: Value", "number converted to integer"),
      ("late was delay: Int", "late renamed from delay and converted from integer to integer"),
      ("late was delay, old", "late was delay, old"), ("late was computed", "late was computed"),
      ("old removed", "old removed"), ("what was first: names", "what was first: names"), ("", ""),
    ]
    for (step, expected) in words {
      #expect(StepText.words(step, to: .integer) == expected, "\(step)")
    }
    #expect(StepText.words("number was number: String") == "number converted from string")
  }

  @Test("converts what means the same, and nothing else")
  func conversions() throws {
    let date = Date(timeIntervalSince1970: 1)
    let uuid = UUID()
    let pairs: [(Value, PropertyType, Value?)] = [
      ("42", .integer, 42), ("042", .integer, nil), ("4.2", .integer, nil), (4.0, .integer, 4),
      (4.5, .integer, nil), (.double(.nan), .integer, nil), (true, .integer, 1),
      (.decimal(7), .integer, 7), ("9223372036854775808", .integer, nil),
      (42, .double, 42.0), (.integer(.max), .double, nil), ("0.5", .double, 0.5),
      ("x", .double, nil), (.decimal(Decimal(string: "0.5") ?? 0), .double, 0.5),
      ("0.1", .decimal, .decimal(Decimal(string: "0.1") ?? 0)), (3, .decimal, .decimal(3)),
      (.double(.infinity), .decimal, nil), (1, .bool, true), (2, .bool, nil),
      ("TRUE", .bool, true), ("yes", .bool, nil), ("1970-01-01T00:00:01Z", .date, .date(date)),
      (1_000_000, .date, .date(date)), ("today", .date, nil),
      (.string(uuid.uuidString), .uuid, .uuid(uuid)), ("x", .uuid, nil), (1.5, .string, "1.5"),
      (.date(date), .string, "1970-01-01T00:00:01Z"), (["a"], .string, nil),
      (.null, .integer, .null), (["a"], .any, ["a"]),
    ]
    for (value, type, expected) in pairs {
      #expect(ValueConversion.convert(value, to: type) == expected, "\(value) to \(type)")
    }
  }
}
