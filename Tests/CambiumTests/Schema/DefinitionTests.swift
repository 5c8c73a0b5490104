import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

/// A declaration as a value: what goes in comes out, and what makes no sense is refused by name.
@Suite("A declaration")
struct DefinitionTests {
  /// One that has everything.
  static let full: CollectionDefinition = {
    var definition = CollectionDefinition()
    definition.model = "Flight"
    definition.version = 3
    definition.keys = .uuid
    definition.rulesInCode = ["number must be positive"]
    definition.steps = [AppliedStep("full name", version: 2, sequence: 41)]
    definition.migration = UnfinishedMigration(["cents"], done: 7, last: "x", target: ["a": 1])
    var origin = PropertyDefinition("origin", .reference("airports"))
    origin.isRequired = true
    origin.deleteRule = .deny
    origin.mustExist = true
    var stars = PropertyDefinition("stars", .integer)
    stars.domain = Domain(.range(1, nil), .clamp)
    stars.absence = 1
    var size = PropertyDefinition("size", .string)
    size.domain = Domain(.list(["S", "M"]), .clear)
    definition.properties = [
      origin, stars, size, .init("crew", .array(.reference("a/b c"))), .init("any", .any),
      .init("seats", .keyed(by: "people", .map(.decimal))), .init("place.latitude", .double),
    ]
    var index = IndexDefinition([
      .init("origin"), .init("size", isDescending: true, collation: .ignoringCase),
    ])
    index.isUnique = true
    index.covered = ["stars"]
    index.condition = Condition(.compare(PropertyPath("stars"), .greater, 2))
    definition.indexes = [index, IndexDefinition([.init("crew")])]
    definition.views = [
      ViewDefinition(
        .groups(
          by: ["origin"],
          [.count, .sum("stars"), .average("stars"), .minimum("size"), .maximum("size")]),
        where: index.condition),
      ViewDefinition(.top(by: [], [.init("stars", isDescending: true)])),
      ViewDefinition(.text(["size"], language: "en")),
    ]
    return definition
  }()

  @Test("comes back from its value, whole or empty")
  func roundTrip() throws {
    for definition in [Self.full, CollectionDefinition()] {
      #expect(try CollectionDefinition(definition.value) == definition)
    }
  }

  @Test("is refused by the part that is wrong")
  func refusals() throws {
    let wrong: [(Value, part: String)] = [
      (5, "part"), (["model": 5], "model"), (["keys": "float"], "keys"),
      (["properties": [["type": "string"]]], "'name'"),
      (["properties": [["name": "x", "type": "text"]]], "type: text"),
      (["indexes": [["terms": ["x"], "unique": 1]]], "unique"),
      (["indexes": [["terms": [["property": "x", "collation": "de"]]]]], "collation: de"),
      (["views": [["where": "x > 1"]]], "view"),
      (["views": [["groups": ["measures": ["mean"]]]]], "part"),
      (["migration": ["steps": ["a"], "done": -1]], "done: -1"),
      (["indexes": [["terms": ["x"], "where": "x >"]]], "where: x >"),
      (["properties": [["name": "x", "type": ["reference": "a//b"]]]], "reference: a//b"),
    ]
    for (value, part) in wrong {
      #expect {
        _ = try CollectionDefinition(value)
      } throws: { error in
        guard case DatabaseError.corrupt(let reason) = error else { return false }
        return reason.contains(part)
      }
    }
  }

  @Test("that contradicts itself is refused, and changes nothing")
  func contradictions() throws {
    try withDatabase { database in
      func expectRefused(_ change: (inout CollectionDefinition) -> Void) {
        var definition = CollectionDefinition()
        change(&definition)
        #expect {
          try database.write { tx in try tx.declare("things", definition) }
        } throws: { error in
          if case DatabaseError.badValue("things", _) = error { true } else { false }
        }
      }
      expectRefused { $0.properties = [.init("x", .any), .init("x", .bool)] }
      expectRefused { $0.indexes = [IndexDefinition([])] }
      expectRefused {
        var property = PropertyDefinition("x", .string)
        property.deleteRule = .deny
        $0.properties = [property]
      }
      expectRefused {
        $0.properties = [.init("x", .array(.any)), .init("y", .array(.any))]
        $0.indexes = [IndexDefinition([.init("x"), .init("y")])]
      }
      expectRefused {
        var index = IndexDefinition([.init("x")])
        index.condition = try? Condition(parsing: "owner.name = \"Ada\"")
        $0.properties = [.init("x", .any), .init("owner", .reference("people"))]
        $0.indexes = [index]
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.declare(.root, CollectionDefinition()) }
      }
      let head = try database.head
      #expect(head == .zero)
    }
  }

  @Test("keeps the indexes that stay, makes those that are new, and drops the others")
  func changing() throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.indexes = [IndexDefinition([.init("a")]), IndexDefinition([.init("b")])]
      try database.write { tx in
        try tx.declare("things", definition)
        for key in 0..<10 {
          try tx.set(NodePath("things/\(key)"), to: ["a": .integer(Int64(key % 3)), "b": "x"])
        }
      }
      let before = try #require(try database.snapshot().names.collections["things"])
      definition.indexes = [IndexDefinition([.init("b")]), IndexDefinition([.init("c")])]
      try database.write { tx in try tx.declare("things", definition) }
      let after = try #require(try database.snapshot().names.collections["things"])
      #expect(after.indexes[0].number == before.indexes[1].number)
      #expect(!before.numbers.contains(after.indexes[1].number))
      try database.write { tx in try tx.declare("things", nil) }
      let snapshot = try database.snapshot()
      let collections = try snapshot.collections
      #expect(collections.isEmpty)
      #expect(try entryCount(database) == 0)
      let children = try snapshot["things"].childCount
      #expect(children == 10)
    }
  }

  @Test("stays, with right indexes, through undo, redo, erasure, compaction and rebuild")
  func otherWays() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    var definition = CollectionDefinition()
    definition.indexes = [IndexDefinition([.init("a")])]
    do {
      let database = try Database(at: path)
      let sequence = try database.write { tx in
        try tx.declare("things", definition)
        try tx.set("things/1", to: ["a": 1])
        try tx.set("things/2", to: ["a": 2])
        return tx.sequence
      }
      try database.undo(sequence)
      #expect(try database.read { try $0.definition(of: "things") } == definition)
      #expect(try entryCount(database) == 0)
      _ = try database.redo()
      #expect(try entryCount(database) == 2)
      try database.close()
    }
    try Database.erase("things/1", at: path)
    let database = try Database(at: path)
    #expect(try database.read { try $0.definition(of: "things") } == definition)
    #expect(try entryCount(database) == 1)
    _ = try database.compact(upTo: database.head)
    #expect(try entryCount(database) == 1)
    try database.rebuild()
    #expect(try entryCount(database) == 1)
    try expectSound(database)
    try database.close()
  }

  private func entryCount(_ database: Database) throws -> Int {
    let snapshot = try database.snapshot()
    return try snapshot.reader.access.count(snapshot.reader.tables.index)
  }
}
