/// SQLite as its users run it: prepared statements, WAL, a flush per commit, a memory map.
@safe final class SQLiteContender: Contender {
  static let name = "SQLite"

  private let database: SQLiteDatabase
  private let insert: Statement
  private let selectName: Statement
  private let selectItem: Statement
  private let selectSum: Statement
  private let updateCount: Statement
  private let delete: Statement

  init(directory: String, isSoon: Bool) throws {
    database = try SQLiteDatabase(path: directory + "/items.sqlite", isSoon: isSoon)
    try database.run(
      """
      CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, city TEXT, note TEXT, count INTEGER,
      score INTEGER, weight REAL, active INTEGER)
      """)
    insert = try database.prepare("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    selectName = try database.prepare("SELECT name FROM items WHERE id = ?")
    selectItem = try database.prepare(
      "SELECT name, city, note, count, score, weight, active FROM items WHERE id = ?")
    selectSum = try database.prepare("SELECT sum(score) FROM items")
    updateCount = try database.prepare("UPDATE items SET count = ? WHERE id = ?")
    delete = try database.prepare("DELETE FROM items WHERE id = ?")
  }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      try database.transaction {
        for offset in piece {
          try store(items[items.startIndex + offset], key: first + offset)
        }
      }
    }
  }

  private func store(_ item: Item, key: Int) throws {
    insert.bind(1, Int64(key))
    insert.bind(5, item.count)
    insert.bind(6, item.score)
    insert.bind(7, item.weight)
    insert.bind(8, Int64(item.active ? 1 : 0))
    try insert.binding(item.name, at: 2) {
      try insert.binding(item.city, at: 3) {
        try insert.binding(item.note, at: 4) { try insert.runOnce() }
      }
    }
  }

  func readName(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.transaction {
      for key in keys {
        selectName.bind(1, Int64(key))
        guard try selectName.step() else { throw BenchmarkError("SQLite has no \(key)") }
        digest.add(selectName.text(0))
        selectName.reset()
      }
    }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.transaction {
      for key in keys {
        selectItem.bind(1, Int64(key))
        guard try selectItem.step() else { throw BenchmarkError("SQLite has no \(key)") }
        let item = Item(
          name: selectItem.text(0), city: selectItem.text(1), note: selectItem.text(2),
          count: selectItem.integer(3), score: selectItem.integer(4),
          weight: selectItem.double(5), active: selectItem.integer(6) != 0)
        digest.add(item)
        selectItem.reset()
      }
    }
    return digest
  }

  func sumScores() throws -> Int64 {
    guard try selectSum.step() else { throw BenchmarkError("SQLite has no sum") }
    defer { selectSum.reset() }
    return selectSum.integer(0)
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      try database.transaction {
        for change in changes[piece] {
          updateCount.bind(1, change.count)
          updateCount.bind(2, Int64(change.key))
          try updateCount.runOnce()
        }
      }
    }
  }

  func remove(_ keys: [Int], perTransaction: Int) throws {
    try pieces(of: keys.count, perTransaction) { piece in
      try database.transaction {
        for key in keys[piece] {
          delete.bind(1, Int64(key))
          try delete.runOnce()
        }
      }
    }
  }
}
