import Testing

@testable import Cambium

/// Observing a part of the tree: the changes there, whatever path the operation named.
@Suite("Observing a subtree", .timeLimit(.minutes(1)))
struct FeedFilterTests {
  /// The changes at and below `path` that the feed reports for the transaction of `body`; nil if it
  /// leaves the transaction out.
  private func told(
    under path: NodePath = "users", before: (borrowing Database.Transaction) throws -> Void,
    _ body: (borrowing Database.Transaction) throws -> Void
  ) throws -> [Change]? {
    try withDatabase { database in
      try database.write { tx in try before(tx) }
      try database.write { tx in try body(tx) }
      var commits = try database.commits(after: database.head.previous, under: path)
      return try commits.next()?.changes.fetch()
    }
  }

  private func makeUsers(_ tx: borrowing Database.Transaction) throws {
    try tx.set("users", to: "all")
    try tx.set("users/ada", to: ["name": "Ada"])
    try tx.set("users/ada/pets/rex", to: 5)
    try tx.set("usersX/eve", to: 1)
    try tx.set("user", to: 1)
  }

  private let ada = Change(path: "users/ada", old: ["name": "Ada"], new: nil)
  private let rex = Change(path: "users/ada/pets/rex", old: 5, new: nil)
  private let users = Change(path: "users", old: "all", new: nil)

  @Test("tells what happens at the path and below, and nothing beside it")
  func below() throws {
    #expect(
      try told(before: makeUsers) { tx in
        try tx.set("users/ada/pets/rex", to: 6)
        try tx.set("users", to: "some")
        try tx.set("usersX/eve", to: 2)
        try tx.set("user", to: 2)
      } == [
        Change(path: "users", old: "all", new: "some"),
        Change(path: "users/ada/pets/rex", old: 5, new: 6),
      ])
    #expect(
      try told(before: makeUsers) { tx in
        try tx.set("usersX/eve", to: 2)
        try tx.set("user", to: 2)
      } == nil)
  }

  @Test("leaves out commits that touch nothing there, and events")
  func skips() async throws {
    try await withDatabase { database in
      for number in 1...20 {
        try await database.write { tx in
          try tx.set(number % 5 == 0 ? "users/x" : "others/x", to: .integer(Int64(number)))
          try tx.event("noted")
        }
      }
      let commits = database.changes(after: 0, under: "users")
      #expect(try await sequences(4, of: commits) == [5, 10, 15, 20])
      var iterator = commits.makeAsyncIterator()
      #expect(try await iterator.next()?.events == [])
    }
  }

  @Test("tells each node of a subtree that is removed, here or above")
  func removals() throws {
    #expect(try told(before: makeUsers) { tx in try tx.remove("users/ada") } == [ada, rex])
    #expect(
      try told(under: "users/ada/pets", before: makeUsers) { tx in try tx.remove("users") }
        == [rex])
    #expect(try told(before: makeUsers) { tx in try tx.remove("users") } == [users, ada, rex])
  }

  @Test("tells each node of a subtree that is restored above")
  func restored() throws {
    try withDatabase { database in
      try database.write { tx in try makeUsers(tx) }
      try database.write { tx in try tx.remove("users") }
      try database.write { tx in try tx.restore("users", removedAt: 2) }
      var commits = try database.commits(after: 2, under: "users/ada")
      #expect(
        try commits.next()?.changes.fetch() == [
          Change(path: "users/ada", old: nil, new: ["name": "Ada"]),
          Change(path: "users/ada/pets/rex", old: nil, new: 5),
        ])
    }
  }

  @Test("tells what moves in, out, and along with a parent")
  func moves() throws {
    #expect(
      try told(before: makeUsers) { tx in try tx.move("usersX", to: "users/new") }
        == [Change(path: "users/new/eve", old: nil, new: 1)])
    #expect(
      try told(before: makeUsers) { tx in try tx.move("users/ada", to: "gone") } == [ada, rex])
    #expect(
      try told(under: "users/ada/pets", before: makeUsers) { tx in
        try tx.move("users/ada", to: "users/eve")
      } == [rex])
    #expect(
      try told(under: "a/b/ada", before: makeUsers) { tx in try tx.move("users", to: "a/b") } == [
        Change(path: "a/b/ada", old: nil, new: ["name": "Ada"]),
        Change(path: "a/b/ada/pets/rex", old: nil, new: 5),
      ])
    #expect(
      try told(before: makeUsers) { tx in try tx.move("users/ada/pets", to: "users/bob") } == [
        rex, Change(path: "users/bob/rex", old: nil, new: 5),
      ])
  }

  @Test("tells a node once that is named by several operations")
  func once() throws {
    #expect(
      try told(before: makeUsers) { tx in
        try tx.set("users/ada/pets/rex", to: 6)
        try tx.remove("users/ada")
        try tx.set("users/ada", to: 1)
        try tx.set("users/ada", to: 2)
      } == [Change(path: "users/ada", old: ["name": "Ada"], new: 2), rex])
  }

  @Test("tells what comes to a path where nothing was")
  func fromNothing() throws {
    #expect(
      try told(under: "new/place", before: makeUsers) { tx in try tx.set("new/place", to: 1) }
        == [Change(path: "new/place", old: nil, new: 1)])
    #expect(
      try told(under: "new/place/below", before: makeUsers) { tx in try tx.set("new/place", to: 1) }
        == nil)
  }

  @Test("tells of a property by its path, when it changes and only then")
  func property() throws {
    let name: NodePath = "users/ada/name"
    func told(_ body: @escaping (borrowing Database.Transaction) throws -> Void) throws -> [Change]?
    {
      try self.told(under: name, before: makeUsers, body)
    }
    #expect(
      try told { tx in try tx.set(name, to: "A") } == [Change(path: name, old: "Ada", new: "A")])
    #expect(
      try told { tx in try tx.set("users/ada", to: 1) }
        == [Change(path: name, old: "Ada", new: nil)])
    #expect(try told { tx in try tx.update("users/ada", ["born": 1815]) } == nil)
    #expect(try told { tx in try tx.set("users/ada", to: ["name": "Ada", "born": 1815]) } == nil)
    #expect(try told { tx in try tx.set("users/ada/pets/tom", to: 1) } == nil)
    let gone = [Change(path: name, old: "Ada", new: nil)]
    #expect(try told { tx in try tx.remove(name) } == gone)
    #expect(try told { tx in try tx.remove("users") } == gone)
    #expect(try told { tx in try tx.move("users/ada", to: "users/eve") } == gone)
    #expect(
      try told { tx in
        try tx.remove(name)
        try tx.set("users/ada/name/first", to: "Ada")
        try tx.set(name, to: "a child")
      } == [
        Change(path: name, old: "Ada", new: "a child"),
        Change(path: "users/ada/name/first", old: nil, new: "Ada"),
      ])
    #expect(
      try self.told(under: "new/name", before: makeUsers) { tx in
        try tx.move("users/ada", to: "new")
      } == [Change(path: "new/name", old: nil, new: "Ada")])
  }

  @Test("tells a subtree of ten thousand nodes node by node")
  func large() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<10_000 {
          try tx.set(NodePath(keys: ["a", "b", .integer(Int64(number))]), to: .integer(1))
        }
      }
      try database.write { tx in try tx.move("a", to: "c") }
      var cursor = try database.commit(2).changes.makeCursor()
      var count = 0
      while let change = try cursor.next() {
        count += 1
        if change.path.depth != 3 || (change.old == nil) == (change.new == nil) {
          Issue.record("\(change)")
        }
      }
      #expect(count == 20_000)
    }
  }
}
