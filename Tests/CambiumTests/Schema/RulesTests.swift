import FoundationEssentials
import Testing

@testable import Cambium

/// Declared rules bind every write, and what they refuse leaves nothing behind.
@Suite("A declared rule")
struct RulesTests {
  private static func definition(
    _ properties: [PropertyDefinition], _ indexes: [IndexDefinition] = []
  ) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = properties
    definition.indexes = indexes
    return definition
  }

  private static func reference(
    _ name: String, to path: NodePath, _ rule: DeleteRule?, mustExist: Bool = false,
    isPlural: Bool = false
  ) -> PropertyDefinition {
    var property = PropertyDefinition(
      name, isPlural ? .array(.reference(path)) : .reference(path))
    property.deleteRule = rule
    property.mustExist = mustExist
    return property
  }

  private static func unique(_ names: String...) -> IndexDefinition {
    var index = IndexDefinition(names.map { .init($0) })
    index.isUnique = true
    return index
  }

  private func reasons(_ body: () throws -> Void) -> [String] {
    do {
      try body()
      return []
    } catch DatabaseError.invalid(let violations) {
      return violations.map(\.description)
    } catch {
      return ["\(error)"]
    }
  }

  @Test("tells everything that is wrong with a record at once")
  func all() throws {
    try withDatabase { database in
      var name = PropertyDefinition("name", .string)
      name.isRequired = true
      var stars = PropertyDefinition("stars", .integer)
      stars.domain = Domain(.range(1, 5))
      var definition = Self.definition([name, stars, .init("born", .date)])
      definition.keys = .integer
      try database.write { tx in try tx.declare("users", definition) }
      let found = reasons {
        try database.write { tx in try tx.set("users/ada", to: ["stars": 7, "born": "1815"]) }
      }
      #expect(
        found == [
          "users/ada has a key that is no integer", "users/ada: name is required",
          "users/ada: stars must be from 1 to 5", "users/ada: born must be a date",
        ])
      #expect(try database.read { try $0["users"].childCount } == 0)
      try database.write { tx in try tx.set("users/1", to: ["name": "Ada", "other": 1]) }
      #expect(
        reasons { try database.write { tx in try tx.update("users/1", ["name": nil]) } } == [
          "users/1: name is required"
        ])
      #expect(
        reasons { try database.write { tx in try tx.set("users/1", to: 5) } } == [
          "users/1 must be a record in users"
        ])
      #expect(
        reasons { try database.write { tx in try tx.increment("users/1", "stars", by: 9) } } == [
          "users/1: stars must be from 1 to 5"
        ])
    }
  }

  @Test("replaces what is outside a domain that clamps or clears, before it is logged")
  func treatment() throws {
    try withDatabase { database in
      var stars = PropertyDefinition("stars", .integer)
      stars.domain = Domain(.range(1, 5), .clamp)
      var size = PropertyDefinition("size", .string)
      size.domain = Domain(.list(["S", "M"]), .clear)
      var note = PropertyDefinition("note", .string)
      note.absence = "none"
      try database.write { tx in
        try tx.declare("shirts", Self.definition([stars, size, note]))
        try tx.set("shirts/1", to: ["stars": 9, "size": "XXL", "note": "none"])
        try tx.set("shirts/2", to: ["stars": 3, "size": "S", "note": "torn"])
        try tx.update("shirts/2", ["stars": -2])
        try tx.increment("shirts/1", "stars", by: 4)
      }
      let snapshot = try database.snapshot()
      #expect(try snapshot["shirts/1"].value == ["stars": 5])
      #expect(try snapshot["shirts/2"].value == ["stars": 1, "size": "S", "note": "torn"])
    }
  }

  @Test("of uniqueness holds in one transaction, across them, for undo and for what is there")
  func uniqueness() throws {
    try withDatabase { database in
      let definition = Self.definition([.init("mail", .string)], [Self.unique("mail", "team")])
      try database.write { tx in
        try tx.declare("users", definition)
        try tx.set("users/ada", to: ["mail": "a@x", "team": 1])
        try tx.set("users/bob", to: ["mail": "a@x", "team": 2])
        try tx.set("users/no", to: ["mail": "a@x"])
        try tx.set("users/none", to: ["mail": "a@x"])
      }
      let taken = DatabaseError.notUnique(
        "users/bob", index: ["mail", "team"], takenBy: "users/ada")
      #expect(throws: taken) {
        try database.write { tx in try tx.update("users/bob", ["team": 1]) }
      }
      let removal = try database.write { tx in
        try tx.remove("users/ada")
        try tx.update("users/bob", ["team": 1])
        return tx.sequence
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.restore("users/ada", removedAt: removal) }
      }
      let other = Self.definition([], [Self.unique("team")])
      try database.write { tx in
        try tx.set("users/eve", to: ["mail": "e@x", "team": 1])
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.declare("users", other) }
      }
      #expect(try database.read { try $0.definition(of: "users") } == definition)
    }
  }

  @Test("of uniqueness holds for texts that are longer than an index's key")
  func longTexts() throws {
    try withDatabase { database in
      let long = String(repeating: "x", count: 600)
      try database.write { tx in
        try tx.declare("notes", Self.definition([], [Self.unique("text")]))
        try tx.set("notes/1", to: ["text": .string(long + "a")])
        try tx.set("notes/2", to: ["text": .string(long + "b")])
        let key = Key.text(String(repeating: "k", count: 470))
        try tx.set(NodePath(keys: ["notes", key]), to: ["text": .string(long)])
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("notes/3", to: ["text": .string(long + "a")]) }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("notes/3", to: ["text": .string(long)]) }
      }
      // Terms that only a long key cuts, among others that begin alike.
      let short = String(repeating: "y", count: 100)
      try database.write { tx in
        let key = Key.text(String(repeating: "m", count: 470))
        try tx.set(NodePath(keys: ["notes", key]), to: ["text": .string(short)])
        for key in 10..<60 {
          try tx.set(NodePath("notes/\(key)"), to: ["text": .string(short + "\(key)")])
        }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("notes/4", to: ["text": .string(short)]) }
      }
    }
  }

  // MARK: Delete rules

  private func library(_ rule: DeleteRule, isPlural: Bool = false) throws -> CollectionDefinition {
    Self.definition([Self.reference("author", to: "authors", rule, isPlural: isPlural)])
  }

  @Test("to deny names both ends")
  func deny() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.declare("books", try library(.deny))
        try tx.set("authors/ada", to: ["name": "Ada"])
        try tx.declare("authors", CollectionDefinition())
        try tx.set("books/1", to: ["author": "ada"])
      }
      let refusal = DatabaseError.stillReferred("authors/ada", by: "books/1", property: "author")
      #expect(throws: refusal) { try database.write { tx in try tx.remove("authors/ada") } }
      #expect(throws: refusal) { try database.write { tx in try tx.remove("authors") } }
      #expect(throws: refusal) {
        try database.write { tx in try tx.move("authors/ada", to: "people/ada") }
      }
      try database.write { tx in
        try tx.remove("books/1")
        try tx.remove("authors/ada")
      }
    }
  }

  @Test("to nullify takes the reference away, also out of an array", arguments: [false, true])
  func nullify(isPlural: Bool) throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.declare("books", try library(.nullify, isPlural: isPlural))
        try tx.declare("authors", CollectionDefinition())
        for key in 0..<2000 {
          let value: Value = isPlural ? ["ada", "bob", "ada"] : "ada"
          try tx.set(NodePath("books/\(key)"), to: ["author": value, "n": .integer(Int64(key))])
        }
        try tx.set("authors/ada", to: ["name": "Ada"])
        try tx.remove("authors/ada")
      }
      let expected: Value = isPlural ? ["author": ["bob"], "n": 7] : ["n": 7]
      #expect(try database.snapshot()["books/7"].value == expected)
    }
  }

  @Test("to cascade deletes, and comes to an end where records refer to each other")
  func cascade() throws {
    try withDatabase { database in
      let node = Self.definition([Self.reference("next", to: "nodes", .cascade)])
      try database.write { tx in
        try tx.declare("nodes", node)
        for key in 0..<50 {
          try tx.set(NodePath("nodes/\(key)"), to: ["next": .integer(Int64((key + 1) % 50))])
        }
        try tx.set("nodes/50", to: ["next": 50])
        try tx.set("nodes/51", to: ["next": 52])
      }
      let sequence = try database.write { tx in
        try tx.remove("nodes/17")
        return tx.sequence
      }
      #expect(try database.read { try $0["nodes"].childCount } == 2)
      try database.undo(sequence)
      #expect(try database.read { try $0["nodes"].childCount } == 52)
    }
  }

  @Test("lets references follow a record that gets another key")
  func rename() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.declare("books", try library(.deny))
        try tx.declare("authors", CollectionDefinition())
        try tx.set("authors/ada", to: ["name": "Ada"])
        try tx.set("books/1", to: ["author": "ada"])
        try tx.move("authors/ada", to: "authors/5")
      }
      #expect(try database.read { try $0["books/1"].value } == ["author": 5])
    }
  }

  @Test("refuses a reference that leads nowhere, where it must lead somewhere")
  func mustExist() throws {
    try withDatabase { database in
      let definition = Self.definition([
        Self.reference("author", to: "authors", nil, mustExist: true)
      ])
      try database.write { tx in
        try tx.declare("books", definition)
        try tx.set("authors/ada", to: ["name": "Ada"])
        try tx.set("books/1", to: ["author": "ada"])
      }
      #expect(
        reasons { try database.write { tx in try tx.set("books/2", to: ["author": "bob"]) } } == [
          "books: author refers to \"bob\", which is not in authors"
        ])
    }
  }

  @Test("is not held against all records again where only its words change")
  func words() throws {
    struct Undo: Error {}
    try withDatabase { database in
      var name = PropertyDefinition("name", .string)
      name.isRequired = true
      var labelled = name
      (labelled.label, labelled.documentation) = ("Name", "What people say.")
      var typed = labelled
      typed.type = .any
      let definitions = [name, labelled, typed].map { Self.definition([$0]) }
      try database.write { tx in
        try tx.declare("users", definitions[0])
        try tx.set("users/ada", to: ["name": "Ada"])
        do {
          try tx.attempt {
            // A record that no write could make shows whether the rules are checked.
            let id = try #require(tx.running.group.stateWriter.catalog.id(of: "name"))
            try tx.running.group.stateWriter.apply(
              .update("users/ada", [.init(name: id, value: nil)]))
            try tx.declare("users", definitions[1])
            #expect(throws: DatabaseError.self) { try tx.declare("users", definitions[2]) }
            throw Undo()
          }
        } catch is Undo {}
        try tx.declare("users", definitions[1])
      }
      #expect(try database.read { try $0.definition(of: "users") } == definitions[1])
    }
  }

  @Test("stays after closing, and is told by a snapshot")
  func persistence() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    let definition = try library(.deny)
    do {
      let database = try Database(at: path)
      try database.write { tx in try tx.declare("books", definition) }
      try database.close()
    }
    let database = try Database(at: path)
    #expect(try database.read { try $0.definition(of: "books") } == definition)
    #expect(try database.read { try $0.collections.map(\.path) } == ["books"])
    let head = try database.head
    try database.write { tx in try tx.declare("books", definition) }
    #expect(try database.head == head)
    try expectSound(database)
    try database.close()
  }
}
