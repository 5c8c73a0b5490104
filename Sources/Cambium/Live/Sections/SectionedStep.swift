/// Decides how the changes of a step are told, in the way that list views accept.
struct SectionedStep {
  private let changes: [SectionedChange]
  private let arranged: ArrangedSections
  /// The places after of rows that have passed others in their section.
  private var passed: Set<SectionedPosition> = []
  /// The numbers of the sections that rows left, came into, or moved in.
  private var changed: Set<Int> = []
  /// Sections that are at another place among the others, by their numbers.
  private var moved: [Int: ListMove] = [:]
  /// The numbers of the sections whose rows are not told, since they are inserted or deleted, or
  /// both.
  private var hidden: Set<Int> = []

  init(_ changes: [SectionedChange], _ arranged: ArrangedSections) {
    (self.changes, self.arranged) = (changes, arranged)
    findPassed()
    findMoved()
    hidden = arranged.fresh.union(arranged.gone.keys)
      .union(moved.keys.filter { changed.contains($0) })
  }

  /// The changes that have a place of one kind, ascending by it.
  static func sorted(
    _ changes: [SectionedChange], by place: (SectionedChange) -> SectionedChange.Place?
  ) -> [SectionedChange] {
    changes.compactMap { change in place(change).map { ($0.position, change) } }
      .sorted { $0.0 < $1.0 }.map { $0.1 }
  }

  /// A place, if its section's rows are told.
  func shown(_ place: SectionedChange.Place?) -> SectionedPosition? {
    place.flatMap { hidden.contains($0.id) ? nil : $0.position }
  }

  /// True if a row that stays is told as a move.
  func isMove(_ change: SectionedChange) -> Bool {
    change.oldPlace?.id != change.newPlace?.id
      || change.newPlace.map { passed.contains($0.position) } == true
  }
}

// Rows.
extension SectionedStep {
  private struct Rows {
    var removed: [Int] = []
    var inserted: [Int] = []
    var touched: [ListMove] = []
    /// The position of the section after, unless it is gone.
    var section: Int?
  }

  /// Finds the rows that moved within their sections, and the sections whose rows are not the same
  /// ones in the same order.
  private mutating func findPassed() {
    for (id, rows) in rowsBySection() {
      let moves = MovedRows.moves(
        removed: rows.removed, inserted: rows.inserted, touched: rows.touched)
      if rows.removed.isEmpty && rows.inserted.isEmpty && moves.isEmpty { continue }
      changed.insert(id)
      guard let section = rows.section else { continue }
      for move in moves { passed.insert(SectionedPosition(section: section, item: move.after)) }
    }
  }

  private func rowsBySection() -> [Int: Rows] {
    var all: [Int: Rows] = [:]
    for change in changes {
      let (old, new) = (change.oldPlace, change.newPlace)
      if let new { all[new.id, default: Rows()].section = new.position.section }
      if let old, let new, old.id == new.id {
        guard change.isMoved else { continue }
        let move = ListMove(before: old.position.item, after: new.position.item)
        all[old.id, default: Rows()].touched.append(move)
      } else {
        if let old { all[old.id, default: Rows()].removed.append(old.position.item) }
        if let new { all[new.id, default: Rows()].inserted.append(new.position.item) }
      }
    }
    return all
  }
}

// Sections.
extension SectionedStep {
  /// Finds the sections that moved. To move a section costs one cell; but if its rows change, it
  /// has to be drawn anew with all its rows, so that its neighbours rather move.
  private mutating func findMoved() {
    guard let before = arranged.before else { return }
    let positions = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0.position) })
    var stay: [(id: Int, move: ListMove, weight: Int)] = []
    for (index, section) in arranged.after.enumerated() {
      guard let position = positions[section.id] else { continue }
      let weight = changed.contains(section.id) ? 1 + section.count : 1
      stay.append((section.id, ListMove(before: position, after: index), weight))
    }
    let kept = HeaviestAscent.kept(stay.map { $0.move.before }, weights: stay.map { $0.weight })
    for (section, isKept) in zip(stay, kept) where !isKept { moved[section.id] = section.move }
  }

  /// Sections that stay what they are and are told as moves, ascending by position after.
  var sectionMoves: [ListMove] {
    moved.filter { !hidden.contains($0.key) }.map { $0.value }.sorted { $0.after < $1.after }
  }

  /// Sections that are told as deleted and inserted again, since they moved and their rows changed.
  var redrawn: [ListMove] { moved.filter { hidden.contains($0.key) }.map { $0.value } }

  /// The positions after of sections told as inserted, ascending. A new section is found by one of
  /// the rows that came into it.
  var sectionInsertions: [Int] {
    var positions = Set(redrawn.map { $0.after })
    for change in changes {
      guard let place = change.newPlace, arranged.fresh.contains(place.id) else { continue }
      positions.insert(place.position.section)
    }
    return positions.sorted()
  }
}
