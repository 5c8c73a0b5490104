// Goal: the pages that a plan expects of appended entries are those that LMDB takes.
// Method: LMDB itself appends entries of sizes that a seed draws, many of which fill a page to its
// last byte, and counts its pages.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The plan of a compaction")
struct PlanningTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test(
    "counts the pages of appended entries as LMDB does", arguments: SeededGenerator.seeds(1, 2, 3))
  func appendedPages(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try Files.createDirectory(place.path)
    let environment = try Environment(
      at: place.path, Environment.Options(tables: ["entries"], mapSize: 1 << 24, synced: false))
    defer { environment.close() }
    let table = try environment.table("entries")
    let transaction = try WriteTransaction(environment)
    var pages = AppendedPages()
    for number in 0..<200 as Range<UInt64> {
      // Ten entries with values of 390 bytes fill a page, and two with 2,022 bytes do.
      let count = random.pick([390, 390, 390, 2022, random.below(6000)])
      let (key, value) = ([UInt8](bigEndian: number), [UInt8](repeating: 1, count: count))
      try key.lend { key in
        try value.lend { try transaction.put(table, key, $0, .append) }
      }
      pages.add(key: key.count, value: value.count)
      let found = try environment.pageBytes(["entries"], transaction.access)
      #expect(pages.bytes == found, "entry \(number)")
    }
    try transaction.commit()
  }

  @Test("says the bytes that log, state and baseline use")
  func bytesInUse() throws {
    try place.use { database in
      try database.count(50)
      try database.compact(upTo: 20)
      let information = try database.information()
      let plan = try database.planCompaction(keeping: Retention(transactions: 10), measures: false)
      let bytes = information.tables.reduce(information.baselineBytes) { $0 + $1.bytes }
      #expect(plan.bytesBefore == bytes && plan.bytesAfter == bytes)
      try expectSound(database)
    }
  }
}
