import Cambium
import FoundationEssentials

// The models of the live suite, after the data on which Rindle publishes its figures: issues of
// users, with comments.

struct User: Model {
  typealias Key = Int
  var id = ID()
  var name = ""
  static let schema = ModelSchema<User>("users")

  init() {}

  init(key: Int) {
    id = ID(key)
    name = "user \(key)"
  }
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

  init() {}

  /// The issue of a key; one of three is closed.
  init(key: Int) {
    id = ID(key)
    title = "issue \(key &* 7_919 % 100_003)"
    isOpen = key % 3 != 0
    priority = key % 5
    author = User.ID(1 + key % 1_000)
    created = Date(timeIntervalSince1970: Double(1_600_000_000 + key * 60))
  }
}

struct Comment: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var issue: Issue.ID?
  var text = ""
  var created = Date(timeIntervalSince1970: 0)

  static let schema = ModelSchema<Comment>("comments") { Index(\.issue, \.created) }

  init() {}

  init(key: Int, issues: Int) {
    id = ID(key)
    issue = Issue.ID(1 + key % issues)
    text = "comment \(key)"
    created = Date(timeIntervalSince1970: Double(1_600_000_000 + key * 20))
  }
}
