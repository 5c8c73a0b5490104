import Testing

@testable import LMDB

/// Walking a table in key order.
@Suite("A cursor")
struct CursorTests {
  private let directory: ScratchDirectory
  private let environment: Environment
  private let table: Table

  init() throws {
    directory = try ScratchDirectory()
    environment = try directory.open()
    table = try environment.table("words")
  }

  private func store(_ keys: [String]) throws {
    try environment.write { transaction, table in
      for key in keys { try transaction.put(table, key, "value of \(key)") }
    }
  }

  private func read<R>(_ body: (inout Cursor) throws -> R) throws -> R {
    let transaction = try ReadTransaction(environment, tables: [table])
    var cursor = try Cursor(transaction.access, table)
    return try body(&cursor)
  }

  @Test("finds nothing in an empty table")
  func empty() throws {
    #expect(try read { try !$0.first() })
    #expect(try read { try !$0.last() })
    #expect(try read { try $0.find("a") } == nil)
    #expect(try read { try $0.find(before: "a") } == nil)
  }

  @Test("visits every entry once, in key order, both ways")
  func order() throws {
    let keys = (0..<5_000).map { "key \($0)" }
    try store(keys)
    let forward = try read { cursor in
      var found: [String] = []
      var isThere = try cursor.first()
      while isThere {
        found.append(cursor.key)
        if cursor.text != "value of \(cursor.key)" { found.append("with a wrong value") }
        isThere = try cursor.next()
      }
      return found
    }
    let backward = try read { cursor in
      var found: [String] = []
      var isThere = try cursor.last()
      while isThere {
        found.append(cursor.key)
        isThere = try cursor.previous()
      }
      return found
    }
    #expect(forward == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(backward == forward.reversed())
  }

  @Test(
    "goes to the first entry at or after a key",
    arguments: [("a", "b"), ("b", "b"), ("c", "d"), ("cc", "d"), ("d", "d"), ("f", nil)])
  func seeks(wanted: String, found: String?) throws {
    try store(["b", "d"])
    #expect(try read { try $0.find(wanted) } == found)
  }

  @Test(
    "goes to the last entry before a key",
    arguments: [("a", nil), ("b", nil), ("c", "b"), ("d", "b"), ("z", "d")])
  func seeksBefore(bound: String, found: String?) throws {
    try store(["b", "d"])
    #expect(try read { try $0.find(before: bound) } == found)
  }

  @Test("may seek with a bound that is longer than a key can be")
  func longBound() throws {
    try store(["a", "c"])
    let bound = "b" + String(repeating: "x", count: 600)
    #expect(try read { try $0.find(bound) } == "c")
    #expect(try read { try $0.find(before: bound) } == "a")
  }

  @Test("keeps its view while the table changes")
  func fixed() throws {
    try store(["a", "b", "c"])
    let transaction = try ReadTransaction(environment, tables: [table])
    var cursor = try Cursor(transaction.access, table)
    var found = [try cursor.find("a")]
    try environment.write { transaction, table in
      try transaction.delete(table, "b")
      try transaction.put(table, "c", "another value")
    }
    while try cursor.next() { found.append(cursor.text) }
    #expect(found == ["a", "value of b", "value of c"])
  }

  @Test("sees what its own transaction has written")
  func ownWrites() throws {
    try store(["a"])
    let transaction = try WriteTransaction(environment)
    try transaction.put(table, "b", "new")
    var cursor = try Cursor(transaction.access, table)
    let found = try cursor.find("b")
    let text = cursor.text
    #expect(found == "b")
    #expect(text == "new")
  }
}
