/// Documents in SQLite's FTS5, which keeps their texts as well.
final class SQLiteDocuments: DocumentStore {
  static let name = "SQLite"

  private let database: SQLiteDatabase
  private let insert: Statement
  private let update: Statement
  private let select: Statement

  init(directory: String, isSoon: Bool) throws {
    database = try SQLiteDatabase(path: directory + "/documents.sqlite", isSoon: isSoon)
    try database.run("CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts5(body)")
    insert = try database.prepare("INSERT INTO documents (rowid, body) VALUES (?, ?)")
    update = try database.prepare("UPDATE documents SET body = ?2 WHERE rowid = ?1")
    select = try database.prepare(
      "SELECT rank FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT 20")
  }

  func load(_ texts: [String], perTransaction: Int) throws {
    for start in stride(from: 0, to: texts.count, by: perTransaction) {
      try database.transaction {
        for index in start..<min(start + perTransaction, texts.count) {
          insert.bind(1, Int64(index + 1))
          try insert.binding(texts[index], at: 2) { try insert.runOnce() }
        }
      }
    }
  }

  func change(_ number: Int, to text: String) throws {
    update.bind(1, Int64(number))
    try database.transaction { try update.binding(text, at: 2) { try update.runOnce() } }
  }

  func search(_ search: DocumentSearch) throws -> [Double] {
    let query =
      switch search {
      case .word(let word): word
      case .beginning(let word): word + "*"
      case .phrase(let words): "\"\(words)\""
      case .all(let one, let other): "\(one) AND \(other)"
      }
    var scores: [Double] = []
    try select.binding(query, at: 1) {
      while try select.step() { scores.append(-select.double(0)) }
      select.reset()
    }
    return scores
  }

  func rebuild() throws { try database.run("INSERT INTO documents(documents) VALUES('rebuild')") }

  /// The statements close it with the last of them.
  func close() throws {}
}
