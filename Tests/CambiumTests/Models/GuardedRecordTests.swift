// Goal: no way leads past an app's hooks and rules. Method: a model whose hooks write down what
// they are asked, and every call that changes a record; random histories against the rule itself,
// which no moment may break.

import Synchronization
import Simulation
import Testing

@testable import Cambium

@Suite("Hooks and rules in code", .serialized)
struct GuardedRecordTests {
  static let asked = Mutex<[String]>([])

  static func note(_ what: String) { asked.withLock { $0.append(what) } }

  /// The notes of what was asked since the last time.
  static func taken() -> [String] {
    asked.withLock { asked in
      defer { asked = [] }
      return asked
    }
  }

  struct Shelf: LifecycleModel, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Shelf>("shelves")

    mutating func willUpdate(from old: Shelf, in transaction: borrowing Database.Transaction) throws
    {
      note("update shelf \(old.id.key)")
    }
    func willDelete(in transaction: borrowing Database.Transaction) throws {
      note("delete shelf \(id.key)")
    }
  }

  struct Book: LifecycleModel, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""
    var copies = 0
    var tags: [String] = []
    var marks: Set<Int> = []
    var prices: [String: Int] = [:]
    var changes = 0
    var shelf: Shelf.ID?
    var spare: Shelf.ID?

    static let schema = ModelSchema<Book>("books") {
      Property(\.shelf).onDelete(.cascade)
      Property(\.spare).onDelete(.nullify)
      Property(\.copies).validated("must not be negative") { $0 >= 0 }
      Rule("must have a title of its own") { $0.title != "Untitled" }
    }

    mutating func willInsert(in transaction: borrowing Database.Transaction) throws {
      note("insert \(id.isAssigned ? "\(id.key)" : "?")")
      changes = 1
    }
    mutating func willUpdate(from old: Book, in transaction: borrowing Database.Transaction) throws
    {
      note("update \(old.id.key)")
      changes = old.changes + 1
    }
    func willDelete(in transaction: borrowing Database.Transaction) throws {
      if title == "kept" { throw Kept() }
      note("delete \(id.key)")
    }
    func didUpdate(from old: Book) { note("did update \(id.key)") }
    func didInsert() { note("did insert \(id.key)") }
    func didDelete() { note("did delete \(id.key)") }
  }

  struct Kept: Error {}

  /// A model whose hook inserts the link before it.
  struct Link: LifecycleModel, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Link>("links")

    mutating func willInsert(in transaction: borrowing Database.Transaction) throws {
      if id.key > 1 { try transaction.insert(Link(id: ID(id.key - 1))) }
    }
  }

  private func withBooks(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Shelf.self, Book.self)
      try database.write { tx in
        try tx.insert(Shelf(id: 1, name: "a"))
        try tx.insert(Shelf(id: 2, name: "b"))
        try tx.insert(Book(id: 1, title: "one", copies: 1, shelf: 1, spare: 2))
      }
      _ = Self.taken()
      try body(database)
    }
  }

  @Test("may call each other 32 deep")
  func depth() throws {
    try withDatabase { database in
      try database.register(Link.self)
      #expect(throws: DatabaseError.self) { try database.write { try $0.insert(Link(id: 33)) } }
      #expect(try database.count(Link.self) == 0)
      try database.write { try $0.insert(Link(id: 32)) }
      #expect(try database.count(Link.self) == 32)
    }
  }

  @Test("are asked by each call that changes a part of a model, and what they change is stored")
  func parts() throws {
    let calls: [(String, @Sendable (borrowing Database.Transaction) throws -> Void)] = [
      ("set", { try $0.set(Book.ID(1), \.title, to: "two") }),
      ("increment", { try $0.increment(Book.ID(1), \.copies, by: 2) }),
      ("append", { try $0.append("x", to: Book.ID(1), \.tags) }),
      ("include", { try $0.insert(4, into: Book.ID(1), \.marks) }),
      ("entry", { try $0.set(Book.ID(1), \.prices, "EUR", to: 3) }),
      ("path", { try $0.update("books/1", ["title": "three"]) }),
      ("property", { try $0.set("books/1/title", to: "four") }),
      ("record", { _ = try $0.update("books/1") { $0["title"] = "five" } }),
      ("whole", { try $0.set("books/1", to: ["title": "six", "changes": 7]) }),
      (
        "batch",
        { tx in
          var batch = WriteBatch()
          batch.increment("books/1", "copies", by: 1)
          try tx.apply(batch)
        }
      ),
      ("upsert", { try $0.upsert(Book(id: 1, title: "seven")) }),
    ]
    try withBooks { database in
      for (name, call) in calls {
        let before = try database.get(Book.ID(1)).changes
        try database.write { try call($0) }
        #expect(Self.taken() == ["update 1", "did update 1"], "\(name)")
        #expect(try database.get(Book.ID(1)).changes == before + 1, "\(name)")
      }
      let head = try database.head
      for call in [
        { try $0.increment(Book.ID(1), \.copies, by: -99) },
        { try $0.increment("books/1", "copies", by: -99) },
        { try $0.update("books/1", ["title": "Untitled"]) },
        { try $0.set("books/9", to: ["title": "Untitled"]) },
        { _ = try $0.upsert(DynamicRecord("books/8", ["copies": -1])) },
      ] as [@Sendable (borrowing Database.Transaction) throws -> Void] {
        #expect(throws: ValidationError.self) { try database.write { try call($0) } }
      }
      #expect(try database.head == head)
    }
  }

  @Test("are asked by delete rules, by what goes with a collection, and by undo")
  func deletions() throws {
    try withBooks { database in
      try database.delete(Shelf.ID(2))
      #expect(Self.taken() == ["delete shelf 2", "update 1", "did update 1"])
      #expect(try database.get(Book.ID(1)).spare == nil)
      let last = try database.write { tx in
        _ = try tx.remove("shelves/1")
        return tx.sequence
      }
      #expect(Self.taken() == ["delete shelf 1", "delete 1", "did delete 1"])
      #expect(try database.count(Book.self) == 0)
      _ = try database.undo(last)
      #expect(Self.taken() == ["insert 1", "did insert 1"])
      #expect(try database.get(Book.ID(1)).changes == 1)
      _ = try database.redo()
      let redone = Self.taken()
      #expect(redone.contains("delete shelf 1") && redone.suffix(1) == ["did delete 1"])
      try database.write { try $0.restore("shelves/1", removedAt: try database.head) }
      _ = Self.taken()
      try database.write { tx in
        try tx.insert(Book(id: 5, title: "kept"))
        try tx.insert(Book(id: 6, title: "six"))
      }
      _ = Self.taken()
      #expect(throws: Kept.self) { try database.write { _ = try $0.remove("books") } }
      #expect(try database.count(Book.self) == 2)
      try database.write { _ = try $0.update("books/5", ["title": "free"]) }
      _ = Self.taken()
      try database.write { _ = try $0.remove("books") }
      #expect(
        Self.taken() == ["delete 5", "delete 6", "did delete 5", "did delete 6"])
    }
  }

  @Test("are asked where a record is moved in, out, and to another key")
  func moves() throws {
    try withBooks { database in
      try database.write { try $0.move("books/1", to: "books/3") }
      #expect(Self.taken() == ["update 1", "did update 3"])
      try database.write { try $0.move("books/3", to: "drafts/3") }
      #expect(Self.taken() == ["delete 3", "did delete 3"])
      try database.write { try $0.move("drafts/3", to: "books/4") }
      #expect(Self.taken() == ["insert 4", "did insert 4"])
      try database.write { try $0.update("shelves/1", ["name": "c"]) }
      #expect(Self.taken() == ["update shelf 1"])
      try database.write { try $0.move("shelves/1", to: "shelves/7") }
      #expect(Self.taken() == ["update 4", "update shelf 1", "did update 4"])
      #expect(try database.get(Book.ID(4)).shelf == 7)
    }
  }

  /// Hooks that write: each change of a leaf counts in its tree, and a tree's deletion takes the
  /// leaves along.
  struct Tree: LifecycleModel, Equatable {
    typealias Key = Int
    var id = ID()
    var leaves = 0
    var visits = 0
    static let schema = ModelSchema<Tree>("trees")

    mutating func willUpdate(from old: Tree, in transaction: borrowing Database.Transaction) throws
    {
      // Its own record: not asked again.
      try transaction.increment(id, \.visits, by: 1)
    }
    func willDelete(in transaction: borrowing Database.Transaction) throws {
      for leaf in try transaction.query(Leaf.self).where({ $0.tree == id }).ids() {
        try transaction.delete(leaf)
      }
    }
  }

  struct Leaf: LifecycleModel, Equatable {
    typealias Key = Int
    var id = ID()
    var tree = Tree.ID()
    static let schema = ModelSchema<Leaf>("leaves") { Property(\.tree).onDelete(.deny) }

    mutating func willInsert(in transaction: borrowing Database.Transaction) throws {
      try transaction.increment(tree, \.leaves, by: 1)
    }
    func willDelete(in transaction: borrowing Database.Transaction) throws {
      if try transaction.exists(tree) { try transaction.increment(tree, \.leaves, by: -1) }
    }
  }

  @Test("may write, also to other models with hooks, and before a delete rule refuses")
  func writing() throws {
    try withDatabase { database in
      try database.register(Tree.self, Leaf.self)
      try database.write { tx in
        try tx.insert(Tree(id: 1))
        for key in 1...3 { try tx.set(try NodePath("leaves/\(key)"), to: ["tree": 1]) }
      }
      #expect(try database.get(Tree.ID(1)).leaves == 3)
      #expect(try database.get(Tree.ID(1)).visits == 3)
      try database.write { _ = try $0.remove("leaves/2") }
      #expect(try database.get(Tree.ID(1)).leaves == 2)
      try database.write { _ = try $0.remove("trees/1") }
      #expect(try database.count(Leaf.self) == 0)
    }
  }

  struct Endless: LifecycleModel {
    typealias Key = Int
    var id = ID()
    static let schema = ModelSchema<Endless>("endless")
    mutating func willInsert(in transaction: borrowing Database.Transaction) throws {
      try transaction.insert(Endless())
    }
  }

  @Test("that call each other for ever end in an error, with nothing stored")
  func endless() throws {
    try withDatabase { database in
      try database.register(Endless.self)
      let head = try database.head
      #expect(throws: DatabaseError.self) { try database.insert(Endless()) }
      #expect(try database.head == head && database.count(Endless.self) == 0)
    }
  }

  /// Random changes by every kind of call; the rule must hold at each moment, and every change must
  /// have counted.
  @Test("hold in random histories", arguments: [11, 12, 13, 14] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withBooks { database in
      for _ in 0..<100 {
        let key = Int64.random(in: 1...4, using: &random)
        let path = try NodePath("books/\(key)")
        let step = Int64.random(in: -2...2, using: &random)
        let before = try database.find(Book.ID(Int(key)))
        _ = Self.taken()
        let call = Int.random(in: 0..<7, using: &random)
        do {
          try database.write { tx in
            switch call {
            case 0: try tx.set(path, to: ["copies": .integer(step), "title": "t"])
            case 1: try tx.increment(path, "copies", by: .integer(step))
            case 2: try tx.increment(Book.ID(Int(key)), \.copies, by: Int(step))
            case 3: _ = try tx.remove(path)
            case 4: try tx.update(path, ["copies": .integer(step)])
            case 5: _ = try tx.upsert(DynamicRecord(path, ["copies": .integer(step)]))
            default: try tx.update(Book.ID(Int(key))) { $0.copies += Int(step) }
            }
          }
        } catch {}
        if call == 6 { _ = try? database.undoLast() }
        for book in try database.query(Book.self).fetch() {
          #expect(book.copies >= 0, "seed \(seed)")
        }
        let after = try database.find(Book.ID(Int(key)))
        if call != 6, before != after {
          #expect(Self.taken().contains { $0.hasSuffix(" \(key)") }, "seed \(seed), call \(call)")
        }
      }
    }
  }
}
