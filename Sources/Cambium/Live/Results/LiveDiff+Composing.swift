// Composes two diffs in a row into one, by following each row through both of them.
//
//                    earlier           later
//     deletion       old position      –                 stays a deletion
//     deletion       any other row     in the middle     becomes one, at its position before
//     insertion      in the middle     new position      stays an insertion, at its position after
//     insertion      in the middle     deleted           is gone
//     update, move   old position      new position      one, from the first to the last

extension LiveDiff {
  /// The one diff that does what this one and then the next one do.
  ///
  /// An observer that is slow applies the composition of all the diffs that it has missed. An
  /// element that came and left again is gone from it; one that changed several times has one
  /// update, from its first state to its last, and none if it is known to be unchanged.
  /// An element that left and came again is a deletion and an insertion, since a diff knows
  /// elements by their positions only.
  ///
  /// - Parameter later: The diff of the following step of the same result; it must start with as
  ///   many elements as this one ends with, and traps otherwise.
  /// - Returns: A diff from the result before this step to the one after the later step.
  /// - Complexity: O(*m* log *m*) for *m* entries of both, however long the result is.
  public func composed(with later: LiveDiff) -> LiveDiff {
    precondition(later.countBefore == elements.count, "the diff is not of the following step")
    return LiveDiff(boxed.composed(with: later.boxed, BoxedElement<Element>.comparison))
  }
}

extension BoxedDiff {
  /// As ``LiveDiff/composed(with:)``.
  func composed(with later: BoxedDiff, _ areEqual: @escaping ElementComparison) -> BoxedDiff {
    Composition(self, later, areEqual).diff
  }
}

private struct Composition {
  typealias Diff = BoxedDiff

  private let earlier: Diff
  private let later: Diff
  private let first: ListPositions
  private let second: ListPositions
  private let areEqual: ElementComparison
  /// The updates of the earlier diff by their positions in the middle.
  private let updated: [Int: Diff.Update]

  init(_ earlier: Diff, _ later: Diff, _ areEqual: @escaping ElementComparison) {
    self.areEqual = areEqual
    self.earlier = earlier
    self.later = later
    first = earlier.positions
    second = later.positions
    updated = Dictionary(uniqueKeysWithValues: earlier.updates.map { ($0.after, $0) })
  }

  var diff: Diff {
    let (deletions, insertions) = (deletions, insertions)
    return Diff(
      sequence: later.sequence, elements: later.elements, deletions: deletions,
      insertions: insertions, moves: moves(deletions, insertions), updates: updates)
  }

  private var deletions: [Diff.Deletion] {
    let added = later.deletions.compactMap { deletion in
      first.before(deletion.position).map {
        Diff.Deletion(
          position: $0, element: updated[deletion.position]?.old ?? deletion.element,
          cause: deletion.cause)
      }
    }
    return (earlier.deletions + added).sorted { $0.position < $1.position }
  }

  private var insertions: [Diff.Insertion] {
    let kept = earlier.insertions.compactMap { insertion in
      second.after(insertion.position).map {
        Diff.Insertion(position: $0, element: later.elements[$0], cause: insertion.cause)
      }
    }
    return (kept + later.insertions).sorted { $0.position < $1.position }
  }

  /// A row that moved forth and back has not moved, so the moves are found again, among the rows
  /// that moved in either diff.
  private func moves(_ deletions: [Diff.Deletion], _ insertions: [Diff.Insertion]) -> [Diff.Move] {
    var touched: [Int: Int] = [:]
    for move in earlier.moves { touched[move.from] = second.after(move.to) }
    for move in later.moves {
      if let before = first.before(move.from) { touched[before] = move.to }
    }
    let moves = MovedRows.moves(
      removed: deletions.map { $0.position }, inserted: insertions.map { $0.position },
      touched: touched.map { ListMove(before: $0.key, after: $0.value) })
    return moves.map { Diff.Move(from: $0.before, to: $0.after, element: later.elements[$0.after]) }
  }

  private var updates: [Diff.Update] {
    var middle = updated
    var merged: [Diff.Update] = []
    for update in later.updates {
      if let earlier = middle.removeValue(forKey: update.before) {
        merged += merge(earlier, update)
      } else if let before = first.before(update.before) {
        merged.append(update.moved(from: before, to: update.after))
      }
    }
    for update in middle.values {
      guard let after = second.after(update.after) else { continue }
      merged.append(update.moved(from: update.before, to: after))
    }
    return merged.sorted { $0.after < $1.after }
  }

  /// One update for two of the same row; none if nothing is left of them. Properties alone do not
  /// tell that: an update may not name all of them, and the row would stay stale.
  private func merge(_ first: Diff.Update, _ last: Diff.Update) -> [Diff.Update] {
    let (former, newest) = (first.properties.all, last.properties.all)
    let areTold = !former.isEmpty && !newest.isEmpty
    let properties = areTold ? Self.merge(former, newest) : []
    if properties.isEmpty, areEqual(first.old, last.new) { return [] }
    let cause = first.cause == .own ? .own : last.cause
    return [
      Diff.Update(
        before: first.before, after: last.after, old: first.old, new: last.new,
        properties: .told(properties), cause: cause)
    ]
  }

  private static func merge(
    _ first: [PropertyUpdate], _ last: [PropertyUpdate]
  ) -> [PropertyUpdate] {
    let names = Set(first.map { $0.name })
    let newest = Dictionary(last.map { ($0.name, $0.new) }) { $1 }
    let kept = first.map {
      PropertyUpdate(name: $0.name, old: $0.old, new: newest[$0.name] ?? $0.new)
    }
    return (kept + last.filter { !names.contains($0.name) }).filter { $0.old != $0.new }
  }
}

extension BoxedDiff.Update {
  fileprivate func moved(from before: Int, to after: Int) -> Self {
    var update = self
    (update.before, update.after) = (before, after)
    return update
  }
}
