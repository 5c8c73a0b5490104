// Goal: where a delete rule is declared no reference leads nowhere, however records come back.
// Method: undo, redo, restoring and moving after the record that is referred to has gone; random
// histories, after each step of which every reference is followed.

import Simulation
import Testing

@testable import Cambium

@Suite("References with a delete rule")
struct DanglingReferenceTests {
  struct Author: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var best: Book.ID?
    static let schema = ModelSchema<Author>("authors") { Property(\.best).onDelete(.nullify) }
  }

  struct Book: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var author: Author.ID?
    var editor: Author.ID?
    var owner: Author.ID?
    var readers: [Author.ID] = []
    var loose: Author.ID?
    static let schema = ModelSchema<Book>("books") {
      Property(\.author).onDelete(.nullify)
      Property(\.editor).onDelete(.deny)
      Property(\.owner).onDelete(.cascade)
      Property(\.readers).onDelete(.nullify)
    }
  }

  private func withAuthors(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Author.self, Book.self)
      try database.write { tx in for key in 1...3 { try tx.insert(Author(id: Author.ID(key))) } }
      try body(database)
    }
  }

  @Test("must lead somewhere when they are written, unless the schema says otherwise")
  func mustExist() throws {
    struct Loose: Cambium.Model {
      var id = ID()
      var author: Author.ID?
      static let schema = ModelSchema<Loose>("loose") {
        Property(\.author).onDelete(.nullify).mustExist(false)
      }
    }
    #expect(Book.schema[\.author]?.mustExist == true && Book.schema[\.loose]?.mustExist == false)
    try withAuthors { database in
      try database.register(Loose.self)
      for book in [
        Book(author: 9), Book(editor: 9), Book(owner: 9), Book(readers: [1, 9]),
      ] {
        #expect(throws: DatabaseError.self) { try database.insert(book) }
      }
      _ = try database.insert(Book(author: 1, editor: 2, readers: [1, 2], loose: 9))
      _ = try database.insert(Loose(author: 9))
    }
  }

  @Test("are taken away from what an undo brings back, or refuse it, as the delete rule says")
  func undo() throws {
    try withAuthors { database in
      let book = try database.insert(Book(author: 1, readers: [1, 2]))
      try database.delete(book)
      let removal = try database.head
      try database.delete(Author.ID(1))
      _ = try database.undo(removal)
      var found = try database.get(book)
      #expect(found.author == nil && found.readers == [2])

      try database.update(book) { $0.author = 2 }
      try database.update(book) { $0.author = 3 }
      let change = try database.head
      try database.update(book) { $0.readers = [] }
      try database.delete(Author.ID(2))
      _ = try database.undo(change)
      found = try database.get(book)
      #expect(found.author == nil)

      let edited = try database.insert(Book(editor: 3))
      try database.delete(edited)
      let second = try database.head
      try database.delete(Author.ID(3))
      #expect(throws: DatabaseError.self) { try database.undo(second) }
      #expect(throws: DatabaseError.self) {
        try database.write { try $0.restore(try edited.path, removedAt: second) }
      }
      #expect(try database.find(edited) == nil)
    }
  }

  @Test("may come back in circles, in one transaction")
  func circles() throws {
    try withAuthors { database in
      let book = try database.insert(Book(owner: 1))
      try database.update(Author.ID(1)) { $0.best = book }
      try database.delete(Author.ID(1))
      #expect(try database.find(book) == nil)
      _ = try database.undoLast()
      #expect(try database.get(Author.ID(1)).best == book)
      #expect(try database.get(book).owner == 1)
      try database.delete(Author.ID(1))
      let removal = try database.head
      // Alone, the author's reference is taken away.
      try database.write { try $0.restore("authors/1", removedAt: removal) }
      #expect(try database.get(Author.ID(1)).best == nil)
    }
  }

  @Test("keep what they meant in a declaration of before")
  func declaredBefore() throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      var author = PropertyDefinition("author", .reference("authors"))
      author.deleteRule = .nullify
      definition.properties = [author]
      try database.declare("books", definition)
      try database.write { try $0.set("books/1", to: ["author": 9]) }
      #expect(try database.snapshot()["books/1"]["author"] == .integer(9))
    }
  }

  @Test("never lead nowhere in random histories", arguments: [21, 22, 23, 24, 25] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withAuthors { database in
      func author() -> Author.ID? {
        Bool.random(using: &random) ? Author.ID(Int.random(in: 1...4, using: &random)) : nil
      }
      for _ in 0..<120 {
        let book = Book(
          id: Book.ID(Int.random(in: 1...4, using: &random)), author: author(), editor: author(),
          owner: author(), readers: [author(), author()].compactMap(\.self))
        let key = Author.ID(Int.random(in: 1...4, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: _ = try? database.upsert(book)
        case 2: _ = try? database.upsert(Author(id: key))
        case 3: _ = try? database.delete(key)
        case 4: _ = try? database.delete(book.id)
        case 5:
          let head = try database.head.rawValue
          let past = UInt64.random(in: 1...head, using: &random)
          _ = try? database.undo(
            SequenceNumber(past),
            onConflict: Bool.random(using: &random) ? .refuse : .skipConflicts)
        default: _ = try? database.redo()
        }
        let authors = Set(try database.query(Author.self).ids())
        for book in try database.query(Book.self).fetch() {
          let referred = [book.author, book.editor, book.owner].compactMap(\.self) + book.readers
          #expect(authors.isSuperset(of: referred), "seed \(seed)")
        }
        for author in try database.query(Author.self).fetch() {
          if let best = author.best { #expect(try database.exists(best), "seed \(seed)") }
        }
      }
    }
  }
}
