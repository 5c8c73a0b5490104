// Results that are derived from other live results: mapped, filtered, flattened, grouped.
//
//     LiveDiff<Source> ──▶ apply(_:) ──▶ LiveDiff<Element>
//
// A derivation is a value that knows no database: it takes the differences of a source one after
// the other and gives those of its own result. DerivedChanges.swift does so with a sequence,
// LiveCollection.swift with a collection.

/// A result that is derived from another one, difference by difference.
///
///     var titles = ElementMapping { (issue: Issue) in issue.title }
///     for try await diff in issues.changes() { list.apply(try titles.apply(diff)) }
///
/// A derivation begins with no elements, and so does the source: the first difference brings all of
/// them as insertions, as that of ``LiveChanges`` does. It is a value for one observer: a copy goes
/// its own way.
public protocol LiveDerivation<Source, Element>: Sendable {
  /// An element of the source.
  associatedtype Source: Sendable
  /// An element of the derived result.
  associatedtype Element: Sendable

  /// Takes a difference of the source in.
  ///
  /// - Parameter diff: The difference that follows the last one; one that starts with another
  ///   number of elements traps.
  /// - Returns: The difference of the derived result, which may be empty.
  /// - Throws: The errors of the derivation's closures; the result is then as before, and the same
  ///   difference, or one composed of it and the next, can be applied again.
  mutating func apply(_ diff: LiveDiff<Source>) throws -> LiveDiff<Element>
}

/// The parts of a derived difference, as they are found.
struct DerivedParts<Element: Sendable> {
  private(set) var deletions: [BoxedDiff.Deletion] = []
  private(set) var insertions: [BoxedDiff.Insertion] = []
  private(set) var updates: [BoxedDiff.Update] = []
  /// The elements that stay and may have another place; those that have are told as moves.
  var touched: [ListMove] = []

  mutating func delete(_ element: Element, at position: Int, _ cause: LiveCause) {
    deletions.append(.init(position: position, element: BoxedElement(element), cause: cause))
  }

  mutating func insert(_ element: Element, at position: Int, _ cause: LiveCause) {
    insertions.append(.init(position: position, element: BoxedElement(element), cause: cause))
  }

  mutating func update(
    _ old: Element, to new: Element, at place: ListMove, properties: [PropertyUpdate] = [],
    _ cause: LiveCause
  ) {
    updates.append(
      .init(
        before: place.before, after: place.after, old: BoxedElement(old), new: BoxedElement(new),
        properties: .told(properties), cause: cause))
  }

  /// Makes the difference, whatever the order in which its parts were found.
  func diff(from before: LiveElements<Element>, at sequence: SequenceNumber) -> LiveDiff<Element> {
    let deletions = Self.ascending(deletions) { $0.position }
    let insertions = Self.ascending(insertions) { $0.position }
    let updates = Self.ascending(updates) { $0.after }
    var boxes = before.boxes
    var diff = BoxedDiff(
      sequence: sequence, deletions: deletions, insertions: insertions, moves: moves(boxes),
      updates: updates)
    diff.apply(to: &boxes)
    return LiveDiff(diff)
  }

  private func moves(_ before: ChunkedList<ElementBox>) -> [BoxedDiff.Move] {
    if touched.isEmpty { return [] }
    let moved = MovedRows.moves(
      removed: deletions.map { $0.position }, inserted: insertions.map { $0.position },
      touched: touched)
    var changed: [Int: ElementBox] = [:]
    for update in updates { changed[update.after] = update.new }
    return moved.map {
      .init(from: $0.before, to: $0.after, element: changed[$0.after] ?? before[$0.before])
    }
  }

  /// Most parts are found in order, and are not sorted again.
  private static func ascending<Part>(_ parts: [Part], by position: (Part) -> Int) -> [Part] {
    let positions = parts.map(position)
    if zip(positions, positions.dropFirst()).allSatisfy({ $0 < $1 }) { return parts }
    return positions.indices.sorted { positions[$0] < positions[$1] }.map { parts[$0] }
  }
}

extension LiveDiff {
  /// The same change of order in a list that has a count for each element.
  ///
  /// - Parameters:
  ///   - sums: The counts before; an element that moves keeps its own.
  ///   - counts: The counts of the elements that come.
  /// - Returns: The edit of the counts.
  func edit(of sums: PrefixSums, inserting counts: [Int]) -> ListEdit<Int> {
    let inserted = zip(insertions, counts).map { ($0.position, $1) }
    let moved = moves.map { ($0.to, sums[$0.from]) }
    return ListEdit(
      removals: (deletions.map { $0.position } + moves.map { $0.from }).sorted(),
      insertions: (inserted + moved).sorted { $0.0 < $1.0 })
  }
}

extension LiveDiff {
  /// The difference to nothing.
  static func appearing(_ elements: LiveElements<Element>, at sequence: SequenceNumber) -> Self {
    let insertions = elements.boxes.enumerated().map {
      BoxedDiff.Insertion(position: $0.offset, element: $0.element, cause: .question)
    }
    return Self(
      BoxedDiff(sequence: sequence, elements: elements.boxes, insertions: insertions))
  }

  /// No difference.
  static func nothing(_ elements: LiveElements<Element>, at sequence: SequenceNumber) -> Self {
    Self(BoxedDiff(sequence: sequence, elements: elements.boxes))
  }
}
