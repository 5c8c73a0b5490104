// Goal: folding a log always gives the same state, however it is cut into steps; and where it does
// not, verifying says so.
// Method: random histories, compacted or not, folded twice; then a fold that ends one record early.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Verifying by replaying", .timeLimit(.minutes(1)))
struct ReplayCheckTests {
  @Test(
    "folds a random history twice and finds the same", arguments: SeededGenerator.seeds(11, 12))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      for round in 0..<3 {
        try await history.run(calls: 500)
        if round == 1 { try history.compact(archives: seed % 2 == 0) }
        let plain = try database.verify()
        let replayed = try database.verify(replaying: true)
        #expect(plain.replays == 0 && replayed.replays == 2)
        #expect(replayed.findings == [] && replayed.digest == plain.digest)
        #expect(replayed.nodes == plain.nodes)
      }
    }
  }

  @Test("says that a fold gave something else")
  func difference() throws {
    let place = try Place()
    try place.use { database in
      try database.count(20)
      var verifier = Verifier(database.directory, replaying: true, nil)
      let sound = try verifier.run()
      #expect(sound.isSound && sound.replays == 2)
      let early = place.beside("early.cambium")
      try database.replay(to: early, until: 19)
      let other = try Database(at: early)
      try verifier.replay(try other.directory.currentState())
      #expect(verifier.result.findings.map(\.part) == ["log"])
      try expectSound(other)
      try other.close()
    }
    try place.expectSound()
  }

  @Test("says that a table has one entry more than it should, or fewer", arguments: [true, false])
  func lastEntry(isMore: Bool) throws {
    let place = try Place()
    try place.fill(3)
    try place.editState { transaction, tables in
      var cursor = try Cursor(transaction.access, tables.counts)
      let isThere = try cursor.last()
      #expect(isThere)
      let (key, value) = cursor.withEntry { ($0.array(), $1.array()) }
      let added = isMore ? [UInt8](repeating: 0xFE, count: key.count) : key
      try added.lend { key in
        if isMore { try value.lend { try transaction.put(tables.counts, key, $0) } }
        if !isMore { _ = try transaction.delete(tables.counts, key) }
      }
    }
    let words = try place.use { try $0.verify().findings.map(\.description) }
    let wanted = "counts has \(isMore ? "more" : "fewer") entries than the log says"
    #expect(words.contains { $0.contains(wanted) }, "\(words)")
  }
}
