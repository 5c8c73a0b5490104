// The code of the article on concurrency.

import Cambium
import Scratch
import Testing

@Suite("Concurrency.md")
struct ConcurrencyTests {
  struct Note: Model {
    var id = ID()
    var text = ""
    static let schema = ModelSchema<Note>("notes")
  }

  // Block: The main actor

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting {
        let database = try Database.inMemory(for: Note.self)
        let id = try await Self.write(database)
        try await Self.ask(database)
        try await Self.share(database)
        try await Self.retry(database, id)
        try await Self.observe(database)
        try await Self.list(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func write(_ database: Database) async throws -> Note.ID {
    // Block: Writing
    #expect(note.text == text)
    // Block: Trying a write out
    #expect(shown.left == 0 && shown.changes.map(\.id) == [note.id])
    return note.id
  }

  private static func ask(_ database: Database) async throws {
    // Block: Reading
    #expect(longest == "Buy apples".count)
    // Block: Reading, 2
  }

  private static func share(_ database: Database) async throws {
    // Block: Snapshots and tasks
  }

  private static func translate(_ text: String) async -> String { text.uppercased() }

  private static func retry(_ database: Database, _ id: Note.ID) async throws {
    // Block: Reading, awaiting, writing
    #expect(try database.get(id).text == "BUY APPLES")
  }

  private static func observe(_ database: Database) async throws {
    // Block: Observers
  }

  @MainActor
  private static func list(_ database: Database) async throws {
    let list = NoteList(database)
    let following = Task { try await list.follow() }
    try await list.add("Another")
    #expect(list.notes.map(\.text) == ["Another", "BUY APPLES"])
    following.cancel()
    try await following.value
  }
}
