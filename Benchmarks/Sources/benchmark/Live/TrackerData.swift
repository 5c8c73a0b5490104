import Cambium
import FoundationEssentials

/// The data of a tracker of issues: for each issue five comments, and a user for every ten issues,
/// a thousand at most. A key says everything about its object, so that every contender can make it.
struct TrackerData: Sendable {
  let issues: Int

  var users: Int { min(1_000, max(10, issues / 10)) }
  var comments: Int { issues * 5 }

  func user(_ key: Int) -> User {
    var user = User()
    user.id = User.ID(key)
    user.name = "user \(key)"
    return user
  }

  /// One of three issues is closed; a greater key is newer.
  func issue(_ key: Int) -> Issue {
    var issue = Issue()
    issue.id = Issue.ID(key)
    issue.title = "issue \(key &* 7_919 % 100_003)"
    issue.isOpen = key % 3 != 0
    issue.priority = key % 5
    issue.author = User.ID(author(of: key))
    issue.created = TrackerData.moment(of: key)
    return issue
  }

  func author(of issue: Int) -> Int { 1 + issue % users }

  /// The issues of an author, the oldest first.
  func issues(of author: Int) -> some Sequence<Int> {
    stride(from: author == 1 ? users : author - 1, through: issues, by: users)
  }

  static func moment(of issue: Int) -> Date {
    Date(timeIntervalSince1970: Double(1_600_000_000 + issue * 60))
  }

  /// The comments of an issue have keys that follow each other.
  func comment(_ key: Int) -> Comment { comment(key, on: 1 + (key - 1) / 5) }

  func comment(_ key: Int, on issue: Int) -> Comment {
    var comment = Comment()
    comment.id = Comment.ID(key)
    comment.issue = Issue.ID(issue)
    comment.text = "comment \(key)"
    comment.created = Date(timeIntervalSince1970: Double(1_600_000_000 + key * 20))
    return comment
  }

  /// The newest issues that are open.
  func newestOpen(_ count: Int) -> [Int] {
    var keys: [Int] = []
    for key in (1...issues).reversed() where issue(key).isOpen {
      keys.append(key)
      if keys.count == count { break }
    }
    return keys
  }

  // MARK: Databases

  /// Opens a database of the tracker's models. No checkpoint is made: it would run beside what is
  /// measured.
  static func open(_ path: String) throws -> Database {
    var options = Database.Options()
    options.checkpointGrowth = nil
    return try Database(
      at: path, options: options, for: User.self, Issue.self, Comment.self)
  }

  /// Stores everything.
  func load(into database: Database) throws {
    try load(users, into: database, user)
    try load(issues, into: database, issue)
    try load(comments, into: database) { comment($0) }
  }

  private func load<M: Model>(
    _ count: Int, into database: Database, _ make: (Int) -> M
  ) throws {
    for start in stride(from: 1, through: count, by: 20_000) {
      let keys = start..<min(start + 20_000, count + 1)
      try database.write { tx in for key in keys { try tx.insert(make(key)) } }
    }
  }
}
