/// A result with some of the elements of another one.
///
/// An update may let an element in, or out: it is then told as an insertion, or a deletion. A move
/// past elements that are not shown is none.
///
/// - Complexity: O(log *n*) for each entry of a difference, for *n* elements of the source, each of
///   which takes about ten bytes; a call of the closure for each element that came or changed.
public struct ElementFilter<Element: Sendable>: LiveDerivation {
  private let isIncluded: @Sendable (Element) throws -> Bool
  /// One for each element of the source that is shown, zero for the others.
  private var shown = PrefixSums()
  private var elements = LiveElements<Element>(EmptyCollection())

  /// Shows some elements.
  ///
  /// - Parameter isIncluded: True for an element to be shown; it must depend on nothing else.
  public init(_ isIncluded: @escaping @Sendable (Element) throws -> Bool) {
    self.isIncluded = isIncluded
  }

  /// Takes a difference of the source in; see ``LiveDerivation/apply(_:)``.
  public mutating func apply(_ diff: LiveDiff<Element>) throws -> LiveDiff<Element> {
    precondition(diff.countBefore == shown.count, "the diff is not of the following step")
    let before = shown
    var after = shown
    let arriving = try diff.insertions.map { try isIncluded($0.element) ? 1 : 0 }
    let staying = try diff.updates.map { try isIncluded($0.new) ? 1 : 0 }
    after.apply(diff.edit(of: before, inserting: arriving))
    for (update, count) in zip(diff.updates, staying) where after[update.after] != count {
      after.replace(at: update.after, with: count)
    }
    let derived = Self.parts(diff, before, after).diff(from: elements, at: diff.sequence)
    (shown, elements) = (after, derived.elements)
    return derived
  }

  private static func parts(
    _ diff: LiveDiff<Element>, _ before: PrefixSums, _ after: PrefixSums
  ) -> DerivedParts<Element> {
    var parts = DerivedParts<Element>()
    for deletion in diff.deletions where before[deletion.position] > 0 {
      parts.delete(
        deletion.element, at: before.sum(before: deletion.position), deletion.cause)
    }
    for insertion in diff.insertions where after[insertion.position] > 0 {
      parts.insert(
        insertion.element, at: after.sum(before: insertion.position), insertion.cause)
    }
    for move in diff.moves where before[move.from] > 0 && after[move.to] > 0 {
      parts.touched.append(
        ListMove(before: before.sum(before: move.from), after: after.sum(before: move.to)))
    }
    for update in diff.updates { parts.add(update, before, after) }
    return parts
  }
}

extension DerivedParts {
  /// Adds an update of an element that was shown, is shown, or both.
  fileprivate mutating func add(
    _ update: LiveDiff<Element>.Update, _ before: PrefixSums, _ after: PrefixSums
  ) {
    let (old, new) = (before.sum(before: update.before), after.sum(before: update.after))
    switch (before[update.before] > 0, after[update.after] > 0) {
    case (false, false): break
    case (true, false): delete(update.old, at: old, update.cause)
    case (false, true): insert(update.new, at: new, update.cause)
    case (true, true):
      self.update(
        update.old, to: update.new, at: ListMove(before: old, after: new),
        properties: update.properties, update.cause)
    }
  }
}
