import Cambium

/// A batch of updates as a list view gets it: positions alone, no elements.
struct ListBatch {
  /// Positions of sections before.
  var sectionDeletions: [Int] = []
  /// Positions of sections after.
  var sectionInsertions: [Int] = []
  var sectionMoves: [(from: Int, to: Int)] = []
  /// Positions before.
  var deletions: [SectionedPosition] = []
  /// Positions after.
  var insertions: [SectionedPosition] = []
  var moves: [(from: SectionedPosition, to: SectionedPosition)] = []
  /// Told in a batch of their own, at positions after; the positions before are said as well.
  var reloads: [(before: SectionedPosition, after: SectionedPosition)] = []

  init<Element>(_ diff: LiveDiff<Element>) {
    func position(_ item: Int) -> SectionedPosition { SectionedPosition(section: 0, item: item) }
    deletions = diff.deletions.map { position($0.position) }
    insertions = diff.insertions.map { position($0.position) }
    moves = diff.moves.map { (position($0.from), position($0.to)) }
    reloads = diff.updates.map { (position($0.before), position($0.after)) }
  }

  init<Element, Key>(_ diff: SectionedDiff<Element, Key>) {
    sectionDeletions = diff.sectionDeletions.map(\.position)
    sectionInsertions = diff.sectionInsertions.map(\.position)
    sectionMoves = diff.sectionMoves.map { ($0.from, $0.to) }
    deletions = diff.deletions.map(\.position)
    insertions = diff.insertions.map(\.position)
    moves = diff.moves.map { ($0.from, $0.to) }
    reloads = diff.updates.map { ($0.before, $0.after) }
  }

  /// Checks all that can be told without the view's content.
  func checkUniqueness() throws(StrictListError) {
    try requireAscending(sectionDeletions, "deletions of sections")
    try requireAscending(sectionInsertions, "insertions of sections")
    try requireAscending(sectionMoves.map(\.from).sorted(), "moves of sections")
    try requireAscending(sectionMoves.map(\.to), "moves of sections")
    try Self.requireApart(
      sectionDeletions, sectionMoves.map(\.from),
      "perform a delete and a move from the same section")
    try Self.requireApart(
      sectionInsertions, sectionMoves.map(\.to), "perform an insert and a move to the same section")
    try requireAscending(deletions, "deletions")
    try requireAscending(insertions, "insertions")
    try requireAscending(moves.map(\.from).sorted(), "moves")
    try requireAscending(moves.map(\.to), "moves")
    try Self.requireApart(
      deletions, moves.map(\.from), "perform a delete and a move from the same index path")
    try Self.requireApart(
      insertions, moves.map(\.to), "perform an insert and a move to the same index path")
    try requireAscending(reloads.map(\.before).sorted(), "reloads")
    try requireAscending(reloads.map(\.after), "reloads")
    try Self.requireApart(
      deletions, reloads.map(\.before), "delete and reload the same index path")
    try Self.requireApart(
      insertions, reloads.map(\.after), "insert and reload the same index path")
  }

  private static func requireApart<Position: Hashable>(
    _ some: [Position], _ others: [Position], _ attempt: String
  ) throws(StrictListError) {
    if let both = Set(some).intersection(others).first {
      throw StrictListError("attempt to \(attempt) (\(both))")
    }
  }
}
