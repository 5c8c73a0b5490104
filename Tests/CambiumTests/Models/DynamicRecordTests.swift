import Testing

@testable import Cambium

@Suite("A dynamic record")
struct DynamicRecordTests {
  @Test("has what is stored, and is written by the rules of all writers")
  func readingAndWriting() throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.properties = [PropertyDefinition("number", .integer)]
      try database.write { tx in
        try tx.declare("flights", definition)
        try tx.insert(DynamicRecord("flights/1", ["number": 1545, "carrier": "UA"]))
        try tx.set("note", to: "single")
        #expect(try tx["flights/1"].record?["number"] == 1545)
      }
      var record = try #require(try database.read { try $0["flights/1"].record })
      #expect(record.key == 1 && record.path == "flights/1")
      #expect(record.names == ["carrier", "number"])
      #expect(try record["number", as: Int.self] == 1545)
      #expect(try record["gate", as: Int?.self] == nil)
      #expect(
        throws: PropertyError(path: "flights/1", property: "gate", reason: "the record has none")
      ) { try record["gate", as: Int.self] }
      #expect(throws: PropertyError.self) { try record["carrier", as: Int.self] }
      #expect(try database.read { try $0["note"].record } == nil)
      #expect(try database.read { try $0["flights"].record } == nil)

      record["carrier"] = nil
      record["gate"] = 7
      try database.write { tx in
        #expect(try tx.upsert(record) == .updated)
        #expect(try tx.upsert(record) == .unchanged)
        let isChanged = try tx.update("flights/1") { $0["gate"] = 8 }
        #expect(isChanged)
        #expect(throws: DatabaseError.self) { try tx.insert(record) }
        #expect(throws: DatabaseError.self) { try tx.update("flights/1") { $0["number"] = "x" } }
        #expect(throws: DatabaseError.self) { try tx.update("flights/2") { $0["number"] = 2 } }
        #expect(throws: DatabaseError.self) { try tx.update("flights/1") { $0.path = "a" } }
        record.path = "flights/2"
        #expect(try tx.upsert(record) == .inserted)
      }
      #expect(try database.read { try $0["flights/1"].value } == ["number": 1545, "gate": 8])
      #expect(try database.read { try $0["flights/2"].value } == ["number": 1545, "gate": 7])
    }
  }
}
