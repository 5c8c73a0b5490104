// Goal: the database is what its log says, at every moment, whatever was done to it.
// Method: random histories, from a seed that is printed, are made on a database and on a plain
// model that keeps every state whole. Each call must do the same to both, or be refused by both;
// then the present, the past and the feed are compared, before and after a rebuild and a
// reopening.

import Simulation
import Testing

@testable import Cambium

@Suite("A random history")
struct HistoryModelTests {
  @Test(
    "reads at every moment as the model does, rebuilt too",
    arguments: SeededGenerator.seeds(1, 2))
  func small(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 60)
      try await history.run(calls: 10_000)
      for sequence in 0...history.model.head.rawValue {
        try history.compare(at: SequenceNumber(sequence))
      }
      try await history.compareFeed()
      try compareRebuilt(history)
    }
  }

  @Test(
    "of many transactions reads at random moments as the model does, rebuilt too",
    arguments: SeededGenerator.seeds(3, 4))
  func large(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      for _ in 0..<5 {
        try await history.run(calls: 2_400)
        try history.compareMoments(20)
      }
      try await history.compareFeed()
      try compareRebuilt(history)
      #expect(history.refusalCount > history.callCount / 10)
      #expect(history.refusalCount < history.callCount * 9 / 10)
    }
  }

  @Test("reads as the model does where a transaction restores, changes and removes one subtree")
  func restoredChangedAndRemoved() async throws {
    try await withDatabase { database in
      let history = RandomHistory(database, seed: 111, callsMax: 60)
      try await history.run(calls: 10_000)
      try history.compareMoments(40)
      try compareRebuilt(history)
    }
  }

  @Test(
    "tells history, blame and diff as the model does, rebuilt and compacted too",
    arguments: SeededGenerator.seeds(5, 6))
  func time(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: seed % 2 == 0 ? 4 : 12)
      var told = RandomHistory.Told()
      for _ in 0..<3 {
        try await history.run(calls: 800)
        try history.compareTime(10, &told)
      }
      try await database.rebuild()
      try history.compareTime(10, &told)
      try history.compact(archives: false)
      try history.compareTime(10, &told)
      try await history.run(calls: 400)
      try history.compareTime(10, &told)
      #expect(told.steps > 100 && told.moves > 5, "\(told)")
      #expect(told.blamed > 10)
      #expect(told.differences > 500)
    }
  }

  private func compareRebuilt(_ history: RandomHistory) throws {
    let database = history.database
    let digest = try expectSound(database)
    try database.rebuild()
    #expect(try expectSound(database) == digest)
    try history.compareMoments(20)
  }
}
