import Simulation
import Testing

@testable import Cambium

// The goal: the moves that are told are enough to explain the new order, and no fewer would do.
// The method: all subsets of the touched rows are tried, in lists of up to eight of them.
@Suite("Rows that moved")
struct MovedRowsTests {
  // Finds a gap that counts touched or inserted rows, and a subsequence that is not the longest.
  @Test(
    "are as few touched rows as the new order needs",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func fewest(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<400 {
      let before = Array(0..<random.below(14))
      let touched = Set(before.shuffled(using: &random).prefix(random.below(8)))
      let removed = Set(before.filter { !touched.contains($0) && random.oneIn(5) })
      var after = before.filter { !touched.contains($0) && !removed.contains($0) }
      for row in touched { after.insert(row, at: random.below(after.count + 1)) }
      for new in 0..<random.below(4) { after.insert(100 + new, at: random.below(after.count + 1)) }
      let moves = Self.moves(before, after, touched: touched)
      let moved = Set(moves.map(\.before))
      #expect(Self.explains(moved, before, after), "seed \(seed), round \(round)")
      #expect(
        moved.count == Self.fewest(touched, before, after), "seed \(seed), round \(round)")
      #expect(moves.map(\.after) == moves.map(\.after).sorted())
      #expect(moves.allSatisfy { after[$0.after] == before[$0.before] })
    }
  }

  private static func moves(_ before: [Int], _ after: [Int], touched: Set<Int>) -> [ListMove] {
    MovedRows.moves(
      removed: before.indices.filter { !after.contains(before[$0]) },
      inserted: after.indices.filter { !before.contains(after[$0]) },
      touched: touched.compactMap { row in
        guard let old = before.firstIndex(of: row), let new = after.firstIndex(of: row) else {
          return nil
        }
        return ListMove(before: old, after: new)
      })
  }

  /// True if all rows but the moved ones keep their order.
  private static func explains(_ moved: Set<Int>, _ before: [Int], _ after: [Int]) -> Bool {
    before.filter { after.contains($0) && !moved.contains($0) }
      == after.filter { before.contains($0) && !moved.contains($0) }
  }

  private static func fewest(_ touched: Set<Int>, _ before: [Int], _ after: [Int]) -> Int? {
    let rows = Array(touched)
    let subsets = (0..<1 << rows.count).map { bits in
      Set(rows.indices.filter { bits & 1 << $0 != 0 }.map { rows[$0] })
    }
    return subsets.filter { explains($0, before, after) }.map(\.count).min()
  }

  // Finds a row that is told to move because others came or went before it.
  @Test("are none where a touched row stays between its neighbours")
  func staying() {
    let moves = MovedRows.moves(
      removed: [0, 1], inserted: [3], touched: [ListMove(before: 4, after: 2)])
    #expect(moves == [])
  }

  // Finds an algorithm that is quadratic: it would take minutes.
  @Test("are found among 200,000 touched rows")
  func many() {
    let touched = (0..<200_000).map { ListMove(before: $0, after: 199_999 - $0) }
    #expect(MovedRows.moves(removed: [], inserted: [], touched: touched).count == 199_999)
  }

  // Finds a search that prefers more values to heavier ones.
  @Test("leave the heaviest ones where they are")
  func weights() {
    #expect(
      HeaviestAscent.kept([3, 0, 1, 2], weights: [5, 1, 1, 1]) == [true, false, false, false])
    #expect(
      HeaviestAscent.kept([3, 0, 1, 2], weights: [2, 1, 1, 1]) == [false, true, true, true])
    #expect(HeaviestAscent.kept([]) == [])
  }

  // Finds a position that counts moved rows twice, or a row that went.
  @Test("are followed forth and back, with all others", arguments: SeededGenerator.seeds(1, 2))
  func positions(seed: UInt64) {
    var list = RandomList(seed: seed, count: 60)
    for round in 0..<200 {
      let before = list.items
      let diff = list.step()
      let after = list.items
      let positions = diff.boxed.positions
      for (place, item) in before.enumerated() {
        let expected =
          diff.deletions.contains { $0.position == place }
          ? nil : after.firstIndex { $0.id == item.id }
        #expect(positions.after(place) == expected, "seed \(seed), round \(round)")
        if let expected { #expect(positions.before(expected) == place) }
      }
      for insertion in diff.insertions { #expect(positions.before(insertion.position) == nil) }
    }
  }
}
