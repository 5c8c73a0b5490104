import Testing

@testable import Cambium

@Suite("Searching texts") struct SearchTests {
  private static let texts = [
    "The whale is white.", "A white whale, a whale of a tale.", "Walrus and carpenter",
    "Der Wal, ein Säugetier", "Nothing of the kind",
  ]

  private func withBooks(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.write { tx in
        var definition = CollectionDefinition()
        definition.properties = [PropertyDefinition("text", .string)]
        definition.views = [ViewDefinition(.text(["text"], language: "en"))]
        try tx.declare("books", definition)
        for (index, text) in SearchTests.texts.enumerated() {
          let path = NodePath(keys: ["books", .integer(Int64(index + 1))])
          try tx.set(path, to: .map(["text": .string(text)]))
        }
      }
      try body(database)
    }
  }

  private func expect(
    _ snapshot: Snapshot, _ query: String, limit: Int = 20, finds keys: [Key]
  ) throws {
    let found = try snapshot.search("books", for: TextQuery(parsing: query), limit: limit)
    #expect(found.map(\.key) == keys, "\(query)")
  }

  @Test("finds the best first, now, in a transaction, and in the past")
  func moments() throws {
    try withBooks { database in
      try database.read { snapshot in
        try expect(snapshot, "whales", finds: [2, 1])
        try expect(snapshot, "whales", limit: 1, finds: [2])
        try expect(snapshot, "\"white whale\"", finds: [2])
        try expect(snapshot, "wal*", finds: [3, 4])
        try expect(snapshot, "saugetier OR carpenters", finds: [3, 4])
        try expect(snapshot, "-whale -wal", finds: [3, 5])
        try expect(snapshot, "zebra", finds: [])
      }
      try database.write { tx in
        try tx.set("books/1", to: ["text": "Gone"])
        try expect(tx[.root].snapshot, "whale", finds: [2])
      }
      for query in ["whale", "wal*", "white whale", "-whale", "a OR (wal AND ein)"] {
        let (past, present) = try database.read(at: .sequence(1)) { past in
          let text = try TextQuery(parsing: query)
          return (
            try past.search("books", for: text),
            try database.write { tx in
              try tx.set("books/1", to: ["text": .string(SearchTests.texts[0])])
              return try tx[.root].snapshot.search("books", for: text)
            }
          )
        }
        #expect(past == present, "\(query)")
      }
    }
  }

  @Test("says what it cannot do")
  func refusals() throws {
    try withBooks { database in
      try database.read { snapshot in
        #expect(throws: DatabaseError.self) { try snapshot.search("people", for: .word("a")) }
        #expect(throws: DatabaseError.self) {
          try snapshot.search("books", for: .word("a"), properties: ["title"])
        }
        #expect(throws: DatabaseError.self) {
          try snapshot.search("books", for: .within("title", .word("a")))
        }
      }
    }
  }

  @Test("shows where in a text it was found")
  func snippets() throws {
    try withBooks { database in
      let text = "One, two, three whales; four five Whale white — six seven eight."
      try database.read { snapshot in
        let query = try TextQuery(parsing: "\"white whale\" -five")
        let piece = try snapshot.snippet(of: text, for: query, in: "books", words: 5)
        #expect(piece.text == "whales; four five Whale white")
        #expect(piece.highlights.map { piece.text[$0] } == ["whales", "Whale", "white"])
        #expect(piece.isCutAtStart && piece.isCutAtEnd)
        let all = try snapshot.snippet(of: text, for: query, in: "books", words: 50)
        #expect(all.text == text)
        #expect(!all.isCutAtStart && !all.isCutAtEnd)
        let none = try snapshot.snippet(of: text, for: .word("zebra"), in: "books", words: 2)
        #expect(none.text == "One, two" && none.highlights == [])
        let empty = try snapshot.snippet(of: "", for: .word("zebra"), in: "books")
        #expect(empty.text == "")
        let wal = try snapshot.snippet(of: "ein Säugetier", for: .prefix("sau"), in: "books")
        #expect(wal.highlights.map { wal.text[$0] } == ["Säugetier"])
      }
    }
  }
}
