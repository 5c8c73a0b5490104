import Cambium

/// The changes that lead from one state of a list to another. Every row that came or went is in it,
/// also one whose section came or went with it.
///
/// Whoever applies it removes the deleted rows and those that move, by their places before; then
/// removes, moves and inserts sections; then inserts rows and those that moved, by their places
/// after; and last replaces the values of updated rows, by their places after.
struct ListDifference: Sendable {
  /// The place of a row: its section, and its number in that.
  struct Place: Hashable, Sendable {
    let section: Int
    let row: Int
  }

  struct Move<P: Sendable>: Sendable {
    let from: P
    let to: P
  }

  /// A row with other values than before; a row that moved as well is among the moves, too.
  struct Update: Sendable {
    let before: Place
    let after: Place
    /// The names of the values that differ.
    let names: [String]
  }

  /// Sections that are gone, by their numbers before.
  private(set) var sectionDeletions: [Int] = []
  /// New sections, by their numbers after.
  private(set) var sectionInsertions: [Int] = []
  private(set) var sectionMoves: [Move<Int>] = []
  private(set) var deletions: [Place] = []
  private(set) var insertions: [Place] = []
  private(set) var moves: [Move<Place>] = []
  private(set) var updates: [Update] = []

  /// True if nothing differs.
  var isEmpty: Bool {
    sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
      && deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Compares two states of a list.
  ///
  /// - Complexity: O(*n* log *n*) for *n* rows.
  init(from old: WatchedList, to new: WatchedList) {
    compareSections(old.sections.map(\.id), new.sections.map(\.id))
    let places = ListDifference.places(of: old)
    var kept: Set<WatchedList.RowID> = []
    for (section, content) in new.sections.enumerated() {
      compareRows(content, at: section, old, places, &kept)
    }
    for (section, content) in old.sections.enumerated() {
      for (row, content) in content.rows.enumerated() where !kept.contains(content.id) {
        deletions.append(Place(section: section, row: row))
      }
    }
  }

  private mutating func compareSections(
    _ old: [WatchedList.SectionID], _ new: [WatchedList.SectionID]
  ) {
    let before = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
    let left = Set(new)
    sectionDeletions = old.indices.filter { !left.contains(old[$0]) }
    sectionInsertions = new.indices.filter { before[new[$0]] == nil }
    let pairs = new.indices.compactMap { after in
      before[new[after]].map { Move(from: $0, to: after) }
    }
    let resting = ListDifference.increasing(pairs.map(\.from))
    sectionMoves = zip(pairs, resting).filter { !$1 }.map(\.0)
  }

  /// Compares the rows of a section with what they were. Of those that were in it before, as many
  /// as can keep their order rest; the others move.
  private mutating func compareRows(
    _ content: WatchedList.Section, at section: Int, _ old: WatchedList,
    _ places: [WatchedList.RowID: Place], _ kept: inout Set<WatchedList.RowID>
  ) {
    var stayed: [Move<Place>] = []
    for (row, content) in content.rows.enumerated() {
      let after = Place(section: section, row: row)
      guard let before = places[content.id] else {
        insertions.append(after)
        continue
      }
      kept.insert(content.id)
      let previous = old.sections[before.section].rows[before.row]
      if previous.values != content.values {
        let names = ListDifference.names(previous.values, content.values)
        updates.append(Update(before: before, after: after, names: names))
      }
      stayed.append(Move(from: before, to: after))
    }
    let isOwn = stayed.map { old.sections[$0.from.section].id == content.id }
    var resting = ListDifference.increasing(
      zip(stayed, isOwn).filter(\.1).map(\.0.from.row))[...]
    for (move, isOwn) in zip(stayed, isOwn) where !(isOwn && resting.popFirst() == true) {
      moves.append(move)
    }
  }

  private static func places(of list: WatchedList) -> [WatchedList.RowID: Place] {
    var places: [WatchedList.RowID: Place] = [:]
    for (section, content) in list.sections.enumerated() {
      for (row, content) in content.rows.enumerated() {
        places[content.id] = Place(section: section, row: row)
      }
    }
    return places
  }

  private static func names(_ old: ValueMap, _ new: ValueMap) -> [String] {
    let names = Set(old.members.map(\.name)).union(new.members.map(\.name))
    return names.filter { old[$0] != new[$0] }.sorted()
  }

  /// A longest part of the numbers that increases: true for each number that is in it.
  static func increasing(_ numbers: [Int]) -> [Bool] {
    // ends[n] is the index of the smallest number at which a part of n + 1 numbers can end.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var isIn = [Bool](repeating: false, count: numbers.count)
    var next = ends.last
    while let index = next {
      isIn[index] = true
      next = previous[index]
    }
    return isIn
  }
}
