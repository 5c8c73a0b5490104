/// Removals by position before, and insertions by position after: all that changes the order of a
/// list in one step. A moved row is in both.
///
/// All that is not removed keeps its order and fills the positions that no insertion takes.
struct ListEdit<Element> {
  /// Positions before, ascending.
  var removals: [Int]
  /// Positions after, ascending.
  var insertions: [(position: Int, element: Element)]

  /// The elements after the edit, in O(*n* + *m*).
  func applied(to elements: some Sequence<Element>) -> [Element] {
    var (removals, insertions) = (removals[...], insertions[...])
    var after: [Element] = []
    after.reserveCapacity(elements.underestimatedCount + insertions.count)
    func insert() {
      while let next = insertions.first, next.position == after.count {
        after.append(next.element)
        insertions.removeFirst()
      }
    }
    for (position, element) in elements.enumerated() {
      if removals.first == position {
        removals.removeFirst()
      } else {
        insert()
        after.append(element)
      }
    }
    insert()
    precondition(removals.isEmpty && insertions.isEmpty, "an edit of a list of another length")
    return after
  }
}

extension ListEdit: Sendable where Element: Sendable {}

extension WeightedList {
  /// Applies an edit, in O(*m* log *n*), or in O(*n*) where it changes much of the list.
  mutating func apply(_ edit: ListEdit<Element>) {
    if (edit.removals.count + edit.insertions.count) > 64 + count / 16 {
      self = WeightedList(edit.applied(to: self))
      return
    }
    for position in edit.removals.reversed() { remove(at: position) }
    for (position, element) in edit.insertions { insert(element, at: position) }
  }
}
