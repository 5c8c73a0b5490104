// Goal: a branch has the same past as its origin, from then on each is its own, and whatever a
// database may go through it can be branched. Method: branches are compared with replays, which
// make the same from the records alone; the origin's files must not change.

import Foundation
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("A branch") struct BranchTests {
  @Test(
    "of any moment of a random history has the tree, the history and the log of that moment",
    arguments: SeededGenerator.seeds(51, 52))
  func moments(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 8)
      try await history.run(calls: 600)
      let head = history.model.head
      var random = SeededGenerator(seed: seed)
      for turn in 0..<6 {
        let sequence = turn == 0 ? head : SequenceNumber(UInt64(random.below(Int(head.rawValue))))
        let (place, replayed) = (try Place(), try Place())
        #expect(try database.branch(at: .sequence(sequence), to: place.path) == sequence)
        try database.replay(to: replayed.path, until: sequence)
        let digest = try replayed.use { try expectSound($0) }
        try place.use { branch in
          #expect(try expectSound(branch) == digest)
          try requireSameValues(branch, history.model.nodes(at: sequence), "at \(sequence)")
          #expect(try branch.own != database.own)
          try branch.write { try $0.set("own", to: 1) }
          #expect(try branch.head == sequence.next)
        }
      }
      #expect(try database.head == head)
    }
  }

  @Test("and its origin are written, compacted and undone without each other")
  func apart() throws {
    let place = try Place()
    try withDatabase { database in
      for number in 1...20 { try database.write { try $0.set("n", to: .integer(Int64(number))) } }
      try database.branch(to: place.path)
      try place.use { branch in
        try branch.compact(upTo: 19)
        try branch.write { try $0.set("n", to: 0) }
        try database.undo(20)
        #expect(try branch.snapshot()["n"].value == 0)
        #expect(try database.snapshot()["n"].value == 19)
        #expect(try database.snapshot(at: .sequence(3))["n"].value == 3)
        try expectSound(branch)
      }
    }
  }

  @Test("of a compacted database shares its baseline, which neither loses to the other")
  func baseline() throws {
    let place = try Place()
    let origin = try Place()
    try origin.use { database in
      for number in 1...20 { try database.write { try $0.set("n", to: .integer(Int64(number))) } }
      try database.compact(upTo: 15)
      try database.branch(at: .sequence(17), to: place.path)
      #expect(throws: DatabaseError.self) {
        try database.branch(at: .sequence(2), to: place.beside("early.cambium"))
      }
      try database.compact(upTo: 19)
    }
    try FileManager.default.removeItem(atPath: origin.path)
    try place.use { branch in
      #expect(try branch.snapshot()["n"].value == 17)
      #expect(try branch.snapshot(at: .sequence(16))["n"].value == 16)
      try branch.rebuild()
      try expectSound(branch)
    }
  }

  @Test("has tags up to its moment, the blobs, and no consumers")
  func belongings() throws {
    let place = try Place()
    try withDatabase { database in
      let blob = try database.store(Data(repeating: 7, count: 300_000))
      try database.write { try $0.set("photo", to: .blob(blob)) }
      try database.tag("early")
      try database.write { try $0.set("a", to: 1) }
      try database.tag("late")
      try database.consumer("mail").advance(to: 1)
      try database.branch(at: .sequence(1), to: place.path)
      try place.use { branch in
        let snapshot = try branch.snapshot()
        let (tags, consumers) = try branch.directory.log.read { log in
          (try log.tags().map(\.name), try log.consumers().map(\.name))
        }
        #expect(tags == ["early"] && consumers.isEmpty)
        #expect(try snapshot.read(blob).count == 300_000)
        #expect(try !snapshot["a"].exists)
      }
    }
  }

  @Test("is refused where something is, and leaves nothing behind")
  func refused() throws {
    let place = try Place()
    try withDatabase { database in
      try database.write { try $0.set("a", to: 1) }
      try place.use { _ in }
      #expect(throws: DatabaseError.self) { try database.branch(to: place.path) }
      #expect(throws: DatabaseError.self) {
        try database.branch(at: .sequence(9), to: place.beside("x.cambium"))
      }
      #expect(throws: DatabaseError.self) {
        try database.branch(to: place.beside("missing/x.cambium"))
      }
      #expect(try place.neighbors == ["test.cambium"])
    }
  }

  @Test("needs a clone that has all of the file, or leaves nothing where there are no clones")
  func clone() throws {
    let place = try Place()
    let (source, target) = (place.beside("source"), place.beside("target"))
    let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    try content.write(to: URL(filePath: source))
    let isDone = try Files.clone(source, to: target)
    #expect(Files.exists(target) == isDone)
    if isDone { #expect(try Data(contentsOf: URL(filePath: target)) == content) }
    try Files.share(source, as: place.beside("shared"))
    #expect(try Data(contentsOf: URL(filePath: place.beside("shared"))) == content)
  }

  @Test("in the middle of being made is swept by whoever makes a database there next")
  func swept() throws {
    let place = try Place()
    for name in ["log", "state-1", "checkpoint-3", "baseline-2"] {
      let path = place.beside("test.cambium.42.tmp/\(name)")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try place.use { _ in }
    #expect(try place.neighbors == ["test.cambium"])
  }
}

extension Database {
  /// The id under which the database writes.
  fileprivate var own: UUID { get throws { try directory.log.read { try $0.format().origin } } }
}
