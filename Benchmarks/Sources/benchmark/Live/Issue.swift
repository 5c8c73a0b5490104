import Cambium
import FoundationEssentials

// The models of the live suite, after the data on which Rindle publishes its figures: issues of
// users, with comments.

struct User: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  static let schema = ModelSchema<User>("users")
}

struct Issue: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var title = ""
  var isOpen = true
  var priority = 0
  var author: User.ID?
  var created = Date(timeIntervalSince1970: 0)
  var comments: Many<Comment> { many(\.issue) }

  static let schema = ModelSchema<Issue>("issues") {
    Index(\.isOpen, \.created)
    Index(\.author)
  }
}

struct Comment: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var issue: Issue.ID?
  var text = ""
  var created = Date(timeIntervalSince1970: 0)

  static let schema = ModelSchema<Comment>("comments") { Index(\.issue, \.created) }
}

extension Digest {
  mutating func add(_ user: User) {
    add(Int64(user.id.key))
    add(user.name)
  }

  mutating func add(_ issue: Issue) {
    add(Int64(issue.id.key))
    add(issue.title)
    add(Int64(issue.isOpen ? 1 : 0))
    add(Int64(issue.priority))
    add(Int64(issue.author?.key ?? 0))
    add(Int64(issue.created.timeIntervalSince1970))
  }

  mutating func add(_ comment: Comment) {
    add(Int64(comment.id.key))
    add(Int64(comment.issue?.key ?? 0))
    add(comment.text)
    add(Int64(comment.created.timeIntervalSince1970))
  }
}
