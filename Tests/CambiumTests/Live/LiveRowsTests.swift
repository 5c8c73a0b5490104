// Goal: a window that is kept up to date is always the one that the whole order has, and its
// differences lead from one to the next. Method: random changes of numbered rows from a printed
// seed, with few rows behind the window, so that it runs short and overflows all the time; the
// whole order is an array.
//
// It finds a refill that is left out, a bound that is ignored, and a place that is kept.

import Simulation
import Testing

@testable import Cambium

@Suite("The rows of a live query")
struct LiveRowsTests {
  /// All rows there are: the root's number, and the ranks by which its rows are ordered.
  private typealias World = [UInt8: [UInt8]]

  private static func rows(of root: UInt8, _ ranks: [UInt8]) -> [PlacedResult] {
    ranks.enumerated().map { index, rank in
      PlacedResult(
        place: [rank, root, 0, UInt8(index)],
        identity: ResultIdentity(key: [root], joined: [[UInt8(index)]]))
    }
  }

  private static func order(_ world: World) -> [PlacedResult] {
    world.flatMap { rows(of: $0.key, $0.value) }
      .sorted { $0.place.lexicographicallyPrecedes($1.place) }
  }

  private static func fetch(_ world: World) -> LiveRows.Fetch {
    { last, most in
      let behind = order(world).filter { row in
        last.map { $0.place.lexicographicallyPrecedes(row.place) } ?? true
      }
      return Array(behind.prefix(most ?? behind.count))
    }
  }

  @Test("are those of the whole order", arguments: SeededGenerator.seeds(Array(1...24)))
  func window(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let limit = random.oneIn(5) ? nil : random.below(6)
    let offset = random.below(4)
    var world: World = [:]
    for root in 0..<UInt8(30) { world[root] = [UInt8(random.below(50))] }
    var rows = LiveRows(
      WindowExtent(offset: offset, limit: limit, slack: random.below(3)))
    try rows.fill(Self.fetch(world))
    for step in 0..<300 {
      let before = rows.visible.map(\.identity)
      var candidates: [[UInt8]: [PlacedResult]] = [:]
      for _ in 0...random.below(4) {
        let root = UInt8(random.below(40))
        // Often near the front, where the window is.
        let count = random.oneIn(3) ? 0 : 1 + random.below(random.oneIn(4) ? 12 : 2)
        world[root] = (0..<count).map { _ in UInt8(random.below(random.oneIn(2) ? 8 : 50)) }
        candidates[[root]] = Self.rows(of: root, world[root] ?? []).shuffled(using: &random)
      }
      let made = candidates.map { LiveRows.Candidate(key: $0, rows: $1) }
      let diff = try rows.replace(made, Self.fetch(world))
      let wanted = Self.order(world).dropFirst(offset).prefix(limit ?? .max).map(\.identity)
      let found = rows.visible.map(\.identity)
      try #require(found == Array(wanted), "seed \(seed), step \(step), \(offset) \(limit ?? -1)")
      let applied = Self.applied(diff, to: before)
      try #require(applied == found, "seed \(seed), step \(step): \(diff)")
    }
  }

  @Test("follow one record that is joined to many", arguments: SeededGenerator.seeds(1, 2, 3))
  func manyOfOne(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for limit in [nil, 700] {
      var rows = LiveRows(WindowExtent(limit: limit))
      try rows.fill { _, _ in [] }
      var all: [PlacedResult] = []
      for step in 0..<8 {
        // Some join by another rank, some no more, and some as they did.
        let kept = Set((0..<2000).filter { _ in !random.oneIn(3) })
        all = (0..<2000).filter { kept.contains($0) || random.oneIn(4) }.map { index in
          let name = [UInt8(index / 250), UInt8(index % 250)]
          let rank = step > 0 && kept.contains(index) ? UInt8(index % 7) : UInt8(random.below(250))
          return PlacedResult(
            place: [rank, 1, 0] + name, identity: ResultIdentity(key: [1], joined: [name]))
        }
        let ordered = all.sorted { $0.place.lexicographicallyPrecedes($1.place) }
        let before = rows.visible.map(\.identity)
        let candidate = LiveRows.Candidate(key: [1], rows: all.shuffled(using: &random))
        let diff = try rows.replace([candidate]) { last, most in
          let behind = ordered.filter { row in
            last.map { $0.place.lexicographicallyPrecedes(row.place) } ?? true
          }
          return Array(behind.prefix(most ?? behind.count))
        }
        let found = rows.visible.map(\.identity)
        #expect(
          found == ordered.prefix(limit ?? .max).map(\.identity), "seed \(seed), step \(step)")
        #expect(Self.applied(diff, to: before) == found, "seed \(seed), step \(step)")
      }
    }
  }

  /// The window that a difference leads to.
  private static func applied(_ diff: WindowDiff, to before: [ResultIdentity]) -> [ResultIdentity] {
    let told = diff.toldMoves
    let moves = diff.moved.filter { told.contains($0.to) }
    let lost = Set(diff.deletions.map(\.position) + moves.map(\.from))
    var after = before.enumerated().filter { !lost.contains($0.offset) }.map(\.element)
    let gained =
      diff.insertions.map { ($0.position, $0.row.identity) }
      + moves.map { ($0.to, $0.row.identity) }
    for (position, identity) in gained.sorted(by: { $0.0 < $1.0 }) {
      after.insert(identity, at: position)
    }
    return after
  }
}
