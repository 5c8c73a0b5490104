// The code of the article on relations.

import Cambium
import Scratch
import Testing

@Suite("Relations.md")
struct RelationsTests {
  // Block: References

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting {
        let database = try Database.inMemory(
          for: Author.self, Book.self, Genre.self, Loan.self)
        try Self.write(database)
        try Self.delete(database)
        try Self.follow(database)
        try Self.load(database)
        try Self.ask(database)
        try Self.save(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func write(_ database: Database) throws {
    // Block: Writing
    #expect(try database.count(Loan.self) == 1)
    #expect(throws: DatabaseError.self) { try database.insert(Book(title: "?", author: "nobody")) }
    #expect(throws: DatabaseError.self) { try database.insert(Loan(book: 1, borrower: "Bob")) }
  }

  private static func save(_ database: Database) throws {
    // Block: Writing, 2
    #expect(try database.get(saved[heights]).author == "bronte")
  }

  private static func delete(_ database: Database) throws {
    let refusal = DatabaseError.stillReferred(
      "authors/melville", by: "books/1", property: "author")
    #expect(throws: refusal) { try database.delete("melville" as Author.ID) }
    // Block: Delete rules
    #expect(try database.count(Book.self) == 1 && database.count(Loan.self) == 1)
  }

  private static func follow(_ database: Database) throws {
    // Block: Following and loading
    #expect(author?.name == "Herman Melville" && shelf.map(\.id) == [1] && loan?.borrower == "Ada")
  }

  private static func load(_ database: Database) throws {
    // Block: Following and loading, 2
    // Block: Following and loading, 3
    #expect(rows.map(\.2) == [1] && rows.first?.1.map(\.id) == [1])
    #expect(stacked.isEmpty && counted.map(\.1) == [1])
  }

  private static func ask(_ database: Database) throws {
    // Block: Asking through relations
    #expect(herman == 1 && sea == 1 && lent == [1] && titles.map(\.1) == ["Herman Melville"])
    #expect(whalers.map(\.id) == ["melville"])
  }
}
