/// A result with each element of another one made into something else.
///
/// An element is mapped once when it comes, and once more at each update. An update whose outcome
/// is equal to the one before is not told.
///
/// - Complexity: O(log *n*) for each entry of a difference, and a call of the closure for each
///   element that came or changed.
public struct ElementMapping<Source: Sendable, Element: Sendable>: LiveDerivation {
  private let transform: @Sendable (Source) throws -> Element
  private let isSame: (@Sendable (Element, Element) -> Bool)?
  private var elements = LiveElements<Element>(EmptyCollection())

  /// Maps elements to values that cannot be compared: each update is told.
  ///
  /// - Parameter transform: Maps an element; it must depend on nothing but the element.
  public init(_ transform: @escaping @Sendable (Source) throws -> Element) {
    (self.transform, isSame) = (transform, nil)
  }

  /// Maps elements to values that can be compared.
  ///
  /// - Parameter transform: Maps an element; it must depend on nothing but the element.
  public init(_ transform: @escaping @Sendable (Source) throws -> Element)
  where Element: Equatable {
    (self.transform, isSame) = (transform, { $0 == $1 })
  }

  /// Takes a difference of the source in; see ``LiveDerivation/apply(_:)``.
  public mutating func apply(_ diff: LiveDiff<Source>) throws -> LiveDiff<Element> {
    precondition(diff.countBefore == elements.count, "the diff is not of the following step")
    var parts = DerivedParts<Element>()
    for insertion in diff.insertions {
      parts.insert(try transform(insertion.element), at: insertion.position, insertion.cause)
    }
    for update in diff.updates {
      let (old, new) = (elements[update.before], try transform(update.new))
      if let isSame, isSame(old, new) { continue }
      // The source's properties are not told: with updates left out, they do not add up.
      parts.update(
        old, to: new, at: ListMove(before: update.before, after: update.after), update.cause)
    }
    for deletion in diff.deletions {
      parts.delete(elements[deletion.position], at: deletion.position, deletion.cause)
    }
    parts.touched = diff.moves.map { ListMove(before: $0.from, after: $0.to) }
    let derived = parts.diff(from: elements, at: diff.sequence)
    elements = derived.elements
    return derived
  }
}
