import Cambium
import FoundationEssentials

/// The tracker in SQLite, in memory unless a file is named: prepared statements, and the index that
/// each query needs, so that none of them sorts or scans.
final class SQLiteTracker {
  static let name = "SQLite"

  let database: SQLiteDatabase
  private var statements: [String: Statement] = [:]

  init(path: String = ":memory:") throws { database = try SQLiteDatabase(path: path) }

  private static let schema = [
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
    """
    CREATE TABLE issues (id INTEGER PRIMARY KEY, title TEXT, isOpen INTEGER, priority INTEGER,
    author INTEGER, created INTEGER)
    """,
    "CREATE TABLE comments (id INTEGER PRIMARY KEY, issue INTEGER, text TEXT, created INTEGER)",
    "CREATE INDEX issues_open ON issues(isOpen, created)",
    "CREATE INDEX issues_author ON issues(author)",
    "CREATE INDEX comments_issue ON comments(issue, created)",
  ]

  /// Stores everything.
  func load(_ data: TrackerData) throws {
    for sql in SQLiteTracker.schema { try database.run(sql) }
    try database.transaction {
      for key in 1...data.users { try insert(data.user(key)) }
      for key in 1...data.issues { try insert(data.issue(key)) }
      for key in 1...data.comments { try insert(data.comment(key)) }
    }
  }

  /// Copies everything into a file.
  func copy(to path: String) throws { try database.run("VACUUM INTO '\(path)'") }

  // MARK: Changes

  func make(_ change: TrackerChange) throws {
    switch change {
    case .newIssue(let issue): try insert(issue)
    case .prioritized(let key, let priority):
      try run("UPDATE issues SET priority = ? WHERE id = ?", priority, key)
    case .opened(let key, let isOpen):
      try run("UPDATE issues SET isOpen = ? WHERE id = ?", isOpen ? 1 : 0, key)
    case .deletedIssue(let key): try run("DELETE FROM issues WHERE id = ?", key)
    case .renamed(let key, let name):
      try run("UPDATE users SET name = ? WHERE id = ?", text: name, key)
    case .newComment(let comment): try insert(comment)
    case .edited(let key, let text):
      try run("UPDATE comments SET text = ? WHERE id = ?", text: text, key)
    case .deletedComment(let key): try run("DELETE FROM comments WHERE id = ?", key)
    }
  }

  private func insert(_ user: User) throws {
    try run("INSERT INTO users (name, id) VALUES (?, ?)", text: user.name, user.id.key)
  }

  private func insert(_ issue: Issue) throws {
    try run(
      """
      INSERT INTO issues (title, id, isOpen, priority, author, created) VALUES (?, ?, ?, ?, ?, ?)
      """, text: issue.title, issue.id.key, issue.isOpen ? 1 : 0, issue.priority,
      issue.author?.key ?? 0, Int(issue.created.timeIntervalSince1970))
  }

  private func insert(_ comment: Comment) throws {
    try run(
      "INSERT INTO comments (text, id, issue, created) VALUES (?, ?, ?, ?)", text: comment.text,
      comment.id.key, comment.issue?.key ?? 0, Int(comment.created.timeIntervalSince1970))
  }

  /// Runs a statement with a text as its first value, if there is one, and numbers behind it.
  private func run(_ sql: String, text: String? = nil, _ numbers: Int...) throws {
    let statement = try prepared(sql)
    for (index, number) in numbers.enumerated() {
      statement.bind(Int32(index + (text == nil ? 1 : 2)), Int64(number))
    }
    guard let text else { return try statement.runOnce() }
    try statement.binding(text, at: 1) { try statement.runOnce() }
  }

  private func prepared(_ sql: String) throws -> Statement {
    if let statement = statements[sql] { return statement }
    let statement = try database.prepare(sql)
    statements[sql] = statement
    return statement
  }
}
