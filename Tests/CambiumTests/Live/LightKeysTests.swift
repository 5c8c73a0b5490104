// Goal: references, the entries of a dictionary and light keys are followed, and give what is
// stored when they are looked at. Method: models that change at random, and a strict view.

import Simulation
import Testing

@testable import Cambium

@Suite("Light keys and references", .timeLimit(.minutes(2)))
struct LightKeysTests {
  private typealias Issue = LiveCollectionTests.Issue
  private typealias Board = LiveCollectionTests.Board

  // Finds a model that changed and is not read again, references out of order, one that is there
  // twice, and changes that are lost where the references themselves change.
  @Test("of references and entries", arguments: SeededGenerator.seeds(1, 2, 3))
  func references(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, 19)
    try withDatabase { database in
      try LiveCollectionTests.register(database)
      let id = Board.ID(1)
      let issues = try database.live(references: \.issues, of: id)
      let pinned = try database.live(references: \.pinned, of: id)
      let voted = try database.lazy(references: \.votes, of: id, keeping: 4)
      let votes = try database.live(entries: \.votes, of: id)
      var views = (StrictListView(issues), StrictListView(votes), StrictListView(pinned))
      for round in 0..<200 {
        try database.write { tx in try LiveCollectionTests.change(tx, &random) }
        if random.oneIn(3) { continue }
        try views.0.apply(try issues.refresh())
        try views.1.apply(try votes.refresh())
        try views.2.apply(try pinned.refresh())
        try voted.refresh()
        let board = try database.find(id)
        #expect(try Array(issues) == database.find(board?.issues ?? []), "round \(round)")
        let inOrder = (board?.pinned ?? []).sorted()
        #expect(try Array(pinned) == database.find(inOrder), "round \(round)")
        let entries = (board?.votes ?? [:]).sorted { $0.key._keyText < $1.key._keyText }
        #expect(votes.map(\.key) == entries.map(\.key), "round \(round)")
        #expect(votes.map(\.value) == entries.map(\.value), "round \(round)")
        #expect(votes[Issue.ID(3)] == board?.votes[3], "round \(round)")
        #expect(voted.map(\.id) == entries.map(\.key), "round \(round)")
        for position in voted.indices where random.oneIn(2) {
          let stored = try database.find(entries[position].key)
          #expect(try voted.model(at: position) == stored, "round \(round)")
        }
        #expect(voted.keptCount <= 4)
      }
    }
  }

  // Finds a kept model that a change, or a change among more than are noted, leaves out of date,
  // and a bound that is none.
  @Test("reads models when they are looked at", arguments: SeededGenerator.seeds(1, 2))
  func lazy(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, 20)
    try withDatabase { database in
      try LiveCollectionTests.register(database)
      try database.write { tx in
        for key in 0..<700 { try tx.insert(Issue(id: .init(key), rank: key % 9)) }
      }
      let query = database.query(Issue.self).order(by: \.rank, \.id)
      let lazy = try query.lazyLive(keeping: 40)
      for round in 0..<60 {
        // Now and then more than a mailbox holds.
        for _ in 0..<(round % 30 == 29 ? 2 : 1) {
          try database.write { tx in
            for key in 0..<(round % 30 == 29 ? 700 : 3) {
              let id = Issue.ID(round % 30 == 29 ? key : random.below(700))
              try tx.upsert(Issue(id: id, rank: random.below(9), isOpen: random.oneIn(2)))
            }
            if random.oneIn(3) { _ = try tx.delete(Issue.ID(random.below(700))) }
          }
        }
        try lazy.refresh()
        let stored = try query.fetch()
        #expect(lazy.map(\.id) == stored.map(\.id), "seed \(seed), round \(round)")
        for _ in 0..<30 {
          let position = random.below(min(stored.count, 60))
          #expect(try lazy.model(at: position) == stored[position], "seed \(seed), round \(round)")
        }
        #expect(lazy.keptCount <= 40 && lazy.keptCount > 0)
      }
      let first = lazy[0].id
      try database.delete(first)
      // It may be kept: nothing says that it is gone before the next difference.
      try lazy.refresh()
      #expect(lazy[0].id != first)
    }
  }
}
