// Goal: a search for models gives what the search by path gives, as models, and of them those that
// the query lets through. Method: four books; the same searches by both, and conditions in Swift.

import Testing

@testable import Cambium

private struct Book: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var title = ""
  var body: String?
  var year = 0

  static let schema = ModelSchema<Book>("books") {
    TextIndex(\.title, \.body, language: "en")
    TextIndex(\.title)
  }
}

@Suite("A search for models")
struct TypedSearchTests {
  private static let books = [
    Book(id: 1, title: "Moby-Dick", body: "The whale is white.", year: 1851),
    Book(id: 2, title: "The white whale", body: "Whales, whales, a whale of a tale.", year: 1900),
    Book(id: 3, title: "Walrus and carpenter", body: nil, year: 1871),
    Book(id: 4, title: "Whaling for beginners", body: "How whalers whale.", year: 1990),
  ]

  private func withBooks(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Book.self)
      try database.write { tx in for book in Self.books { try tx.insert(book) } }
      try body(database)
    }
  }

  @Test("finds what the search by path finds, with its score, now and in the past")
  func same() throws {
    try withBooks { database in
      let moment = Moment.sequence(try database.head)
      try database.delete(Book.ID(2))
      for snapshot in [try database.snapshot(), try database.snapshot(at: moment)] {
        for text in ["whales", "\"white whale\"", "wal*", "-whale", "title:white OR tale", "zebra"]
        {
          let expected = try snapshot.search("books", for: TextQuery(parsing: text))
          let found = try snapshot.query(Book.self).search(text)
          #expect(found.map(\.score) == expected.map(\.score), "\(text)")
          #expect(found.map { .integer(Int64($0.model.id.key)) } == expected.map(\.key), "\(text)")
          #expect(found.allSatisfy { Self.books.contains($0.model) })
        }
      }
      try database.write { tx in
        try tx.insert(Book(id: 9, title: "Whale", year: 1))
        #expect(try tx.query(Book.self).limit(1).search("whale").map(\.model.id.key) == [9])
      }
    }
  }

  @Test("gives those that pass the query's conditions, and as many as it says")
  func narrowed() throws {
    try withBooks { database in
      let all = try database.query(Book.self).search("whale").map(\.model)
      #expect(Set(all.map(\.id.key)) == [1, 2, 4])
      func check(_ query: ModelQuery<Book>, _ expected: [Book]) throws {
        #expect(try query.search("whale").map(\.model) == expected)
      }
      let query = database.query(Book.self)
      try check(query.limit(2), Array(all.prefix(2)))
      try check(query.limit(5, offset: 1), Array(all.dropFirst()))
      try check(query.limit(0), [])
      let late = all.filter { $0.year > 1871 }
      try check(query.where { $0.year > 1871 }, late)
      try check(query.where { $0.year > 1871 }.limit(1, offset: 1), Array(late.dropFirst()))
      try check(query.filter { $0.body?.count ?? 0 > 20 }.limit(1), all.filter { $0.id == 2 })
    }
  }

  @Test("shows where the words are, in the texts that are meant")
  func snippets() throws {
    try withBooks { database in
      let query = database.query(Book.self)
      let found = try #require(query.search("tale whale").first)
      let snippet = try found.snippet(of: \.body, words: 4)
      #expect(snippet.text == "a whale of a tale." || snippet.isCutAtStart)
      #expect(snippet.highlights.map { snippet.text[$0] }.contains("tale"))
      #expect(try found.snippet(of: \.title).text == "The white whale")
      let carpenter = try #require(query.search("carpenters").first)
      #expect(try carpenter.snippet(of: \.body).text == "")
      // The second index has titles only, and words as they are.
      #expect(try query.search("whale", in: \.title).map(\.model.id.key) == [2])
      #expect(try query.search("whale", in: \.title, \.body).count == 3)
    }
  }

  @Test("says what it cannot do")
  func refusals() throws {
    try withBooks { database in
      let query = database.query(Book.self)
      #expect(throws: DatabaseError.self) { try query.order(by: \.year).search("whale") }
      #expect(throws: DatabaseError.self) { try query.search("whale", in: \.body) }
      #expect(throws: DatabaseError.self) { try query.search("author:whale") }
      #expect(throws: TextQueryError.self) { try query.search("(whale") }
      #expect(throws: DatabaseError.self) { try database.query(Flight.self).search("whale") }
    }
  }
}
