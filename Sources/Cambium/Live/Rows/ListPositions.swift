/// Follows rows through one step, from their positions before to those after and back.
///
/// A position costs O(log *m*) for *m* rows that came, went or moved; the others are not visited.
struct ListPositions {
  /// Positions before of rows that went or moved; ascending.
  private let sources: [Int]
  /// Positions after of rows that came or moved; ascending.
  private let targets: [Int]
  private let moved: [Int: Int]
  private let movedBack: [Int: Int]

  init(removed: some Sequence<Int>, inserted: some Sequence<Int>, moves: [ListMove]) {
    sources = (removed + moves.map(\.before)).sorted()
    targets = (inserted + moves.map(\.after)).sorted()
    moved = Dictionary(uniqueKeysWithValues: moves.map { ($0.before, $0.after) })
    movedBack = Dictionary(uniqueKeysWithValues: moves.map { ($0.after, $0.before) })
  }

  /// The position after of the row that was at a position before; nil if it went.
  func after(_ before: Int) -> Int? {
    moved[before] ?? Self.follow(before, from: sources, to: targets)
  }

  /// The position before of the row that is at a position after; nil if it came.
  func before(_ after: Int) -> Int? {
    movedBack[after] ?? Self.follow(after, from: targets, to: sources)
  }

  private static func follow(_ position: Int, from left: [Int], to taken: [Int]) -> Int? {
    let passed = left.partitionPoint { $0 < position }
    if passed < left.count && left[passed] == position { return nil }
    let rank = position - passed
    // As many taken positions lie before the free position with this rank as have at most `rank`
    // free ones before them, which grows from one to the next.
    return rank + taken.indices.partitionPoint { taken[$0] - $0 <= rank }
  }
}
