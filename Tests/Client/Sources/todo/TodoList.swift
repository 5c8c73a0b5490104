// A task, and all that can be done with a list of them. Each change is signed with the name of who
// makes it, so that everybody undoes only what is their own.

import Cambium
import FoundationEssentials

struct Todo: Model {
  typealias Key = Int
  var id = ID()
  var title = ""
  var isDone = false

  static let schema = ModelSchema<Todo>("todos") {
    Property(\.title).validated("must not be empty") { !$0.isEmpty }
    Count(by: \.isDone)
  }
}

struct TodoList {
  let database: Database
  let user: String

  private var author: Authorship { Authorship(actor: user) }

  func add(_ title: String) async throws -> Todo.ID {
    try await database.insert(Todo(title: title), actor: user)
  }

  func finish(_ id: Todo.ID) async throws {
    try await database.update(id, actor: user) { $0.isDone = true }
  }

  func remove(_ id: Todo.ID) async throws -> Bool {
    try await database.delete(id, actor: user)
  }

  /// Takes back the user's own last change, also one of an earlier launch; false if there is none.
  func undo() async throws -> Bool { try await database.undoLast(of: author) != nil }

  func redo() async throws -> Bool { try await database.redo(of: author) != nil }

  /// The tasks that are open, then those that are done.
  func lines() throws -> [String] {
    try database.query(Todo.self).order(by: \.isDone, \.id).fetch().map { todo in
      "\(todo.isDone ? "[x]" : "[ ]") \(todo.id.key) \(todo.title)"
    }
  }

  /// Each change of a task, with its time and who made it, the newest first.
  func history(of id: Todo.ID) throws -> [String] {
    try database.history(of: id).reversed().fetch().map { revision in
      let user = revision.metadata["actor"] ?? "?"
      return "\(revision.time) \(user) \(TodoList.words(for: revision.change))"
    }
  }

  /// Reports each change, of this process and of others, until the task is cancelled.
  func watch(
    after start: SequenceNumber, upTo last: SequenceNumber? = nil, _ tell: (String) -> Void
  ) async throws {
    for try await commit in database.changes(after: start, under: "todos") {
      for change in try commit.changes(of: Todo.self) {
        tell("\(commit.metadata["actor"] ?? "?") \(TodoList.words(for: change))")
      }
      if commit.sequence == last { return }
    }
  }

  private static func words(for change: ModelChange<Todo>) -> String {
    switch change {
    case .created(let todo): "added \(todo.id.key) \(todo.title)"
    case .updated(let todo, from: _): "\(todo.isDone ? "finished" : "reopened") \(todo.id.key)"
    case .deleted(let todo): "removed \(todo.id.key) \(todo.title)"
    }
  }
}
