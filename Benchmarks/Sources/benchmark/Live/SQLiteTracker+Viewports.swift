import Cambium
import FoundationEssentials

// The viewport queries in SQL. Each is prepared once and run again and again, and gives the same
// structs as Cambium does.

extension SQLiteTracker {
  typealias Query<Element> = () throws -> [Element]

  private static let issue = "i.id, i.title, i.isOpen, i.priority, i.author, i.created"
  private static let newest = "WHERE i.isOpen = 1 ORDER BY i.created DESC, i.id DESC"

  /// The newest open issues.
  func newest(_ limit: Int, offset: Int = 0) throws -> Query<Issue> {
    let statement = try database.prepare(
      """
      SELECT \(Self.issue) FROM issues i \(Self.newest) LIMIT \(limit) OFFSET \(offset)
      """)
    return { try statement.all { $0.issue() } }
  }

  /// The newest open issues with their authors.
  func newestWithAuthor(_ limit: Int) throws -> Query<(Issue, User?)> {
    let statement = try database.prepare(
      """
      SELECT \(Self.issue), u.name FROM issues i LEFT JOIN users u ON u.id = i.author
      \(Self.newest) LIMIT \(limit)
      """)
    return {
      try statement.all { line in
        let issue = line.issue()
        guard let author = issue.author, !line.isNull(6) else { return (issue, nil) }
        var user = User()
        (user.id, user.name) = (author, line.text(6))
        return (issue, user)
      }
    }
  }

  /// The newest open issues with the number of their comments.
  func newestWithCount(_ limit: Int) throws -> Query<(Issue, Int)> {
    let statement = try database.prepare(
      """
      SELECT \(Self.issue), (SELECT count(*) FROM comments c WHERE c.issue = i.id) FROM issues i
      \(Self.newest) LIMIT \(limit)
      """)
    return { try statement.all { ($0.issue(), Int($0.integer(6))) } }
  }

  /// The newest open issues, each with its latest comments: in one process a second statement for
  /// each issue costs less than a join that has to number the comments.
  func newestWithComments(_ limit: Int, latest: Int) throws -> Query<(Issue, [Comment])> {
    let issues = try database.prepare(
      "SELECT \(Self.issue) FROM issues i \(Self.newest) LIMIT \(limit)")
    let comments = try database.prepare(
      """
      SELECT id, issue, text, created FROM comments WHERE issue = ?
      ORDER BY created DESC, id DESC LIMIT \(latest)
      """)
    return {
      try issues.all { line in
        let issue = line.issue()
        comments.bind(1, Int64(issue.id.key))
        return (issue, try comments.all { $0.comment() })
      }
    }
  }

  /// One issue with its comments, the oldest first, which is the order of their keys.
  func one(_ key: Int) throws -> Query<(Issue, [Comment])> {
    let issue = try database.prepare("SELECT \(Self.issue) FROM issues i WHERE i.id = \(key)")
    let comments = try database.prepare(
      "SELECT id, issue, text, created FROM comments WHERE issue = \(key) ORDER BY created, id")
    return {
      try issue.all { line in (line.issue(), try comments.all { $0.comment() }) }
    }
  }
}

extension Statement {
  /// The results of a query, each made of the line that the statement is at.
  func all<Element>(_ make: (Statement) throws -> Element) throws -> [Element] {
    defer { reset() }
    var elements: [Element] = []
    while try step() { elements.append(try make(self)) }
    return elements
  }

  fileprivate func issue() -> Issue {
    var issue = Issue()
    issue.id = Issue.ID(Int(integer(0)))
    issue.title = text(1)
    issue.isOpen = integer(2) != 0
    issue.priority = Int(integer(3))
    issue.author = isNull(4) ? nil : User.ID(Int(integer(4)))
    issue.created = Date(timeIntervalSince1970: Double(integer(5)))
    return issue
  }

  fileprivate func comment() -> Comment {
    var comment = Comment()
    comment.id = Comment.ID(Int(integer(0)))
    comment.issue = Issue.ID(Int(integer(1)))
    comment.text = text(2)
    comment.created = Date(timeIntervalSince1970: Double(integer(3)))
    return comment
  }
}
