// Goal: pages continue after the place where they ended, whatever has become of the record there.
// Method: texts that are longer than an index keeps, so that entries lie out of order and are
// sorted; after each page the record at its end is removed, or moved to the front.

import Testing

@testable import Cambium

@Suite("Pages of a query")
struct QueryPageTests {
  /// In the order of their titles, which that of their keys is not. An entry has 511 bytes: the
  /// long key leaves so little room that its title is cut before it differs from the others.
  private static let keys: [Key] = [
    "m", "c", .text(String(repeating: "x", count: 60)), "k", "a", "z", "b", "y", "d",
  ]

  private func withThings(startBytes: Int, _ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.properties = [PropertyDefinition("title", .string)]
      definition.indexes = [IndexDefinition([.init("title")])]
      let start = String(repeating: "a", count: startBytes)
      try database.write { tx in
        try tx.declare("things", definition)
        for (number, key) in Self.keys.dropLast().enumerated() {
          try tx.set(NodePath(keys: ["things", key]), to: ["title": .string("\(start)\(number)")])
        }
        try tx.set("things/d", to: ["title": "b"])
      }
      try body(database)
    }
  }

  /// All keys, a page after the other; `between` has the last key of each.
  private func pages(
    _ text: String, _ database: Database, usesIndex: Bool, between: (Key) throws -> Void = { _ in }
  ) throws -> [Key] {
    var query = try QueryDescription(parsing: text)
    var keys: [Key] = []
    repeat {
      let run = try QueryRun(query, on: try database.snapshot())
      #expect(run.plan.usesIndexOrder == usesIndex)
      try run.forEach { key, _ in
        keys.append(try Key(key))
        return true
      }
      query.after = try run.cursor.map { try #require(QueryCursor($0.description)) }
      if let last = keys.last { try between(last) }
      // The limit on the keys is for pages that repeat, which would never end.
    } while query.after != nil && keys.count <= Self.keys.count
    return keys
  }

  @Test("go on behind a record that is gone", arguments: 1...4)
  func gone(size: Int) throws {
    try withThings(startBytes: 480) { database in
      let found = try pages("things sort title limit \(size)", database, usesIndex: true) { last in
        _ = try database.write { try $0.remove(NodePath(keys: ["things", last])) }
      }
      #expect(found == Self.keys)
    }
  }

  @Test("go on behind where a record was", arguments: 1...4)
  func moved(size: Int) throws {
    try withThings(startBytes: 480) { database in
      let found = try pages("things sort title limit \(size)", database, usesIndex: true) { last in
        try database.write { try $0.set(NodePath(keys: ["things", last]), to: ["title": "0"]) }
      }
      #expect(found == Self.keys)
    }
  }

  @Test("go on in texts of any length, where no index has their order")
  func long() throws {
    try withThings(startBytes: 70_000) { database in
      let found = try pages("things sort -title limit 2", database, usesIndex: false)
      #expect(found == Self.keys.reversed())
    }
  }
}
