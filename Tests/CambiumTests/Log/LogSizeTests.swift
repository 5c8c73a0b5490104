// Goal: the log stays small. Method: what the log's tables take for each operation, hot and sealed,
// of transactions of 1,000 operations, each of which sets one property of a random record.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The log of a thousand sets in each transaction")
struct LogSizeTests {
  @Test(
    "takes at most 35 bytes for each while hot, and 27 sealed", arguments: SeededGenerator.seeds(1))
  func bytes(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      try database.write { tx in
        for item in 0..<10_000 as Range<Int64> {
          try tx.set(NodePath(keys: ["items", .integer(item)]), to: ["price": 0])
        }
      }
      try database.compact(upTo: 1)
      let empty = try size(database)
      for _ in 0..<50 {
        try database.write { tx in
          for _ in 0..<1_000 {
            let path = NodePath(keys: ["items", .integer(Int64(random.below(10_000)))])
            try tx.update(path, ["price": .integer(Int64(random.below(1_000_000)))])
          }
        }
      }
      let hot = Double(try size(database) - empty) / 50_000
      try database.compact(upTo: 51, archives: true)
      let sealed = Double(try size(database) - empty) / 50_000
      print("\(hot) bytes hot, \(sealed) sealed")
      #expect(hot <= 35)
      #expect(sealed <= 27)
    }
  }

  /// The bytes of the pages that hold records and segments.
  private func size(_ database: Database) throws -> Int {
    try database.information().tables
      .filter { $0.environment == "log" && ["records", "segments"].contains($0.name) }
      .reduce(0) { $0 + Int($1.bytes) }
  }
}
