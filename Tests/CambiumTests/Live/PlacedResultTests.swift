import Simulation
import Testing

@testable import Cambium

@Suite("The rows of live queries, as bytes")
struct PlacedResultTests {
  /// Keys of which some are beginnings of others, or empty.
  private static func key(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<random.below(4)).map { _ in UInt8(random.below(3)) }
  }

  private static func identity(_ random: inout SeededGenerator) -> ResultIdentity {
    let key = key(&random)
    return ResultIdentity(key: key, joined: (0..<random.below(4)).map { _ in Self.key(&random) })
  }

  @Test("give back the place and the keys that they were made of", arguments: [1, 2] as [UInt64])
  func parts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let identity = Self.identity(&random)
      let orderings = Self.key(&random)
      let place = random.oneIn(3) ? orderings + [9] : orderings + identity.bytes
      let row = PlacedResult(place: place, identity: identity)
      #expect(row.place == place && row.identity == identity, "seed \(seed)")
      #expect(row.key == identity.key && row.joined == identity.joined, "seed \(seed)")
    }
  }

  @Test("are found by their roots as in a list of them", arguments: [1, 2, 3] as [UInt64])
  func roots(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var rows = RowsByRoot()
    var all: [PlacedResult] = []
    for _ in 0..<3_000 {
      if !all.isEmpty, random.below(9) < 4 {
        rows.remove(all.remove(at: random.below(all.count)))
      } else {
        let identity = Self.identity(&random)
        let row = PlacedResult(place: Self.key(&random) + identity.bytes, identity: identity)
        // No two rows have the same place.
        if all.contains(where: { $0.isAt(row) }) { continue }
        all.append(row)
        rows.insert(row)
      }
      #expect(rows.count == all.count, "seed \(seed)")
      let root = random.oneIn(2) ? Self.key(&random) : all.last?.key ?? []
      let wanted = all.filter { $0.key == root }.map(\.place)
      let found = rows.rows(of: root).map(\.place)
      #expect(Set(found) == Set(wanted) && found.count == wanted.count, "seed \(seed)")
      #expect(rows.hasRows(of: root) == !wanted.isEmpty, "seed \(seed)")
    }
  }

  @Test("have their keys sorted, each once", arguments: [1, 2] as [UInt64])
  func keys(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let keys = (0..<random.below(20)).map { _ in Self.key(&random) }
      let sorted = SortedKeys(keys)
      let wanted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
      #expect(sorted.keys == wanted, "seed \(seed)")
      #expect(sorted.isEmpty == keys.isEmpty)
      let other = Self.key(&random)
      #expect(sorted.contains(other) == keys.contains(other), "seed \(seed)")
    }
  }
}
