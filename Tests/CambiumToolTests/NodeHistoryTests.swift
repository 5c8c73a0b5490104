// Goal: a node's history is complete and has nothing else, whatever happened to it and those above
// it. Method: random transactions on a small tree (values, records, removals, moves, restorations),
// then for every path the versions found are compared with what reading every moment shows.

import Cambium
import Testing

@testable import CambiumTool

@Suite("A node's history", .timeLimit(.minutes(10)))
struct NodeHistoryTests {
  @Test(
    "has every transaction that changed the node, and no other", arguments: [1, 2, 3] as [UInt64])
  func isComplete(seed: UInt64) throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      var random = SplitMix(seed: seed)
      for _ in 0..<250 { try Self.change(database, &random) }
      var count = 0
      for path in try Self.paths() {
        let expected = try Self.versions(of: path, database)
        #expect(try Self.found(path, database) == expected, "seed \(seed), \(path)")
        count += expected.count
      }
      #expect(count > 500, "seed \(seed): the transactions changed something")
      #expect(try database.verify().isSound)
    }
  }

  @Test("is empty for a path where nothing ever was")
  func isEmpty() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      #expect(try Self.found("a/b", database).isEmpty)
      try database.write { tx in try tx.set("a/c", to: 1) }
      #expect(try Self.found("a/b", database).isEmpty)
    }
  }

  private static let names = ["a", "b", "c"]

  /// All paths of up to three keys, and properties of records.
  private static func paths() throws -> [Path] {
    var texts = names
    for _ in 0..<2 { texts += texts.flatMap { text in names.map { "\(text)/\($0)" } } }
    texts += texts.flatMap { ["\($0)/p", "\($0)/q"] }
    return try Set(texts).sorted().map { try Path($0) }
  }

  private static func randomPath(_ random: inout SplitMix) throws -> Path {
    let count = Int.random(in: 1...3, using: &random)
    return try Path(
      (0..<count).map { _ in names.randomElement(using: &random) ?? "a" }
        .joined(separator: "/"))
  }

  /// One transaction of some operations; those that are refused are left out.
  private static func change(_ database: Database, _ random: inout SplitMix) throws {
    let count = Int.random(in: 1...3, using: &random)
    try database.write { tx in
      for _ in 0..<count {
        let (path, other) = (try randomPath(&random), try randomPath(&random))
        let number = Int64.random(in: 0...2, using: &random)
        let removal = SequenceNumber(UInt64.random(in: 1...tx.sequence.rawValue, using: &random))
        do {
          switch Int.random(in: 0..<10, using: &random) {
          case 0...1: try tx.set(path, to: .integer(number))
          case 2...3: try tx.set(path, to: ["p": .integer(number), "q": 1])
          case 4: try tx.update(path, ["p": .integer(number)])
          case 5: try tx.update(path, ["q": nil])
          case 6...7: try tx.remove(path)
          case 8: try tx.move(path, to: other)
          default: try tx.restore(path, removedAt: removal)
          }
        } catch is DatabaseError {
          // What this state does not allow.
        }
      }
    }
  }

  /// The versions by reading every moment, oldest first.
  private static func versions(of path: Path, _ database: Database) throws -> [SequenceNumber] {
    var versions: [SequenceNumber] = []
    var old = try database.snapshot(at: .sequence(.zero))[path]
    let head = try database.head
    var sequence = SequenceNumber.zero
    while sequence < head {
      sequence = sequence.next
      let new = try database.snapshot(at: .sequence(sequence))[path]
      let isSame =
        try old.exists == new.exists && old.value == new.value && new.modified != sequence
      if !isSame { versions.append(sequence) }
      old = new
    }
    return versions
  }

  private static func found(_ path: Path, _ database: Database) throws -> [SequenceNumber] {
    var history = try NodeHistory(database, path)
    var found: [SequenceNumber] = []
    while let version = try history.next() {
      found.append(version.sequence)
      let before = try database.snapshot(at: .sequence(version.sequence.previous))[path]
      let after = try database.snapshot(at: .sequence(version.sequence))[path]
      #expect(try version.old.value == before.value && version.old.isThere == before.exists)
      #expect(try version.new.value == after.value && version.new.isThere == after.exists)
    }
    return found.reversed()
  }
}
