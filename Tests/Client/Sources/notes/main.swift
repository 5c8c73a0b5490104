// Notes: full text, tags, a title that must not be empty, an undo that survives closing, and a past
// that makes a wastebasket needless.

import Cambium
import Scratch

struct Note: Model {
  var id = ID()
  var title = ""
  var body = ""
  var tags: Set<String> = []

  static let schema = ModelSchema<Note>("notes") {
    Property(\.title).validated("must not be empty") { !$0.isEmpty }
    Index(\.title.ignoringCase)
    TextIndex(\.title, \.body, language: "en")
  }
}

struct Notes {
  let database: Database

  init(at path: String) throws { database = try Database(at: path, for: Note.self) }

  func titles(tagged tag: String) throws -> [String] {
    try database.query(Note.self).where { $0.tags.contains(tag) }
      .order(by: \.title.ignoringCase).select(\.title).fetch()
  }

  func titles(about text: String) throws -> [String] {
    try database.query(Note.self).search(text).map(\.model.title)
  }

  /// Every title that a note has had, the newest first.
  func titles(of id: Note.ID) throws -> [String] {
    try database.history(of: id).reversed().fetch()
      .filter { $0.change.affects(\.title) }.compactMap(\.model?.title)
  }
}

func writeAndChange(_ path: String) throws -> (Note.ID, SequenceNumber) {
  let notes = try Notes(at: path)
  let database = notes.database
  let list = try database.insert(Note(title: "shopping", body: "Apples, running shoes"))
  try database.insert(Note(title: "Ideas", body: "Run a marathon", tags: ["sport"]))
  try database.write { tx in try tx.insert("sport", into: list, \.tags) }
  try check(notes.titles(tagged: "sport") == ["Ideas", "shopping"])
  try check(Set(notes.titles(about: "runs")) == ["Ideas", "shopping"])
  try check(notes.titles(about: "run -marathon") == ["shopping"])

  do {
    try database.update(list) { $0.title = "" }
    try check(false)
  } catch let error as ValidationError {
    try check(error.messages(for: "title").count == 1)
  }
  try database.update(list) { $0.title = "Shopping list" }
  let removal = try database.write { tx in
    try tx.delete(list)
    return tx.sequence
  }
  try check(notes.titles(about: "apples") == [])
  try database.close()
  return (list, removal)
}

func takeBack(_ path: String, _ list: Note.ID, _ removal: SequenceNumber) throws {
  let notes = try Notes(at: path)
  let database = notes.database
  try check(database.find(list) == nil)
  try database.undoLast()
  try check(database.get(list).title == "Shopping list" && notes.titles(about: "apples").count == 1)
  try database.undoLast()
  try check(database.get(list).title == "shopping" && database.get(list).tags == ["sport"])
  try check(notes.titles(of: list).contains("Shopping list"))
  try check(database.snapshot(at: .sequence(removal)).find(list) == nil)
  try checkSound(database)
  try database.close()
}

let directory = try TemporaryDirectory()
let path = "\(directory.path)/notes.cambium"
let (list, removal) = try writeAndChange(path)
try takeBack(path, list, removal)
print("notes: ok")
