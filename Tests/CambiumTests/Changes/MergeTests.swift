import Foundation
import Testing

@testable import Cambium

@Suite("A merge") struct MergeTests {
  /// Lends a database of two users, and a branch of it.
  private func withBranch(
    _ body: (_ database: Database, _ branch: Database) throws -> Void
  ) throws {
    let place = try Place()
    try withDatabase { database in
      try database.write(actor: "ada") { tx in
        try tx.set("users/ada", to: ["name": "Ada", "born": 1816])
        try tx.set("users/bob", to: ["name": "Bob"])
      }
      try database.branch(to: place.path)
      try place.use { branch in
        try body(database, branch)
        try expectSound(branch)
      }
    }
  }

  @Test("takes over what the branch has changed, and says what it has merged")
  func takesOver() throws {
    try withBranch { database, branch in
      try branch.write { try $0.update("users/ada", ["born": 1815]) }
      try branch.write { try $0.remove("users/bob") }
      try database.write { try $0.update("users/ada", ["name": "Ada Lovelace"]) }
      let merged = try #require(try database.merge(branch, actor: "eve"))
      #expect(merged.upTo == 3 && merged.conflicts.isEmpty)
      #expect(
        try database.snapshot()["users/ada"].value == ["name": "Ada Lovelace", "born": 1815])
      #expect(try !database.snapshot()["users/bob"].exists)
      let metadata = try database.commit(merged.sequence).metadata
      #expect(metadata["actor"] == "eve" && metadata["merges"]?.hasPrefix("3 ") == true)
      #expect(try database.merge(branch) == nil)
      #expect(try branch.merge(database) != nil)
      #expect(try database.diff(with: branch).fetch() == [])
      #expect(try database.merge(branch) == nil)
    }
  }

  @Test("names a conflict with who changed the place and why, on both sides, and stores nothing")
  func names() throws {
    try withBranch { database, branch in
      try database.write(metadata: ["reason": "census"], actor: "bob") {
        try $0.update("users/ada", ["born": 1814])
      }
      try database.write { try $0.update("users/ada", ["name": "A."]) }
      try branch.write(actor: "eve") { try $0.update("users/ada", ["born": 1815]) }
      let head = try database.head
      let error = try #require(throws: DatabaseError.self) { try database.merge(branch) }
      guard case .mergeConflict(let conflicts) = error else { throw error }
      let conflict = try #require(conflicts.first)
      #expect(conflicts.count == 1 && conflict.path == "users/ada" && conflict.property == "born")
      #expect(conflict.base == 1816)
      #expect(conflict.here.value == 1814 && conflict.here.changedBy == 2)
      #expect(conflict.here.metadata == ["actor": "bob", "reason": "census"])
      #expect(conflict.there.value == 1815 && conflict.there.metadata == ["actor": "eve"])
      #expect(try database.head == head)
    }
  }

  @Test("decides nothing twice")
  func decidesOnce() throws {
    try withBranch { database, branch in
      try database.write { try $0.update("users/ada", ["born": 1814]) }
      try branch.write { try $0.update("users/ada", ["born": 1815, "name": "Ada L."]) }
      try database.merge(branch, onConflict: .skipConflicts)
      try branch.write { try $0.update("users/bob", ["name": "Robert"]) }
      let merged = try #require(try database.merge(branch))
      #expect(merged.conflicts.isEmpty)
      #expect(try database.snapshot()["users/ada"].value == ["name": "Ada L.", "born": 1814])
    }
  }

  @Test("knows what has come over another branch")
  func indirect() throws {
    try withBranch { database, branch in
      let place = try Place()
      try branch.branch(to: place.path)
      try place.use { third in
        try third.write { try $0.update("users/ada", ["born": 1815]) }
        try branch.merge(third)
        try database.merge(branch)
        try third.write { try $0.update("users/ada", ["born": 1814]) }
        // Without the mark that came along, this would be a conflict: both have changed 1816.
        try database.merge(third)
        #expect(try database.snapshot()["users/ada"]["born"] == 1814)
        try expectSound(third)
      }
    }
  }

  @Test("of a subtree leaves the rest, and is remembered for that subtree alone")
  func subtree() throws {
    try withBranch { database, branch in
      try branch.write { tx in
        try tx.update("users/ada", ["born": 1815])
        try tx.update("users/bob", ["name": "Robert"])
      }
      try database.merge(branch, under: "users/bob")
      #expect(try database.snapshot()["users/ada"]["born"] == 1816)
      #expect(try database.merge(branch, under: "users/bob") == nil)
      try database.merge(branch)
      #expect(try database.snapshot()["users/ada"]["born"] == 1815)
      #expect(try database.diff(with: branch).fetch() == [])
    }
  }

  @Test("holds the rules of the database, in whatever order records come")
  func rules() throws {
    try withBranch { database, branch in
      var lead = PropertyDefinition("lead", .reference("users"))
      (lead.deleteRule, lead.mustExist) = (.deny, true)
      var teams = CollectionDefinition()
      teams.properties = [lead]
      for side in [database, branch] { try side.write { try $0.declare("teams", teams) } }
      // The reference comes before what it leads to, in path order.
      try branch.write { tx in
        try tx.set("users/zoe", to: ["name": "Zoe"])
        try tx.set("teams/a", to: ["lead": "zoe"])
      }
      try database.merge(branch)
      #expect(try database.snapshot()["teams/a"]["lead"] == "zoe")
      try branch.write { try $0.set("teams/b", to: ["lead": "bob"]) }
      try database.write { try $0.remove("users/bob") }
      let head = try database.head
      #expect(throws: DatabaseError.self) { try database.merge(branch) }
      #expect(try database.head == head)
    }
  }

  @Test("brings along the blobs that it needs; a preview does not")
  func blobs() throws {
    try withBranch { database, branch in
      let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let blob = try branch.store(content)
      try branch.write { try $0.update("users/ada", ["photo": .blob(blob)]) }
      let preview = try #require(try database.mergePreview(branch))
      #expect(preview.changes.map(\.path) == ["users/ada"])
      #expect(try database.directory.log.read { try !$0.hasBlob(blob) })
      try database.merge(branch)
      #expect(try database.snapshot().read(blob) == content)
    }
  }

  @Test("waits without blocking, and tells observers as any write does")
  func waits() async throws {
    let place = try Place()
    try await withDatabase { database in
      try await database.write { tx in try tx.set("a", to: 1) }
      try database.branch(to: place.path)
      let branch = try place.open()
      try await branch.write { tx in try tx.set("a", to: 2) }
      let merged = try #require(try await database.merge(branch))
      let commit = try database.commit(merged.sequence)
      #expect(try commit.changes.fetch() == [Change(path: "a", old: 1, new: 2)])
      try await branch.close()
    }
  }

  @Test("of databases that share no past is refused, and so is one with itself")
  func refuses() throws {
    try withDatabase { database in
      try database.write { try $0.set("a", to: 1) }
      try withDatabase { other in
        try other.write { try $0.set("a", to: 1) }
        #expect(throws: DatabaseError.self) { try database.merge(other) }
        #expect(throws: DatabaseError.self) { try database.diff(with: other) }
      }
      #expect(throws: DatabaseError.self) { try database.merge(database) }
    }
  }
}
