import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A tag")
struct TagTests {
  @Test("names a moment, stays when the state is made anew, and goes when it is removed")
  func lifeOfATag() throws {
    let place = try Place()
    try place.fill(5)
    try place.use { database in
      #expect(try database.tag("release-2", at: .sequence(4)).sequence == 4)
      try database.tag("start", at: .sequence(0))
      try database.tag("b", at: .sequence(2))
      try database.tag("a", at: .sequence(2))
      #expect(try database.head == 5)
    }
    try place.distrust()
    try place.use { database in
      #expect(try database.tags.map(\.name) == ["start", "a", "b", "release-2"])
      #expect(try database.read(at: .tag("release-2")) { try $0["n"].childCount } == 4)
      #expect(try database.snapshot(at: .tag("start")).sequence == 0)
      try database.rebuild()
      #expect(try database.removeTag("b"))
      #expect(try !database.removeTag("b"))
      #expect(try database.tags.map(\.sequence) == [0, 2, 4])
      let error = #expect(throws: DatabaseError.self) { try database.snapshot(at: .tag("b")) }
      guard case .noSuchMoment? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    try place.expectSound()
  }

  @Test("is not moved by tagging another moment with its name")
  func taken() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.tag("x")
      try database.tag("x", at: .sequence(1))
      try database.write { tx in try tx.set("a", to: 2) }
      let error = #expect(throws: DatabaseError.self) { try database.tag("x") }
      guard case .exists? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try database.tags == [CommitTag(name: "x", sequence: 1)])
    }
  }

  @Test(
    "has a name that can stand on a command line",
    arguments: ["", "a b", "a\n", "-x", ".x", "x.", "a..b", "\u{7F}"]
      + [String(repeating: "x", count: 401)])
  func badNames(_ name: String) throws {
    try withDatabase { database in
      let error = #expect(throws: DatabaseError.self) { try database.tag(name, at: .now) }
      guard case .badKey? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      let tags = try database.tags
      #expect(tags.isEmpty)
    }
  }

  @Test("goes along into a copy that reaches its moment")
  func replayed() throws {
    try withDatabase { database in
      for number in 1...3 as ClosedRange<Int64> {
        try database.write { tx in try tx.set("a", to: .integer(number)) }
      }
      try database.tag("two", at: .sequence(2))
      try database.tag("three", at: .sequence(3))
      let copy = try Place()
      try database.replay(to: copy.path, until: 2)
      try copy.use { copy in
        #expect(try copy.tags.map(\.name) == ["two"])
        try expectSound(copy)
      }
    }
  }

  @Test("that is damaged, or of a moment to come, is found by verification")
  func damaged() throws {
    let names = ["tag/x": UInt64(9), "tag/a b": 1]
    for (name, sequence) in names {
      let place = try Place()
      try place.fill(1)
      try place.editLog { transaction, tables in
        var bytes: [UInt8] = []
        bytes.append(littleEndian: sequence)
        try transaction.put(tables.meta, name, MetaEntry.seal(bytes, name: name))
      }
      try place.use { database in
        let findings = try database.verify().findings
        #expect(findings.map(\.part) == ["log"])
        let error = #expect(throws: DatabaseError.self) { try database.tags.count }
        guard case .corrupt? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
    }
  }
}
