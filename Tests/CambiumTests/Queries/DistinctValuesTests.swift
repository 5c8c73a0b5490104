import Simulation
import Testing

@testable import Cambium

@Suite("Distinct values")
struct DistinctValuesTests {
  @Test("are the first of each, in order, whatever memory holds", arguments: 0..<8)
  func bounded(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let kinds = 1 + Int(random.next() % 3_000)
    var distinct = DistinctValues(bytesMax: Int(random.next() % 100_000))
    var (found, wanted, seen): ([[Value]], [[Value]], Set<Int>) = ([], [], [])
    for _ in 0..<4_000 {
      let kind = Int(random.next() % UInt64(kinds))
      let values: [Value] = [.integer(Int64(kind % 7)), .string("number \(kind)"), .null]
      if seen.insert(kind).inserted { wanted.append(values) }
      if try distinct.isNew(values) { found.append(values) }
    }
    let limit = found.count + Int(random.next() % 2_000)
    try distinct.forEachLater { values in
      if found.count < limit { found.append(values) }
      return found.count < limit
    }
    #expect(found == Array(wanted.prefix(max(limit, found.count))), "seed \(seed)")
  }
}
