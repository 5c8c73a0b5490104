/// A result with the children of each element of another one, one after the other.
///
/// Where an element is updated, its children before and after are compared by their identities, so
/// that a child that stays is told as moved or changed, if at all. The children of an element that
/// moves move along.
///
/// - Complexity: O(log *n*) for each child of an element that a difference names; a call of the
///   closure for each element that came or changed.
public struct ElementFlattening<Source: Sendable, Element: Sendable, ID: Hashable & Sendable>:
  LiveDerivation
{
  private let children: @Sendable (Source) throws -> [Element]
  private let id: @Sendable (Element) -> ID
  private let isSame: @Sendable (Element, Element) -> Bool
  /// The numbers of children.
  private var counts = PrefixSums()
  private var elements = LiveElements<Element>(EmptyCollection())

  /// Shows children that are known by an identity.
  ///
  /// - Parameters:
  ///   - id: Gives the identity of a child among those of the same element. Where it is there
  ///     twice, the first of it is taken for the first of it before.
  ///   - children: Gives the children of an element, in order; it must depend on nothing else.
  public init(
    by id: @escaping @Sendable (Element) -> ID,
    _ children: @escaping @Sendable (Source) throws -> [Element]
  ) where Element: Equatable {
    (self.children, self.id, isSame) = (children, id, { $0 == $1 })
  }

  /// Takes a difference of the source in; see ``LiveDerivation/apply(_:)``.
  public mutating func apply(_ diff: LiveDiff<Source>) throws -> LiveDiff<Element> {
    precondition(diff.countBefore == counts.count, "the diff is not of the following step")
    let arriving = try diff.insertions.map { try children($0.element) }
    let staying = try diff.updates.map { try children($0.new) }
    let before = counts
    var after = counts
    after.apply(diff.edit(of: before, inserting: arriving.map { $0.count }))
    for (update, children) in zip(diff.updates, staying) {
      after.replace(at: update.after, with: children.count)
    }
    var parts = FlattenedParts(elements: elements, before: before, after: after)
    parts.addOrder(of: diff, inserting: arriving)
    let moved = Set(diff.moves.map { $0.to })
    for (update, children) in zip(diff.updates, staying) {
      add(update, children, isMoved: moved.contains(update.after), to: &parts)
    }
    let derived = parts.parts.diff(from: elements, at: diff.sequence)
    (counts, elements) = (after, derived.elements)
    return derived
  }

  /// Adds the differences between the children that an element had and has.
  private func add(
    _ update: LiveDiff<Source>.Update, _ children: [Element], isMoved: Bool,
    to parts: inout FlattenedParts<Element>
  ) {
    let old = parts.before.range(of: update.before)
    let start = parts.after.sum(before: update.after)
    let former = old.map { elements[$0] }
    let comparison = ListComparison(former.map(id), children.map(id))
    for index in comparison.removed {
      parts.parts.delete(former[index], at: old.lowerBound + index, update.cause)
    }
    for index in comparison.inserted {
      parts.parts.insert(children[index], at: start + index, update.cause)
    }
    for child in comparison.kept {
      let move = ListMove(before: old.lowerBound + child.before, after: start + child.after)
      if isMoved || !comparison.isInOrder { parts.parts.touched.append(move) }
      let (one, other) = (former[child.before], children[child.after])
      if !isSame(one, other) { parts.parts.update(one, to: other, at: move, update.cause) }
    }
  }
}

/// The parts of a difference between children, with the places of all of them.
struct FlattenedParts<Element: Sendable> {
  let elements: LiveElements<Element>
  /// The numbers of children before and after.
  let before: PrefixSums
  let after: PrefixSums
  var parts = DerivedParts<Element>()

  /// Adds the children of elements that came and left, and of those that moved and did not change.
  mutating func addOrder<Source>(of diff: LiveDiff<Source>, inserting arriving: [[Element]]) {
    for deletion in diff.deletions { delete(childrenOf: deletion.position, deletion.cause) }
    for (insertion, children) in zip(diff.insertions, arriving) {
      let start = after.sum(before: insertion.position)
      for (index, child) in children.enumerated() {
        parts.insert(child, at: start + index, insertion.cause)
      }
    }
    let updated = Set(diff.updates.map { $0.after })
    for move in diff.moves where !updated.contains(move.to) { self.move(move.from, to: move.to) }
  }

  mutating func delete(childrenOf position: Int, _ cause: LiveDiff<Element>.Cause) {
    for place in before.range(of: position) { parts.delete(elements[place], at: place, cause) }
  }

  /// Moves all children of an element, which are as many as before.
  mutating func move(_ from: Int, to: Int) {
    let start = after.sum(before: to)
    for (index, place) in before.range(of: from).enumerated() {
      parts.touched.append(ListMove(before: place, after: start + index))
    }
  }
}
