import Cambium

/// One change of a tracker, which every contender makes in a transaction of its own.
enum TrackerChange {
  case newIssue(Issue)
  case prioritized(issue: Int, Int)
  case opened(issue: Int, Bool)
  case deletedIssue(Int)
  case renamed(user: Int, String)
  case newComment(Comment)
  case edited(comment: Int, String)
  case deletedComment(Int)

  func make(in database: Database) throws {
    try database.write { tx in
      switch self {
      case .newIssue(let issue): try tx.insert(issue)
      case .prioritized(let key, let priority):
        try tx.update(Issue.ID(key)) { $0.priority = priority }
      case .opened(let key, let isOpen): try tx.update(Issue.ID(key)) { $0.isOpen = isOpen }
      case .deletedIssue(let key): try tx.delete(Issue.ID(key))
      case .renamed(let key, let name): try tx.update(User.ID(key)) { $0.name = name }
      case .newComment(let comment): try tx.insert(comment)
      case .edited(let key, let text): try tx.update(Comment.ID(key)) { $0.text = text }
      case .deletedComment(let key): try tx.delete(Comment.ID(key))
      }
    }
  }
}

/// Kinds of changes that are made one after another, each of which concerns the query that they are
/// made for. After all of them the query's result is about as before.
struct ChangeCycle {
  /// Cycles have numbers that never come again, so that each change makes a difference.
  typealias Kind = (name: String, change: (_ cycle: Int) -> TrackerChange)

  let kinds: [Kind]
}

extension ChangeCycle {
  /// Changes of a list of the newest open issues: one comes and goes at the top of all, others
  /// change, close and open again within the list, before which `offset` issues lie.
  static func list(_ data: TrackerData, offset: Int = 0) -> ChangeCycle {
    let open = data.newestOpen(offset + 45)
    let inner = Array(open.dropFirst(offset + 5))
    let key = { (cycle: Int) in inner[cycle % inner.count] }
    let new = { (cycle: Int) in data.issues + 1 + cycle }
    return ChangeCycle(kinds: [
      ("new", { .newIssue(issue(new($0), in: data)) }),
      ("prioritized", { .prioritized(issue: key($0), 5 + $0) }),
      ("closed", { .opened(issue: key($0), false) }),
      ("opened", { .opened(issue: key($0), true) }),
      ("deleted", { .deletedIssue(new($0)) }),
    ])
  }

  /// Also changes of the issues' authors.
  static func listWithAuthor(_ data: TrackerData) -> ChangeCycle {
    let open = data.newestOpen(40)
    let author = { (cycle: Int) in data.author(of: open[cycle % open.count]) }
    return ChangeCycle(
      kinds: list(data).kinds + [
        ("author renamed", { .renamed(user: author($0), "renamed \($0)") })
      ])
  }

  /// Also changes of the issues' comments.
  static func listWithComments(_ data: TrackerData) -> ChangeCycle {
    let open = data.newestOpen(40)
    let new = { (cycle: Int) in
      data.comment(data.comments + 1 + cycle, on: open[cycle % open.count])
    }
    return ChangeCycle(
      kinds: list(data).kinds + [
        ("comment added", { .newComment(new($0)) }),
        ("comment deleted", { .deletedComment(new($0).id.key) }),
      ])
  }

  /// Changes of one issue and its comments.
  static func one(_ issue: Int, _ data: TrackerData) -> ChangeCycle {
    let new = { (cycle: Int) in data.comments + 1 + cycle }
    return ChangeCycle(kinds: [
      ("prioritized", { .prioritized(issue: issue, 5 + $0) }),
      ("comment added", { .newComment(data.comment(new($0), on: issue)) }),
      ("edited", { .edited(comment: new($0), "edited \($0)") }),
      ("deleted", { .deletedComment(new($0)) }),
    ])
  }

  /// An issue that is open, whatever its key.
  private static func issue(_ key: Int, in data: TrackerData) -> Issue {
    var issue = data.issue(key)
    issue.isOpen = true
    return issue
  }
}
