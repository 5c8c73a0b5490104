import LMDB
import Testing

@testable import Cambium

@Suite("Cutting history")
struct HistoryCutTests {
  @Test("may stop after each entry that it takes out, inside removed subtrees, too")
  func smallSteps() throws {
    let place = try Place()
    try place.use { database in
      try database.write { tx in
        for number in 0..<8 {
          try tx.set(NodePath("a/\(number / 4)/\(number / 2)/\(number)"), to: 1)
        }
      }
      try database.write { tx in try tx.remove("a") }
      try database.write { tx in try tx.set("b", to: 1) }
      let before = try entries(of: database)
      var cut = HistoryCut(try database.directory.currentState(), upTo: 3)
      var steps = 1
      while try !cut.step(until: .now) { steps += 1 }
      #expect(steps > 14)
      #expect(try entries(of: database) == before - Int(cut.removed))
      try database.compact(upTo: 3)
      try expectSound(database)
    }
  }

  /// The number of entries in the state's tables that are cut.
  private func entries(of database: Database) throws -> Int {
    try database.information().tables.filter { $0.environment == "state" && $0.name != "meta" }
      .reduce(0) { $0 + $1.entries }
  }
}
