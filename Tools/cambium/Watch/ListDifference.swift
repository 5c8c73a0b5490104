import Cambium

/// The changes that lead from one state of a list to the next. Every row that came or went is in
/// it, also one whose section came or went with it: a table view does without these, which a live
/// query leaves out, and a reader of JSON lines does not.
///
/// Whoever applies it removes the deleted rows and those that move, by their places before; then
/// removes, moves and inserts sections; then inserts rows and those that moved, by their places
/// after; and last replaces the values of updated rows, by their places after.
struct ListDifference: Sendable {
  struct Move<Place: Sendable>: Sendable {
    let from: Place
    let to: Place
  }

  /// A row with other values than before; a row that moved as well is among the moves, too.
  struct Update: Sendable {
    let before: SectionedPosition
    let after: SectionedPosition
    /// The names of the values that differ.
    var names: [String] = []
  }

  /// Sections that are gone, by their numbers before.
  let sectionDeletions: [Int]
  /// New sections, by their numbers after.
  let sectionInsertions: [Int]
  let sectionMoves: [Move<Int>]
  private(set) var deletions: [SectionedPosition] = []
  private(set) var insertions: [SectionedPosition] = []
  private(set) var moves: [Move<SectionedPosition>]
  private(set) var updates: [Update]

  /// True if nothing differs.
  var isEmpty: Bool {
    sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
      && deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Names each row of a step of a live query. A row that left its section and came into another,
  /// of which one has come or gone as a whole, has moved.
  ///
  /// - Complexity: O(*n* log *n*) for *n* rows that the step concerns.
  init(
    _ diff: SectionedDiff<DynamicRecord, Value>, before list: WatchedList,
    identity: (DynamicRecord) -> Value
  ) {
    sectionDeletions = diff.sectionDeletions.map(\.position)
    sectionInsertions = diff.sectionInsertions.map(\.position)
    sectionMoves = diff.sectionMoves.map { Move(from: $0.from, to: $0.to) }
    moves = diff.moves.map { Move(from: $0.from, to: $0.to) }
    updates = diff.updates.map { Update(before: $0.before, after: $0.after) }
    let gone = ListDifference.places(diff.deletions.map(\.position), sectionDeletions) {
      list.sections[$0].rows.count
    }
    let came = ListDifference.places(diff.insertions.map(\.position), sectionInsertions) {
      diff.sections[$0].count
    }
    var left = Dictionary(grouping: gone) { list[$0].identity }
    for place in came {
      let key = identity(diff.sections[place])
      guard let from = left[key]?.first else {
        insertions.append(place)
        continue
      }
      left[key]?.removeFirst()
      moves.append(Move(from: from, to: place))
      updates.append(Update(before: from, after: place))
    }
    deletions = left.values.joined().sorted()
    moves.sort { $0.to < $1.to }
    updates.sort { $0.after < $1.after }
  }

  /// Places of rows, and those of all rows in whole sections.
  private static func places(
    _ places: [SectionedPosition], _ sections: [Int], _ count: (Int) -> Int
  ) -> [SectionedPosition] {
    let whole = sections.flatMap { section in
      (0..<count(section)).map { SectionedPosition(section: section, item: $0) }
    }
    return (places + whole).sorted()
  }

  /// Names the values that differ, and drops the updates of rows in which none does.
  ///
  /// - Parameter names: Gives the names of the values that differ in the row at a place after.
  mutating func update(_ names: (SectionedPosition) -> [String]) {
    for index in updates.indices { updates[index].names = names(updates[index].after) }
    updates.removeAll(where: \.names.isEmpty)
  }

  /// The names under which two rows have different values.
  static func names(_ old: ValueMap, _ new: ValueMap) -> [String] {
    let names = Set(old.members.map(\.name)).union(new.members.map(\.name))
    return names.filter { old[$0] != new[$0] }.sorted()
  }
}
