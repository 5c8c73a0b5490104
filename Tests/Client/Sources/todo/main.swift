// A to-do list at the command line, to read and to play with: `todo add Buy milk`. TodoList.swift
// has what it does; the article on it has a session. Without a command it tries itself.

import Cambium
import FoundationEssentials
import Scratch

let usage = """
  usage: todo add TITLE… | list | done N | remove N | undo | redo | history N | watch

  The list is todo.cambium in this folder, or what LIST names. USER signs the changes.
  """

func run(_ arguments: [String], _ list: TodoList) async throws {
  let id = arguments.dropFirst().first.flatMap { Int($0) }.map { Todo.ID($0) }
  switch (arguments[0], id) {
  case ("add", _): _ = try await list.add(arguments.dropFirst().joined(separator: " "))
  case ("done", let id?): try await list.finish(id)
  case ("remove", let id?): if try await !list.remove(id) { print("there is none") }
  case ("undo", _): if try await !list.undo() { print("there is nothing to undo") }
  case ("redo", _): if try await !list.redo() { print("there is nothing to redo") }
  case ("history", let id?): return try list.history(of: id).forEach { print($0) }
  case ("watch", _): return try await list.watch(after: list.database.head) { print($0) }
  case ("list", _): break
  default: return print(usage)
  }
  try list.lines().forEach { print($0) }
}

/// Tries everything in a list of its own, which two people share.
func tryAll() async throws {
  let directory = try TemporaryDirectory()
  defer { withExtendedLifetime(directory) {} }
  let path = "\(directory.path)/todo.cambium"
  let first = try Database(at: path, for: Todo.self)
  let (ada, bob) = (TodoList(database: first, user: "ada"), TodoList(database: first, user: "bob"))
  let milk = try await ada.add("Buy milk")
  _ = try await bob.add("Call Ada")
  do {
    _ = try await bob.add("")
    try check(false)
  } catch let error as ValidationError { try check(error.messages == ["title must not be empty"]) }
  try await ada.finish(milk)
  try check(ada.lines() == ["[ ] 2 Call Ada", "[x] 1 Buy milk"])
  try check(await bob.undo())
  try check(bob.lines() == ["[x] 1 Buy milk"])
  try check(await bob.redo())
  try await first.close()

  let second = try Database(at: path, for: Todo.self)
  let again = TodoList(database: second, user: "ada")
  try check(await again.undo())
  try check(again.lines() == ["[ ] 1 Buy milk", "[ ] 2 Call Ada"])
  try check(again.history(of: milk).count == 3)
  var heard: [String] = []
  try await again.watch(after: .zero, upTo: second.head) { heard.append($0) }
  try check(heard.count == 6 && heard.last == "ada reopened 1")
  try checkSound(second)
  try await second.close()
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.isEmpty {
  try await tryAll()
  print("todo: ok")
} else {
  let surroundings = ProcessInfo.processInfo.environment
  let database = try Database(at: surroundings["LIST"] ?? "todo.cambium", for: Todo.self)
  do {
    try await run(arguments, TodoList(database: database, user: surroundings["USER"] ?? "me"))
  } catch {
    print(error)
  }
  try database.close()
}
