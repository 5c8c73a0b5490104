import Cambium

/// A list view without a screen that applies batches of updates as UIKit's do, and throws where
/// they raise.
///
/// It keeps what its cells show. A batch moves cells and asks the data source, that is the diff's
/// own result, for inserted and reloaded ones alone. So a change that a diff forgets to tell leaves
/// a stale cell behind, which is found when all cells are compared with the data source at the end.
///
/// Stricter than UIKit: positions must ascend; rows of sections that are inserted, deleted or moved
/// must not be named (views have crashed or drawn wrong cells for each of these); a reload must
/// name the cell's own position before; and the elements in a diff must be those of the cells.
package struct StrictListView<Element: Equatable & Sendable, Key: Hashable & Sendable> {
  struct Section {
    var key: Key
    var cells: [Element]
  }

  private var sections: [Section]

  /// A view that shows all sections of a data source.
  package init(_ source: LiveSections<Element, Key>) { sections = Self.sections(of: source) }

  private static func sections(of source: LiveSections<Element, Key>) -> [Section] {
    source.map { Section(key: $0.key, cells: Array($0.elements)) }
  }

  /// Applies a diff with sections.
  ///
  /// - Throws: ``StrictListError`` for what a list view would raise, and where the view then shows
  ///   something else than the diff's result; the view is then as before.
  package mutating func apply(_ diff: SectionedDiff<Element, Key>) throws(StrictListError) {
    try checkContent(diff)
    try apply(ListBatch(diff), Self.sections(of: diff.sections))
  }

  private mutating func apply(_ batch: ListBatch, _ source: [Section]) throws(StrictListError) {
    try batch.checkUniqueness()
    let origins = try sectionOrigins(batch, source.count)
    try checkRanges(batch, source)
    var view = Self(sections: [])
    for (index, section) in source.enumerated() {
      guard let origin = origins[index] else {
        view.sections.append(section)
        continue
      }
      let cells = try cells(batch, of: origin, at: index, section.cells)
      view.sections.append(Section(key: sections[origin].key, cells: cells))
    }
    try view.reload(batch, source, before: sections)
    try view.compare(with: source)
    self = view
  }

  private init(sections: [Section]) { self.sections = sections }
}

// A view of a result without sections is one of a single section.
extension StrictListView where Key == Int {
  /// A view that shows a flat list.
  package init(_ elements: some Sequence<Element>) {
    sections = [Section(key: 0, cells: Array(elements))]
  }

  /// Applies a diff without sections.
  ///
  /// - Throws: As ``apply(_:)-(SectionedDiff<Element,Key>)``.
  package mutating func apply(_ diff: LiveDiff<Element>) throws(StrictListError) {
    let (before, after) = (sections[0].cells, diff.elements)
    for deletion in diff.deletions {
      try Self.requireEqual(before, deletion.position, deletion.element, "deleted")
    }
    for insertion in diff.insertions {
      try Self.requireEqual(after, insertion.position, insertion.element, "inserted")
    }
    for move in diff.moves { try Self.requireEqual(after, move.to, move.element, "moved") }
    for update in diff.updates {
      try Self.requireEqual(before, update.before, update.old, "old")
      try Self.requireEqual(after, update.after, update.new, "new")
    }
    try apply(ListBatch(diff), [Section(key: 0, cells: Array(after))])
  }

  private static func requireEqual(
    _ list: some RandomAccessCollection<Element>, _ position: Int, _ element: Element,
    _ name: String
  ) throws(StrictListError) {
    guard position >= 0 && position < list.count else {
      throw StrictListError("index \(position) is out of bounds of \(list.count) elements")
    }
    let cell = list[list.index(list.startIndex, offsetBy: position)]
    try require(cell == element, "the \(name) element at \(position) is \(element), not \(cell)")
  }
}

// The batch.
extension StrictListView {
  /// For each section after, its position before; nil if it is inserted.
  private func sectionOrigins(
    _ batch: ListBatch, _ countAfter: Int
  ) throws(StrictListError) -> [Int?] {
    for section in batch.sectionDeletions + batch.sectionMoves.map(\.from) {
      try require(
        sections.indices.contains(section),
        "attempt to delete section \(section), but there are only \(sections.count) sections "
          + "before the update")
    }
    for section in batch.sectionInsertions + batch.sectionMoves.map(\.to) {
      try require(
        section >= 0 && section < countAfter,
        "attempt to insert section \(section), but there are only \(countAfter) sections after "
          + "the update")
    }
    let count = sections.count - batch.sectionDeletions.count + batch.sectionInsertions.count
    try require(
      count == countAfter,
      "invalid number of sections: \(countAfter) after the update, \(count) expected")
    var origins = [Int?](repeating: nil, count: countAfter)
    for move in batch.sectionMoves { origins[move.to] = move.from }
    let taken = Set(batch.sectionInsertions + batch.sectionMoves.map(\.to))
    let gone = Set(batch.sectionDeletions + batch.sectionMoves.map(\.from))
    let free = origins.indices.filter { !taken.contains($0) }
    for (after, before) in zip(free, sections.indices.filter { !gone.contains($0) }) {
      origins[after] = before
    }
    return origins
  }

  private func checkRanges(_ batch: ListBatch, _ source: [Section]) throws(StrictListError) {
    let moved = Set(batch.sectionMoves.map(\.from))
    for position in batch.deletions + batch.moves.map(\.from) {
      try Self.requirePlace(position, in: sections, "before")
      try require(
        !batch.sectionDeletions.contains(position.section),
        "attempt to delete or move a row (\(position)) of a deleted section")
      try require(
        !moved.contains(position.section),
        "attempt to delete or move a row (\(position)) of a section that moves")
    }
    let movedTo = Set(batch.sectionMoves.map(\.to))
    for position in batch.insertions + batch.moves.map(\.to) {
      try Self.requirePlace(position, in: source, "after")
      try require(
        !batch.sectionInsertions.contains(position.section),
        "attempt to insert or move a row (\(position)) into a newly inserted section")
      try require(
        !movedTo.contains(position.section),
        "attempt to insert or move a row (\(position)) into a section that moves")
    }
    for reload in batch.reloads {
      try Self.requirePlace(reload.before, in: sections, "before")
      try Self.requirePlace(reload.after, in: source, "after")
      try require(
        !batch.sectionInsertions.contains(reload.after.section),
        "attempt to reload a row (\(reload.after)) of a newly inserted section")
    }
  }

  private static func requirePlace(
    _ position: SectionedPosition, in sections: [Section], _ moment: String
  ) throws(StrictListError) {
    guard sections.indices.contains(position.section) else {
      throw StrictListError(
        "section \(position.section) is out of bounds of \(sections.count) sections \(moment)")
    }
    let count = sections[position.section].cells.count
    if position.item < 0 || position.item >= count {
      throw StrictListError(
        "index path \(position): the section contains only \(count) rows \(moment) the update")
    }
  }

  /// The cells of a section that stays: its own and those that move into it.
  private func cells(
    _ batch: ListBatch, of before: Int, at after: Int, _ source: [Element]
  ) throws(StrictListError) -> [Element] {
    let gone = (batch.deletions + batch.moves.map(\.from)).filter { $0.section == before }
    let insertions = batch.insertions.filter { $0.section == after }
    let moves = batch.moves.filter { $0.to.section == after }
    let count = sections[before].cells.count - gone.count + insertions.count + moves.count
    if count != source.count {
      throw StrictListError(
        "invalid number of rows in section \(after): \(source.count) after the update, but "
          + "\(sections[before].cells.count) before it, \(insertions.count) inserted, "
          + "\(moves.count) moved in, \(gone.count) deleted or moved out")
    }
    var cells = [Element?](repeating: nil, count: count)
    for insertion in insertions { cells[insertion.item] = source[insertion.item] }
    for move in moves { cells[move.to.item] = sections[move.from.section].cells[move.from.item] }
    let left = Set(gone.map(\.item))
    var kept = sections[before].cells.indices.filter { !left.contains($0) }[...]
    return cells.map { cell in cell ?? sections[before].cells[kept.removeFirst()] }
  }

  private mutating func reload(
    _ batch: ListBatch, _ source: [Section], before: [Section]
  ) throws(StrictListError) {
    for reload in batch.reloads {
      let (from, to) = (reload.before, reload.after)
      try require(
        sections[to.section].cells[to.item] == before[from.section].cells[from.item],
        "attempt to reload another row at \(to) than was at \(from)")
      sections[to.section].cells[to.item] = source[to.section].cells[to.item]
    }
  }

  private func compare(with source: [Section]) throws(StrictListError) {
    for (index, section) in sections.enumerated() {
      try require(
        section.key == source[index].key,
        "section \(index) shows \(section.key), and is \(source[index].key)")
      for (item, cell) in section.cells.enumerated() {
        let element = source[index].cells[item]
        try require(cell == element, "row \(index):\(item) shows \(cell), and is \(element)")
      }
    }
  }
}

// The elements and keys in a diff.
extension StrictListView {
  private func checkContent(_ diff: SectionedDiff<Element, Key>) throws(StrictListError) {
    let source = Self.sections(of: diff.sections)
    for deletion in diff.deletions {
      try Self.requireEqual(sections, deletion.position, deletion.element, "before")
    }
    for insertion in diff.insertions {
      try Self.requireEqual(source, insertion.position, insertion.element, "after")
    }
    for move in diff.moves { try Self.requireEqual(source, move.to, move.element, "after") }
    for update in diff.updates {
      try Self.requireEqual(sections, update.before, update.old, "before")
      try Self.requireEqual(source, update.after, update.new, "after")
    }
    for deletion in diff.sectionDeletions {
      try Self.requireKey(sections, deletion.position, deletion.key)
    }
    for insertion in diff.sectionInsertions {
      try Self.requireKey(source, insertion.position, insertion.key)
    }
    for move in diff.sectionMoves {
      try Self.requireKey(sections, move.from, move.key)
      try Self.requireKey(source, move.to, move.key)
    }
  }

  private static func requireEqual(
    _ sections: [Section], _ place: SectionedPosition, _ element: Element, _ moment: String
  ) throws(StrictListError) {
    try requirePlace(place, in: sections, moment)
    let cell = sections[place.section].cells[place.item]
    if cell != element {
      throw StrictListError("the element at \(place) \(moment) is \(cell), not \(element)")
    }
  }

  private static func requireKey(
    _ sections: [Section], _ position: Int, _ key: Key
  ) throws(StrictListError) {
    guard sections.indices.contains(position) else {
      throw StrictListError(
        "section \(position) is out of bounds of \(sections.count) sections")
    }
    if sections[position].key != key {
      throw StrictListError("section \(position) is \(sections[position].key), not \(key)")
    }
  }
}
