import Testing

@testable import Cambium

@Suite("A subtree")
struct SubtreeTests {
  /// The number of entries in each table that a removal could touch.
  private static func entries(_ database: Database) throws -> [String: Int] {
    var entries: [String: Int] = [:]
    for table in try database.information().tables where table.environment == "state" {
      entries[table.name] = table.entries
    }
    return entries
  }

  @Test("of 100,000 nodes is removed, restored and moved by touching an entry or two")
  func constant() throws {
    let count = 100_000
    try withDatabase { database in
      try addChildren(count, to: "big", in: database)
      try database.write { tx in
        try tx.set("big/0/0/0", to: "deep")
        try tx.set("other", to: 1)
      }
      let full = try SubtreeTests.entries(database)

      let removal = try database.write { tx in
        try tx.remove("big")
        return tx.sequence
      }
      #expect(
        try SubtreeTests.entries(database)
          == full.merging(["tree": -1, "history": 1, "removals": 1]) { $0 + $1 })
      #expect(try database.read { try $0["big"].childCount } == 0)
      #expect(try database.read { try $0["big/0/0/0"].exists } == false)
      #expect(
        try database.read(at: .sequence(removal.previous)) { try $0["big/0/0/0"].value } == "deep")

      try database.write { tx in try tx.restore("big", removedAt: removal) }
      #expect(
        try SubtreeTests.entries(database)
          == full.merging(["history": 1, "removals": 1]) { $0 + $1 })
      #expect(try database.read { try $0["big"].childCount } == count)
      #expect(try database.read { try $0["big/0/0/0"].value } == "deep")

      try database.write { tx in try tx.move("big", to: "new") }
      #expect(
        try SubtreeTests.entries(database)
          == full.merging(["history": 2, "removals": 2]) { $0 + $1 })
      #expect(try database.read { try $0["new"].childCount } == count)
      #expect(try database.read { try $0["big"].exists } == false)
    }
  }

  @Test("comes back once, and only where its parent is")
  func restoredOnce() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in try tx.restore("a/x", removedAt: 2) }
      expectRefused(.exists, database, .restore("a/x", removedAt: 2))
      try database.write { tx in try tx.move("a/x", to: "b") }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      try database.write { tx in try tx.remove("b") }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      try database.write { tx in try tx.remove("a") }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      try database.write { tx in try tx.restore("b", removedAt: 5) }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["b", "b/y"])
    }
  }

  @Test("comes back once also when it is moved away in the transaction that restores it")
  func restoredAndMovedAtOnce() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in
        try tx.restore("a/x", removedAt: 2)
        try tx.move("a/x", to: "b")
        let error = #expect(throws: DatabaseError.self) { try tx.restore("a/x", removedAt: 2) }
        #expect(error.flatMap { Refusal($0) } == .notFound)
      }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a", "b", "b/y"])
    }
  }

  @Test("comes back after one transaction has restored and removed it")
  func restoredAndRemovedAtOnce() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in
        try tx.restore("a/x", removedAt: 2)
        try tx.remove("a/x")
        try tx.set("other", to: 1)
      }
      try database.write { tx in try tx.restore("a/x", removedAt: 2) }
      #expect(try database.read { try $0["a/x/y"].value } == 1)
    }
  }

  /// Changes that a transaction may make below a node that it has restored and takes away again.
  private static let changesBelow: [@Sendable (borrowing Database.Transaction) throws -> Void] = [
    { try $0.set("a/x/new", to: 1) },
    { try $0.set("a/x/y", to: 2) },
    { try $0.remove("a/x/y") },
    { try $0.move("a/x/y", to: "elsewhere") },
    { tx in
      try tx.move("a", to: "b")
      try tx.set("b/x/y/deep", to: 1)
      try tx.move("b", to: "a")
    },
  ]

  @Test(
    "does not come back with what a transaction that restored it changed before it removed it",
    arguments: changesBelow.indices)
  func restoredChangedAndRemovedAtOnce(change: Int) throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in
        try tx.restore("a/x", removedAt: 2)
        try Self.changesBelow[change](tx)
        try tx.remove("a/x")
      }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      try database.undo(2)
      let rows = try database.read { try $0["a"].rows().map { ($0.path, $0.value) } }
      #expect(rows.map(\.0) == ["a/x", "a/x/y"])
      #expect(rows.last?.1 == 1)
      try expectSound(database)
    }
  }

  @Test("comes back as earlier versions brought it back where their record says so")
  func earlierRecord() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in
        try tx.restore("a/x", removedAt: 2)
        try tx.set("a/x/new", to: 1)
        try tx.remove("a/x")
      }
      let state = try database.directory.currentState()
      var projector = try StateWriter(state, catalog: try state.catalog())
      defer { projector.abort() }
      projector.begin(4)
      #expect(throws: DatabaseError.self) {
        try projector.apply(.restore("a/x", removedAt: 2), enforcing: true)
      }
      try projector.apply(.restore("a/x", removedAt: 2))
      try projector.apply(.set("a/x/new", Content(kind: .scalar, bytes: try Value(2).stored())))
    }
  }

  @Test("comes back as it was when it was removed, with what its last transaction did to it")
  func restoredAsRemoved() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("x", to: ["name": 1])
        try tx.set("x/child", to: 1)
        try tx.set("leaf", to: 1)
      }
      try database.write { tx in
        try tx.update("x", ["name": nil, "other": 2])
        try tx.set("x/name", to: "a child now")
        try tx.set("x/child", to: 2)
        try tx.remove("x")
        try tx.set("leaf", to: 2)
        try tx.set("leaf/new", to: 3)
        try tx.remove("leaf")
      }
      try database.write { tx in
        try tx.restore("x", removedAt: 2)
        try tx.restore("leaf", removedAt: 2)
      }
      let snapshot = try database.snapshot()
      #expect(try snapshot["x"].value == ["other": 2])
      #expect(try snapshot["x/name"].value == "a child now")
      #expect(try snapshot["x/child"].value == 2)
      #expect(try snapshot["leaf"].value == 2)
      #expect(try snapshot["leaf/new"].value == 3)
    }
  }

  @Test("follows its parent: it is restored where that was moved to")
  func restoredUnderMovedParent() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in
        try tx.move("a", to: "b")
        try tx.set("a/other", to: 1)
      }
      expectRefused(.notFound, database, .restore("a/x", removedAt: 2))
      try database.write { tx in try tx.restore("b/x", removedAt: 2) }
      #expect(try database.read { try $0["b/x/y"].value } == 1)
    }
  }

  @Test("that came and went in one transaction cannot come back, and nobody is told of it")
  func passing() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("old", to: 1) }
      try database.write { tx in
        try tx.set("new/below", to: 1)
        try tx.move("new", to: "newer")
        try tx.remove("newer")
      }
      #expect(try database.commit(2).changes.fetch() == [])
      expectRefused(.notFound, database, .restore("newer", removedAt: 2))
    }
  }

  @Test("that came and went in one transaction leaves no entry, however deep and wide it was")
  func passingWithoutTrace() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("old/child/below", to: 1) }
      let before = try SubtreeTests.entries(database)
      try database.write { tx in
        for number in 0..<500 as Range<Int64> {
          try tx.set(NodePath(keys: ["new", .integer(number), "x"]), to: 1)
        }
        try tx.set(NodePath(keys: [Key](repeating: "deep", count: 2000)), to: 1)
        try tx.move("deep", to: "new/deep")
        try tx.remove("new/7")
        try tx.remove("new")
      }
      #expect(try SubtreeTests.entries(database) == before)
      // A node that was there before does leave entries: history needs them.
      try database.write { tx in
        try tx.move("old/child", to: "new/a/child")
        try tx.remove("new")
      }
      #expect(
        try SubtreeTests.entries(database)
          == before.merging(["tree": -1, "counts": -1, "history": 2, "removals": 2]) { $0 + $1 })
      #expect(try database.read(at: .sequence(2)) { try $0["old/child/below"].value } == 1)
    }
  }

  @Test("keeps what one transaction has put below it when that transaction removes it")
  func removedWithNewChildren() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("leaf", to: 1) }
      try database.write { tx in
        try tx.set("leaf/new/below", to: 2)
        try tx.remove("leaf")
      }
      try database.write { tx in try tx.restore("leaf", removedAt: 2) }
      #expect(try database.read { try $0["leaf/new/below"].value } == 2)
    }
  }

  @Test("can be read in the past and restored after its place was taken and left again at once")
  func placeTakenAndLeft() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("x/old", to: 1) }
      try database.write { tx in
        try tx.remove("x")
        try tx.set("x/new", to: 2)
        try tx.remove("x")
      }
      let past = try database.snapshot(at: .sequence(1))
      #expect(try past.root.rows().map(\.path) == ["x", "x/old"])
      try database.write { tx in try tx.restore("x", removedAt: 2) }
      #expect(try database.snapshot().root.rows().map(\.path) == ["x", "x/old"])
    }
  }

  @Test("that moved is told by the feed at both places, node by node")
  func feed() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("a/x", to: 1)
        try tx.set("a/y/z", to: 2)
      }
      try database.write { tx in
        try tx.set("a/x", to: 5)
        try tx.move("a", to: "b")
        try tx.remove("b/y")
      }
      #expect(
        try database.commit(2).changes.fetch() == [
          Change(path: "a/x", old: 1, new: nil), Change(path: "a/y/z", old: 2, new: nil),
          Change(path: "b/x", old: nil, new: 5),
        ])
      var under = try database.commits(under: "b/x")
      let commit = try under.next()
      #expect(commit?.sequence == 2)
      #expect(try commit?.changes.fetch() == [Change(path: "b/x", old: nil, new: 5)])
      #expect(try under.next()?.sequence == nil)
    }
  }

  @Test("is told when a child takes the place of a property with the same value")
  func propertyBecomesChild() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: ["b": 1]) }
      try database.write { tx in
        try tx.update("a", ["b": nil])
        try tx.set("a/b", to: 1)
      }
      #expect(
        try database.commit(2).changes.fetch() == [
          Change(path: "a", old: ["b": 1], new: [:]), Change(path: "a/b", old: nil, new: 1),
        ])
    }
  }

  private func expectRefused(
    _ refusal: Refusal, _ database: Database, _ call: Call,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
      try database.write { tx in _ = try call.perform(tx) }
    }
    #expect(error.flatMap { Refusal($0) } == refusal, sourceLocation: sourceLocation)
  }
}
