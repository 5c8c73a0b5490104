import FoundationEssentials
import Testing

@testable import Cambium

/// A closure or key path that names properties in Swift cannot throw, so the error for a property
/// that cannot be named comes when the query is run or the database opened.
@Suite("What cannot be named")
struct NamingTests {
  struct Author: Cambium.Model {
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Author>("authors")
  }

  struct Book: Cambium.Model {
    var id = ID()
    var title = ""
    var author: Author.ID?
    var size = Size()
    var pages = 0
    var heading: String { title }
    var writer: Author.ID? { author }
    var shape: Size { size }
    struct Size: Nested {
      var height = 0
      var width = 0
      var area: Int { height * width }
    }
    static let schema = ModelSchema<Book>("books") { TextIndex(\.title) }
  }

  private func refused(_ words: String, _ body: (ModelQuery<Book>) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Author.self, Book.self)
      try database.insert(Book(title: "a"))
      do {
        try body(database.query())
        Issue.record("nothing was thrown; it should say “\(words)”")
      } catch let error as QueryError {
        #expect(error.reason.contains(words), "\(error)")
      } catch DatabaseError.misuse(let reason) {
        #expect(reason.contains(words), "\(reason)")
      }
    }
  }

  @Test("is told when a query is run: what is computed")
  func computed() throws {
    let words = "cannot be named; name what is stored, or use filter(_:)"
    try refused(words) { _ = try $0.where { $0.heading == "a" }.fetch() }
    try refused(words) { _ = try $0.where { $0.pages == 99 && !($0.heading == "a") }.count() }
    try refused(words) { _ = try $0.order(by: \.heading).fetch() }
    try refused(words) { _ = try $0.order(by: \.heading).count() }
    try refused(words) { _ = try $0.select(\.title, \.heading).fetch() }
    try refused(words) { _ = try $0.where { $0.size.area > 3 }.exists() }
    try refused(words) { _ = try $0.where { $0.shape.width > 3 }.exists() }
    try refused(words) { _ = try $0.where { $0.writer.name == "x" }.ids() }
    try refused(words) { _ = try $0.group(by: \.heading).select { $0.count } }
    try refused(words) { _ = try $0.group(by: \.title).select { $0.maximum($0.heading) } }
    try refused(words) { _ = try $0.maximum(\.heading) }
    try refused(words) { _ = try $0.join(Author.self, on: \.heading, \.name).fetch() }
    try refused(words) { _ = try $0.join(Author.self, on: \.writer, \.id).count() }
    try refused(words) { _ = try $0.search("a", in: \.heading) }
  }

  @Test("is told when a query is run: a nested value as a whole, and what is elsewhere")
  func elsewhere() throws {
    let whole = "is stored property by property; name one of them"
    try refused(whole) { _ = try $0.where { $0.size == Book.Size() }.fetch() }
    try refused(whole) { _ = try $0.order(by: \.size).fetch() }
    try refused(whole) { _ = try $0.select(\.size).fetch() }
    try refused("author.name is no property of its own") {
      _ = try $0.search("a", in: \.author.name)
    }
    try refused("join what lies between") {
      _ = try $0.join(Book.self, on: \.author.name, \.author.name).fetch()
    }
  }

  struct FarIndex: Cambium.Model {
    var id = ID()
    var author: Author.ID?
    static let schema = ModelSchema<FarIndex>("far") { Index(\.author.name) }
  }
  struct ComputedIndex: Cambium.Model {
    var id = ID()
    var title = ""
    var heading: String { title }
    static let schema = ModelSchema<ComputedIndex>("computed") {
      Index(\.title).where { $0.heading != "" }
    }
  }
  struct WholeView: Cambium.Model {
    var id = ID()
    var size = Book.Size()
    var title = ""
    static let schema = ModelSchema<WholeView>("whole") {
      Count(by: \.size)
      Index(\.title)
    }
  }
  struct ComputedPreview: Cambium.Model {
    var id = ID()
    var book: Book.ID?
    static let schema = ModelSchema<ComputedPreview>("previews") {
      Property(\.book).preview(\.title, \.heading)
    }
  }
  struct FarText: Cambium.Model {
    var id = ID()
    var author: Author.ID?
    static let schema = ModelSchema<FarText>("texts") { TextIndex(\.author.name) }
  }

  @Test("is told when the database is opened: indexes and views of what they cannot have")
  func declarations() throws {
    let cases: [(any Cambium.Model.Type, String)] = [
      (FarIndex.self, "FarIndex: author.name is no property of its own"),
      (ComputedIndex.self, "a computed property (String)"),
      (WholeView.self, "is stored property by property"),
      (ComputedPreview.self, "a computed property (String)"),
      (FarText.self, "author.name is no property of its own"),
    ]
    for (type, words) in cases {
      do {
        _ = try Database.inMemory(for: type)
        Issue.record("\(type) was declared")
      } catch DatabaseError.misuse(let reason) {
        #expect(reason.contains(words), "\(reason)")
      }
    }
    // The items that can be declared are declared all the same.
    #expect(WholeView.schema.definition.indexes == [IndexDefinition([.init("title")])])
    #expect(throws: DatabaseError.self) { _ = try MemoryStore(for: FarIndex.self) }
  }
}
