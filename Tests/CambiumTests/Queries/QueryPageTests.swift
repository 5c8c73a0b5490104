// Goal: pages continue after the place where they ended, whatever has become of the record there.
// Method: texts that are longer than an index keeps, so that entries lie out of order and are
// sorted; after each page the record at its end is removed, or moved to the front. Then random
// queries, of which other indexes and views are declared after each page.
//
// It finds, planted: an index that a cursor was not made with, and that is walked from its start.

import Simulation
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

  @Test("go on where they ended, though an index has their order now")
  func declaredLater() throws {
    try withDatabase { database in
      for number in 0..<20 {
        let title = String(UnicodeScalar(UInt8(97 + number * 7 % 20)))
        try database.write {
          try $0.set(
            NodePath(keys: ["things", .integer(Int64(number))]),
            to: ["title": .string(title), "kind": .integer(Int64(number % 2))])
        }
      }
      var definition = CollectionDefinition()
      definition.properties = [PropertyDefinition("title", .string)]
      definition.indexes = [
        IndexDefinition([.init("title")]), IndexDefinition([.init("kind"), .init("title")]),
      ]
      definition.views = [ViewDefinition(.top(by: [], [.init("title")]))]
      let texts = [
        "things", "things sort title", "things sort -title", "things sort title, id",
        "things where kind = 1 sort title", "things where kind = 1", "things where title > \"c\"",
      ]
      let firsts = try texts.map { text in
        var query = try QueryDescription(parsing: "\(text) limit 5")
        let first = try Self.page(&query, database)
        return (first, query)
      }
      try database.write { [definition] in try $0.declare("things", definition) }
      for (text, (first, query)) in zip(texts, firsts) {
        var (query, found) = (query, first)
        while query.after != nil && found.count <= 20 { found += try Self.page(&query, database) }
        var whole = try QueryDescription(parsing: text)
        #expect(Set(try Self.page(&whole, database)) == Set(found), "\(text)")
        #expect(Set(found).count == found.count, "\(text): \(found)")
      }
    }
  }

  /// The keys of a page; the query is then for the next.
  private static func page(_ query: inout QueryDescription, _ database: Database) throws -> [Key] {
    let run = try QueryRun(query, on: try database.snapshot())
    var keys: [Key] = []
    try run.forEach { key, _ in
      keys.append(try Key(key))
      return true
    }
    query.after = run.cursor
    return keys
  }

  @Test(
    "have each record once, whatever is declared between them",
    arguments: SeededGenerator.seeds(Array(1...8)))
  func declarations(seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      try database.write { tx in
        try tx.declare(
          RandomConditions.people, RandomConditions.definitions[RandomConditions.people])
        try tx.declare(RandomConditions.things, random.thingDefinition())
        for number in 0..<60 {
          let key: Key = number % 3 > 0 ? .text("p\(number)") : .integer(Int64(number))
          try tx.set(
            RandomConditions.things.appending(key),
            to: .map(random.record(RandomConditions.properties)))
        }
        for number in 0..<5 {
          try tx.set(
            RandomConditions.people.appending(.text("p\(number)")),
            to: .map(random.record(RandomConditions.personNames)))
        }
      }
      for _ in 0..<60 {
        var query = random.query()
        (query.limit, query.offset) = (nil, 0)
        // A condition that compares a key with what is no key is refused.
        guard query.selection == nil, var whole = Optional(query),
          let all = try? Self.page(&whole, database)
        else { continue }
        query.limit = 1 + random.random.below(9)
        var found: [Key] = []
        repeat {
          do { found += try Self.page(&query, database) } catch is QueryError {
            // The index of the cursor is gone.
            #expect(query.after?.index != nil)
            found = all
            break
          }
          if random.random.chance(oneIn: 3) {
            let definition = random.thingDefinition()
            try database.write { try $0.declare(RandomConditions.things, definition) }
          }
        } while query.after != nil && found.count <= all.count
        #expect(found.count == all.count && Set(found) == Set(all), "seed \(seed): \(query)")
      }
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
