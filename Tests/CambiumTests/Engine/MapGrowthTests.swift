// Goal: that the map of the state is full in the middle of a body goes unnoticed. The database
// gives it room and applies the recorded operations again, those of the group's earlier bodies,
// too. Method: the map begins at its smallest, and random histories are run in groups that do not
// make room before they begin, so that the map runs full at random places: in bodies, in
// savepoints, after bodies that threw, in the commit.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("A map that is too small")
struct MapGrowthTests {
  /// The size of the state's map in bytes.
  private func mapBytes(_ database: Database) throws -> Int {
    try database.directory.currentState().environment.usage().mapBytes
  }

  @Test(
    "grows inside bodies and savepoints, and the database is as the model is",
    arguments: SeededGenerator.seeds(6, 7, 8, 9))
  func insideGroups(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase({ $0.mapSize = 1 << 17 }) { database in
      let history = RandomHistory(database, seed: seed, callsMax: 20)
      history.calls.isBulky = true
      var growths = 0
      for _ in 0..<15 {
        let before = try mapBytes(database)
        try history.runInSmallMap(calls: 200)
        if try mapBytes(database) > before { growths += 1 }
      }
      #expect(growths > 1)
      try history.compareMoments(20)
      try await history.compareFeed()
    }
  }

  @Test("grows for the entries of the log as well, and for what a compaction commits")
  func entries() throws {
    for pages in 24..<56 {
      try withDatabase({ $0.mapSize = pages << 12 }) { database in
        for number in 1...6 {
          try database.write { tx in try tx.set(NodePath("a/\(number)"), to: 1) }
        }
        try database.setRetention(Retention(duration: .seconds(1)))
        try database.compact(upTo: 4, archives: true)
        #expect(try database.horizon == 4)
      }
    }
  }

  @Test("grows for the few small records of an erasure", arguments: 16...26)
  func erasure(pages: Int) throws {
    var options = Database.Options()
    options.mapSize = pages << 12
    let place = try Place()
    try place.use({ $0.mapSize = options.mapSize }) { database in
      for number in 0..<4 { try database.write { try $0.set(NodePath("n\(number)"), to: 1) } }
    }
    let erasure = try Database.erase("n2", at: place.path, options: options)
    #expect(erasure.sequence == 5)
    try place.use { database in
      let (isThere, other) = try database.read { try ($0["n2"].exists, $0["n3"].exists) }
      #expect(!isThere && other)
      #expect(try database.verify().findings.isEmpty)
    }
  }

  @Test("grows for the blobs of a repair, of which none is lost")
  func repair() throws {
    let place = try Place()
    try place.fill(2)
    var random = SeededGenerator(seed: 1)
    try place.use { database in
      for number in 0..<8 {
        let bytes = (0..<40_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let blob = try database.store(Data(bytes))
        try database.write { try $0.set(NodePath("b/\(number)"), to: .blob(blob)) }
      }
    }
    try place.damageRecord(2)
    var options = Database.Options()
    options.mapSize = 1 << 17
    let copy = try Place()
    let result = try Database.repair(place.path, by: .salvage, to: copy.path, options: options)
    #expect(result.blobsLost == 0)
    try copy.use { database in
      let count = try database.read { try $0["b"].childCount }
      #expect(count == 8)
      #expect(try database.verify().findings.isEmpty)
    }
  }

  @Test("grows for what another process has logged, however much that is")
  func catchingUp() throws {
    func shrink(_ options: inout Database.Options) {
      options.mapSize = 1 << 17
      options.stepSizes.groupRoom = 1 << 13
    }
    try withDatabase(shrink) { database in
      let before = try mapBytes(database)
      let large = Value.string(String(repeating: "logged by another", count: 50_000))
      try database.appendToLog("late", large)
      try database.write { tx in try tx.set("next", to: 1) }
      let (late, next) = try database.read { try ($0["late"].value, $0["next"].value) }
      #expect(late == large && next == 1)
      #expect(try mapBytes(database) > before)
    }
  }

  @Test("grows where only the commit of what another process has logged finds it full")
  func catchingUpCommit() throws {
    for pages in 16..<80 {
      func shrink(_ options: inout Database.Options) {
        options.mapSize = pages << 12
        options.stepSizes.groupRoom = 1 << 12
      }
      try withDatabase(shrink) { database in
        for number in 0..<24 {
          let large = Value.string(String(repeating: "\(number)", count: 900 + 300 * (number % 5)))
          try database.appendToLog(NodePath("late/\(number)"), large)
          try database.write { tx in try tx.set(NodePath("own/\(number)"), to: 1) }
        }
        let count = try database.read { try $0["late"].childCount + $0["own"].childCount }
        #expect(count == 48)
      }
    }
  }

  @Test("grows during a walk over children, which goes on")
  func insideWalk() throws {
    try withDatabase({ $0.mapSize = 1 << 17 }) { database in
      let large = Value.data(Data(count: 10_000))
      _ = try database.writeInSmallMap(1) { tx in
        for number in 0..<1_000 { try tx.set(NodePath("a/\(number)"), to: 0) }
      }
      let before = try mapBytes(database)
      var count: Int64 = 0
      let outcomes = try database.writeInSmallMap(1) { tx in
        try tx["a"].children.forEach { child in
          #expect(child.key == .integer(count))
          try tx.attempt { try tx.set(child.path, to: large) }
          count += 1
        }
      }
      for outcome in outcomes { try outcome.get() }
      #expect(count == 1_000)
      #expect(try mapBytes(database) > before)
      #expect(try database.read { try $0["a/999"].value } == large)
    }
  }
}
