/// A list of groups: the elements of another result, divided by a key.
///
/// An element of it is a ``LiveSection``, with a key and elements, so that a total for each group
/// is a map over groups. Where only the rows within sections matter, to a table view with sections
/// for example, ``Sectioning`` tells them one by one.
///
/// - Complexity: O(log *n*) for each entry of a difference; a step that changes the order of the
///   groups looks at all of them.
public struct ElementGrouping<Source: Sendable, Key: Hashable & Sendable>: LiveDerivation {
  /// A group.
  public typealias Element = LiveSection<Source, Key>

  private let key: @Sendable (Source) throws -> Key
  private let order: SectionOrder<Source, Key>
  private var sectioning: Sectioning<Source, Key>?
  private var groups = LiveElements<Element>(EmptyCollection())

  /// Divides elements into groups.
  ///
  /// - Parameters:
  ///   - key: Gives the key of an element's group; it must depend on nothing but the element.
  ///   - order: The order of the groups; that of their first elements unless given.
  public init(
    by key: @escaping @Sendable (Source) throws -> Key,
    order: SectionOrder<Source, Key> = .firstAppearance
  ) {
    (self.key, self.order) = (key, order)
  }

  /// The group with a key; nil if there is none.
  ///
  /// - Parameter key: The key.
  /// - Complexity: O(log *n*).
  public subscript(key: Key) -> LiveSection<Source, Key>? { sectioning?.section(with: key) }

  /// Takes a difference of the source in; see ``LiveDerivation/apply(_:)``.
  public mutating func apply(_ diff: LiveDiff<Source>) throws -> LiveDiff<Element> {
    var changed =
      try sectioning
      ?? Sectioning(
        LiveElements(EmptyCollection()), at: .zero, by: key, order: order)
    let step = try changed.apply(diff)
    let derived = Self.parts(step, groups).diff(from: groups, at: diff.sequence)
    (sectioning, groups) = (changed, derived.elements)
    return derived
  }

  private static func parts(
    _ step: SectionedDiff<Source, Key>, _ groups: LiveElements<Element>
  ) -> DerivedParts<Element> {
    var parts = DerivedParts<Element>()
    for deletion in step.sectionDeletions {
      parts.delete(groups[deletion.position], at: deletion.position, .related)
    }
    for insertion in step.sectionInsertions {
      parts.insert(step.sections[insertion.position], at: insertion.position, .related)
    }
    parts.touched = step.sectionMoves.map { ListMove(before: $0.from, after: $0.to) }
    for place in step.changedSections {
      parts.update(
        groups[place.before], to: step.sections[place.after], at: place, .related)
    }
    return parts
  }
}

extension SectionedDiff {
  /// The sections that stay and have other elements than before, ascending by position after.
  fileprivate var changedSections: [ListMove] {
    let positions = ListPositions(
      removed: sectionDeletions.map { $0.position },
      inserted: sectionInsertions.map { $0.position },
      moves: sectionMoves.map { ListMove(before: $0.from, after: $0.to) })
    var changed = Set(insertions.map { $0.position.section } + moves.map { $0.to.section })
    changed.formUnion(updates.map { $0.after.section })
    let left = deletions.map { $0.position.section } + moves.map { $0.from.section }
    changed.formUnion(left.compactMap { positions.after($0) })
    return changed.sorted().compactMap { after in
      positions.before(after).map { ListMove(before: $0, after: after) }
    }
  }
}
