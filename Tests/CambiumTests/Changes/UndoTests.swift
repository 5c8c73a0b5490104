import Testing

@testable import Cambium

@Suite("An undo")
struct UndoTests {
  @Test("leaves what others have changed of the same record")
  func properties() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["name": "Ada", "born": 1815]) }
      let change = try database.write { tx in
        try tx.update("ada", ["born": 1816, "mail": "a@b"])
        return tx.sequence
      }
      try database.write { tx in try tx.update("ada", ["name": "Ada King"]) }
      let undone = try database.undo(change, metadata: ["who": "bob"])
      #expect(undone.undoes == [change])
      #expect(try database.read { try $0["ada"].value } == ["name": "Ada King", "born": 1815])
      let metadata = try database.commit(undone.sequence).metadata
      #expect(metadata == ["who": "bob", "undoes": "2"])
    }
  }

  @Test("that conflicts stores nothing, and says where, what and by whom")
  func conflict() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["name": "Ada", "born": 1815]) }
      try database.write { tx in
        try tx.update("ada", ["born": 1816, "name": "A"])
        try tx.set("motto", to: "Festina lente")
      }
      try database.write { tx in try tx.update("ada", ["born": 1817]) }
      let digest = try expectSound(database)
      let error = #expect(throws: DatabaseError.self) { try database.undo(2) }
      #expect(
        error
          == .undoConflict([
            UndoConflict(
              path: "ada", property: "born", left: 1816, found: 1817, changedBy: 3,
              reason: "it has changed since")
          ]))
      #expect(try database.head == 3)
      #expect(try expectSound(database) == digest)
      let undone = try database.undo(2, onConflict: .skipConflicts)
      #expect(undone.conflicts.map(\.property) == ["born"])
      #expect(try database.read { try $0["ada"].value } == ["name": "Ada", "born": 1817])
      #expect(try database.read { try $0["motto"].exists } == false)
      try database.undo(undone.sequence)
      try database.undo(2, onConflict: .overwrite)
      #expect(try database.read { try $0["ada"].value } == ["name": "Ada", "born": 1815])
    }
  }

  @Test("of a removal restores the subtree with its ids, however large")
  func removal() throws {
    try withDatabase { database in
      try addChildren(5_000, to: "big", in: database)
      let id = try database.read { try $0["big"].nodeID() }
      let removal = try database.write { tx in
        try tx.remove("big")
        return tx.sequence
      }
      let undone = try database.undo(removal)
      #expect(try database.commit(undone.sequence).operationCount == 1)
      #expect(try database.read { try $0["big"].nodeID() } == id)
      #expect(try database.read { try $0["big"].childCount } == 5_000)
    }
  }

  @Test("of a stretch in which a subtree went and came back leaves it alone")
  func removedAndRestored() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/x/y", to: 1) }
      let id = try database.read { try $0["a/x"].nodeID() }
      try database.write { tx in try tx.remove("a/x") }
      try database.write { tx in try tx.restore("a/x", removedAt: 2) }
      try database.write { tx in try tx.set("a/x/y", to: 2) }
      try database.revert(after: 1, upTo: 4)
      #expect(try database.read { try $0["a/x/y"].value } == 1)
      #expect(try database.read { try $0["a/x"].nodeID() } == id)
    }
  }

  @Test("of a removal is refused where a node has taken the place")
  func takenPlace() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/b", to: 1) }
      try database.write { tx in try tx.remove("a") }
      try database.write { tx in try tx.set("a", to: "another") }
      expectConflict(["a"]) { try database.undo(2) }
      try database.undo(2, onConflict: .skipConflicts)
      #expect(try database.read { try $0["a"].value } == "another")
      try database.undo(2, onConflict: .overwrite)
      #expect(try database.read { try $0["a/b"].value } == 1)
      #expect(try database.read { try $0["a"].value } == nil)
    }
  }

  @Test("of a node that was made is refused where somebody has put something below it")
  func creation() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("team/ada", to: ["name": "Ada"]) }
      try database.write { tx in try tx.set("team/ada/tags/first", to: true) }
      expectConflict(["team/ada"]) { try database.undo(1) }
      let skipped = try database.undo(1, onConflict: .skipConflicts)
      #expect(try database.read { try $0["team/ada/tags/first"].value } == true)
      #expect(!skipped.conflicts.isEmpty)
      try database.undo(1, onConflict: .overwrite)
      #expect(try database.read { try $0["team"].exists } == false)
    }
  }

  @Test("of nodes that were made removes them by their top")
  func manyCreations() throws {
    try withDatabase { database in
      let change = try database.write { tx in
        for number in 0..<500 as Range<Int64> {
          try tx.set(NodePath(keys: ["n", .integer(number)]), to: 1)
        }
        return tx.sequence
      }
      let undone = try database.undo(change)
      #expect(try database.commit(undone.sequence).operationCount == 1)
      #expect(try database.read { try $0.root.childCount } == 0)
    }
  }

  @Test("of an increment decrements, whatever was added since")
  func increments() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["visits": 7]) }
      let change = try database.write { tx in
        try tx.increment("ada", "visits", by: 5)
        try tx.increment("count", by: 2)
        return tx.sequence
      }
      try database.write { tx in
        try tx.increment("ada", "visits", by: 10)
        try tx.increment("count", by: 1)
      }
      let undone = try database.undo(change)
      #expect(try database.read { try $0["ada/visits"].value } == 17)
      #expect(try database.read { try $0["count"].value } == 1)
      try database.write { tx in try tx.increment("ada", "visits", by: 100) }
      try database.undo(undone.sequence)
      #expect(try database.read { try $0["ada/visits"].value } == 122)
      try database.write { tx in try tx.update("ada", ["visits": "many"]) }
      expectConflict(["ada"]) { try database.undo(change) }
    }
  }

  @Test("of an increment that made a double gives the integer back")
  func roundedIncrement() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("n", to: 5) }
      try database.write { tx in try tx.increment("n", by: .double(0.1)) }
      try database.undo(2)
      #expect(try database.read { try $0["n"].value } == .integer(5))
    }
  }

  @Test("of an element takes out that element, if it is still there")
  func arrays() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["tags": ["x", "y"]]) }
      try database.write { tx in try tx.append("z", to: "ada", "tags") }
      try database.write { tx in try tx.append("later", to: "ada", "tags") }
      let undone = try database.undo(2)
      #expect(try database.read { try $0["ada/tags"].value } == ["x", "y", "later"])
      try database.undo(undone.sequence)
      #expect(try database.read { try $0["ada/tags"].value } == ["x", "y", "z", "later"])
      try database.write { tx in try tx.removeElement(at: 0, from: "ada", "tags") }
      try database.write { tx in try tx.append("end", to: "ada", "tags") }
      try database.undo(2)
      #expect(try database.read { try $0["ada/tags"].value } == ["y", "later", "end"])
      try database.undo(6)
      #expect(try database.read { try $0["ada/tags"].value } == ["x", "y", "later", "end"])
    }
  }

  @Test("of a move moves back, with what was changed below since")
  func moves() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("drafts/7/text", to: "a") }
      try database.write { tx in try tx.move("drafts/7", to: "letters/7") }
      try database.write { tx in try tx.set("letters/7/text", to: "b") }
      try database.undo(2)
      #expect(try database.read { try $0["drafts/7/text"].value } == "b")
      #expect(try database.read { try $0["letters"].exists } == false)
    }
  }

  @Test("makes a node with children that got a value a plain one again")
  func containers() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/b", to: 1) }
      try database.write { tx in try tx.set("a", to: ["name": "A"]) }
      try database.undo(2)
      #expect(try database.read { try $0["a"].value } == nil)
      try database.write { tx in try tx.set("a", to: 3) }
      try database.undo(4)
      #expect(try database.read { try $0["a"].value } == nil)
      #expect(try database.read { try $0["a/b"].value } == 1)
    }
  }

  @Test("of events and names is recorded, and leaves them")
  func nothingToDo() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.define("name")
        try tx.event("login")
      }
      let undone = try #require(try database.undoLast())
      #expect(try database.head == undone.sequence)
      #expect(try database.undoLast() == nil)
      #expect(try database.redo()?.undoes == [2])
    }
  }

  @Test("takes the whole group along in one transaction, or one of it")
  func groups() throws {
    try withDatabase { database in
      let drag = ["group": "drag 1"]
      try database.write(metadata: drag) { tx in try tx.set("x", to: 1) }
      try database.write { tx in try tx.set("other", to: 1) }
      try database.write(metadata: drag) { tx in try tx.set("x", to: 2) }
      try database.write(metadata: drag) { tx in try tx.set("y", to: 2) }
      let undone = try database.undo(4)
      #expect(undone.undoes == [4, 3, 1])
      #expect(try database.commit(5).metadata["undoes"] == "3-4 1")
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["other"])
      #expect(try database.redo()?.undoes == [5])
      #expect(try database.undo(4, wholeGroup: false).undoes == [4])
      #expect(try database.undo(3).undoes == [3, 1])
    }
  }

  @Test("of the newest change goes on from one to the next, and so does redo, across a restart")
  func stack() throws {
    let place = try Place()
    let ada = Authorship(metadata: ["who": "ada"])
    try place.use { database in
      for number in 1...3 as ClosedRange<Int64> {
        try database.write(metadata: ["who": "ada"]) { tx in try tx.set("a", to: .integer(number)) }
        try database.write(metadata: ["who": "bob"]) { tx in try tx.set("b", to: .integer(number)) }
      }
      #expect(try database.undoLast(of: ada)?.undoes == [5])
    }
    try place.use { database in
      let undone = try database.undoLast(of: ada)
      #expect(undone?.undoes == [3])
      #expect(try database.read { try $0["a"].value } == 1)
      #expect(try database.read { try $0["b"].value } == 3)
    }
    try place.use { database in
      let again = try #require(try database.redo(of: ada))
      #expect(again.undoes == [8])
      #expect(
        try database.commit(again.sequence).metadata
          == ["who": "ada", "undoes": "8", "redoes": "3"])
      #expect(try database.read { try $0["a"].value } == 2)
    }
    try place.use { database in
      // Undoing a redo, and redoing that.
      #expect(try database.undoLast(of: ada)?.undoes == [9])
      #expect(try database.redo(of: ada)?.undoes == [10])
      #expect(try database.redo(of: ada)?.undoes == [7])
      #expect(try database.read { try $0["a"].value } == 3)
      #expect(try database.redo(of: ada) == nil)
      #expect(try database.undoLast(of: ada)?.undoes == [12])
      // Another's change keeps the redo, an own one does not.
      try database.write(metadata: ["who": "bob"]) { tx in try tx.set("b", to: 4) }
      try database.write(metadata: ["who": "ada"]) { tx in try tx.set("c", to: 4) }
      #expect(try database.redo(of: ada) == nil)
      #expect(try database.undoLast(of: Authorship(metadata: ["who": "zoe"])) == nil)
    }
    try place.expectSound()
  }

  @Test("waits with async writes, in their order")
  func async() async throws {
    try await withDatabase { database in
      try await database.write { tx in try tx.set("a", to: 1) }
      try await database.write { tx in try tx.set("a", to: 2) }
      #expect(try await database.undo(2).sequence == 3)
      #expect(try await database.undoLast()?.undoes == [1])
      #expect(try await database.redo()?.undoes == [4])
      #expect(try await database.revert(after: 0, upTo: 5)?.undoes.count == 5)
      #expect(try database.read { try $0.root.childCount } == 0)
    }
  }

  @Test("reaches back to the horizon, and says so before it")
  func horizon() throws {
    try withDatabase { database in
      for number in 1...6 as ClosedRange<Int64> {
        try database.write { tx in
          try tx.set("a/b", to: .integer(number))
          try tx.set(NodePath(keys: ["n", .integer(number)]), to: 1)
        }
      }
      try database.write { tx in try tx.remove("n") }
      try database.compact(upTo: 4)
      let error = #expect(throws: DatabaseError.self) { try database.undo(4) }
      #expect(error == .compacted(oldest: 4))
      for sequence in [7, 6, 5] as [SequenceNumber] {
        #expect(try database.undoLast()?.undoes == [sequence])
      }
      #expect(try database.undoLast() == nil)
      #expect(try database.read { try $0["n"].childCount } == 4)
      #expect(try database.read { try $0["a/b"].value } == 4)
    }
  }

  @Test("of a transaction that is not there is refused")
  func noSuchTransaction() throws {
    try withDatabase { database in
      for sequence in [0, 1] as [SequenceNumber] {
        let error = #expect(throws: DatabaseError.self) { try database.undo(sequence) }
        guard case .noSuchMoment? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
      let undone = try database.revert(after: 0, upTo: 0)
      #expect(undone == nil)
    }
  }

  @Test("names transactions in lists that are read again, and nothing else is one")
  func lists() {
    #expect(SequenceList.text([12, 9, 8, 7, 3]) == "12 7-9 3")
    #expect(SequenceList.read("12 7-9 3") == [12, 9, 8, 7, 3])
    for text in ["x", "3-", "-3", "9-7", "0", "1-2-3", "1-99999999999", "18446744073709551616"] {
      #expect(SequenceList.read(text) == nil, "\(text)")
    }
  }
}

/// Expects that something is refused, because these nodes have changed.
private func expectConflict(
  _ paths: [NodePath], sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Undone
) {
  let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
  guard case .undoConflict(let conflicts)? = error else {
    Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
    return
  }
  #expect(conflicts.map(\.path) == paths, sourceLocation: sourceLocation)
}
