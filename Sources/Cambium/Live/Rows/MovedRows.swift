// Finds which rows of a list have moved, as far as somebody who sees only the list can tell.
//
// A row whose place changed need not have moved: its sort term can change without passing another
// row. Untouched rows never move; they cut the list into gaps.
//
//     before   A  x  y  B  z        A, B untouched
//     after    A  y  x  B  z        x or y has moved, z has not
//
// A row that lies in another gap than before has moved. Of the rows that stay in their gap, a
// longest subsequence that keeps its order stays, and the others have moved. No smaller set of
// touched rows would do.

/// A row that is in a list before and after a step.
struct ListMove: Equatable, Sendable {
  let before: Int
  let after: Int
}

enum MovedRows {
  /// Finds the touched rows that have moved, in O(*m* log *m*).
  ///
  /// - Parameters:
  ///   - removed: The positions before of rows that went, in any order.
  ///   - inserted: The positions after of rows that came, in any order.
  ///   - touched: The rows that stay and may have another place, in any order.
  /// - Returns: The moves that must be told, ascending by position after.
  static func moves(removed: [Int], inserted: [Int], touched: [ListMove]) -> [ListMove] {
    if touched.isEmpty { return [] }
    let gapsBefore = gaps(of: touched.map(\.before), besides: removed)
    let gapsAfter = gaps(of: touched.map(\.after), besides: inserted)
    var moved = touched.indices.filter { gapsBefore[$0] != gapsAfter[$0] }
    let inGap = touched.indices.filter { gapsBefore[$0] == gapsAfter[$0] }
      .sorted { touched[$0].before < touched[$1].before }
    // Gaps ascend in both lists, so that one search does for all of them.
    let stays = HeaviestAscent.kept(inGap.map { touched[$0].after })
    moved += zip(inGap, stays).filter { !$0.1 }.map(\.0)
    return moved.map { touched[$0] }.sorted { $0.after < $1.after }
  }

  /// For each position, the number of untouched rows before it.
  private static func gaps(of positions: [Int], besides others: [Int]) -> [Int] {
    let touched = (positions + others).sorted()
    return positions.map { position in position - touched.partitionPoint { $0 < position } }
  }
}
