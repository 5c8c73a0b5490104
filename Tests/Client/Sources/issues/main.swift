// An issue tracker: people, issues and comments with rules between them, a board, an audit that
// nobody had to write, two who edit the same, and a follower that is told of each change.

import Cambium
import Scratch

struct Person: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var assigned: Many<Issue> { many(\.assignee) }
  static let schema = ModelSchema<Person>("people") { Unique(\.name.ignoringCase) }
}

struct Issue: Model {
  typealias Key = Int
  var id = ID()
  var title = ""
  var status = Status.open
  var assignee: Person.ID?
  var resolution: String?
  var comments: Many<Comment> { many(\.issue) }

  enum Status: String, RawProperty { case open, active, closed }

  static let schema = ModelSchema<Issue>("issues") {
    Property(\.assignee).onDelete(.deny).preview(\.name)
    Property(\.resolution).required { $0.status == .closed }
    Index(\.status)
    Count(by: \.status)
  }
}

struct Comment: Model {
  var id = ID()
  var issue: Issue.ID?
  var author: Person.ID?
  var text = ""
  static let schema = ModelSchema<Comment>("comments") {
    Property(\.issue).onDelete(.cascade).required()
    Property(\.author).onDelete(.nullify)
  }
}

func open(_ database: Database) throws {
  var graph = Graph()
  let ada = graph.add(Person(id: "ada", name: "Ada"))
  let crash = graph.add(Issue(id: 1, title: "Crash on start", assignee: ada))
  graph.add(Issue(id: 2, title: "Typo"))
  let bob = graph.add(Person(id: "bob", name: "Bob"))
  graph.add(Comment(issue: crash, author: bob, text: "Here, too"))
  try database.save(graph, actor: "ada")
}

func refuse(_ database: Database) throws {
  do {
    try database.insert(Person(id: "bab", name: "ADA"))
    try check(false)
  } catch is DatabaseError {}
  do {
    try database.delete("ada" as Person.ID)
    try check(false)
  } catch is DatabaseError {}
  do {
    try database.update(2 as Issue.ID) { $0.status = .closed }
    try check(false)
  } catch is ValidationError {}
}

/// Both read, then both write: the second is refused, and reads again.
func editTwice(_ database: Database) throws {
  let seen = try database.snapshot()
  try database.update(1 as Issue.ID, actor: "bob") { $0.status = .active }
  do {
    try database.write(actor: "ada") { tx in
      try tx.expect(unchanged: 1 as Issue.ID, since: seen.sequence)
      try tx.update(1 as Issue.ID) { $0.title = "Crash" }
    }
    try check(false)
  } catch DatabaseError.conflict {}
  try database.update(1 as Issue.ID, actor: "ada") {
    ($0.status, $0.resolution) = (.closed, "fixed")
  }
}

func report(_ database: Database) throws {
  let board = try database.query(Issue.self).group(by: \.status).select { $0.count }
  try check(board.map(\.0) == [.closed, .open] && board.map(\.1) == [1, 1])
  let rows = try database.query(Issue.self).with(\.assignee, \.comments).fetch()
  try check(rows.map { $0.1?.name } == ["Ada", nil] && rows.map(\.2.count) == [1, 0])
  let names = try database.query(Issue.self).select(\.title, \.assignee.name.orNil).fetch()
  try check(names.map(\.1) == ["Ada", nil])

  let closing = try database.blame(Issue.ID(1).path).first { $0.property == "status" }
  guard case .by(let transaction)? = closing?.set else { return try check(false) }
  try check(transaction.metadata["actor"] == "ada")

  try database.delete(1 as Issue.ID)
  try check(database.count(Comment.self) == 0)
  try database.undoLast()
  try check(database.count(Comment.self) == 1)
}

/// All that was done to issues, by whom.
func audit(_ database: Database) async throws -> [String] {
  let head = try database.head
  var lines: [String] = []
  for try await commit in database.changes(after: .zero, under: "issues") {
    lines.append("\(commit.metadata["actor"] ?? "?") \(try commit.changes.fetch().count)")
    if commit.sequence == head { break }
  }
  return lines
}

let directory = try TemporaryDirectory()
let database = try Database(
  at: "\(directory.path)/issues.cambium", for: Person.self, Issue.self, Comment.self)
func useAll(_ database: Database) throws {
  try open(database)
  try refuse(database)
  try editTwice(database)
  try report(database)
  try checkSound(database)
}
try useAll(database)
try check(await audit(database) == ["ada 2", "bob 1", "ada 1", "? 1", "? 1"])
try database.close()
print("issues: ok")
