/// The difference that one step makes to a live result: what left it, came, moved and changed.
///
///     for await diff in query.changes() {
///       table.performBatchUpdates {
///         table.deleteItems(at: diff.deletions.map(\.position))
///         table.insertItems(at: diff.insertions.map(\.position))
///         for move in diff.moves { table.moveItem(at: move.from, to: move.to) }
///       }
///       table.reloadItems(at: diff.updates.map(\.after))
///     }
///
/// Deletions and the origins of moves count positions in the result before the step; insertions
/// and the targets of moves count positions after it. All other elements keep their order. An
/// element that moved *and* changed is among the moves and among the updates, so that a list view
/// first applies the moves and then reloads the updates at their positions after.
///
/// An element that others push on has not moved, and neither has one whose order changed without
/// passing another. Where two elements have passed each other, the one whose order changed has
/// moved; among several of those, as few as possible have.
///
/// A diff is a value: it can be kept, sent to another thread, and joined with the next one by
/// ``composed(with:)``.
public struct LiveDiff<Element: Sendable>: Sendable {
  /// The moment that the result is of after the step.
  public let sequence: SequenceNumber
  /// The whole result after the step.
  public let elements: LiveElements<Element>
  /// The elements that left the result, ascending by position before.
  public let deletions: [Deletion]
  /// The elements that came into the result, ascending by position after.
  public let insertions: [Insertion]
  /// The elements that are at another place among the others, ascending by position after.
  public let moves: [Move]
  /// The elements that stay and have changed, ascending by position after.
  public let updates: [Update]

  /// True if the result is what it was.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

extension LiveDiff {
  /// The reason why an element came, left or changed.
  public enum Cause: Sendable {
    /// Its own object was created, changed or deleted.
    case own
    /// Another object that the query reaches from it has changed.
    case related
    /// Others made or took the room that the query's limit and offset leave.
    case window
    /// The query itself was changed.
    case question
  }

  /// An element that left the result.
  public struct Deletion: Sendable {
    /// Its position before the step.
    public let position: Int
    /// The element as it was.
    public let element: Element
    /// The reason why it left.
    public let cause: Cause
  }

  /// An element that came into the result.
  public struct Insertion: Sendable {
    /// Its position after the step.
    public let position: Int
    /// The element as it is now.
    public let element: Element
    /// The reason why it came.
    public let cause: Cause
  }

  /// An element that is at another place among the others.
  public struct Move: Sendable {
    /// Its position before the step.
    public let from: Int
    /// Its position after the step.
    public let to: Int
    /// The element as it is now.
    public let element: Element
  }

  /// An element that stays and has changed.
  public struct Update: Sendable {
    /// Its position before the step.
    public let before: Int
    /// Its position after the step.
    public let after: Int
    /// The element as it was.
    public let old: Element
    /// The element as it is now.
    public let new: Element
    /// All the properties that changed, or none where the query cannot tell them.
    public let properties: [PropertyUpdate]
    /// The reason why it changed.
    public let cause: Cause
  }
}

/// A property of an element of a live result that has changed.
public struct PropertyUpdate: Hashable, Sendable {
  /// The property's name; behind a reference the path to it, as in `origin.name`.
  public let name: String
  /// The value before, or nil if there was none.
  public let old: Value?
  /// The value now, or nil if there is none.
  public let new: Value?
}

extension LiveDiff: Equatable where Element: Equatable {}
extension LiveDiff.Deletion: Equatable where Element: Equatable {}
extension LiveDiff.Insertion: Equatable where Element: Equatable {}
extension LiveDiff.Move: Equatable where Element: Equatable {}
extension LiveDiff.Update: Equatable where Element: Equatable {}

extension LiveDiff {
  /// The elements after the step, made of those before it.
  ///
  /// - Parameter before: The elements that the step started from; with another number of elements
  ///   the diff does not apply, and the call traps.
  /// - Returns: All elements, in the order after the step.
  /// - Complexity: O(*n*) for *n* elements. ``elements`` is the same at no cost.
  public func applied(to before: [Element]) -> [Element] {
    precondition(before.count == countBefore, "the diff is of a result of another length")
    var after = edit.applied(to: before)
    for update in updates { after[update.after] = update.new }
    return after
  }

  /// The number of elements before the step.
  var countBefore: Int { elements.count - insertions.count + deletions.count }

  /// The removals and insertions that make the result's order.
  var edit: ListEdit<Element> {
    let inserted = insertions.map { ($0.position, $0.element) } + moves.map { ($0.to, $0.element) }
    return ListEdit(
      removals: (deletions.map { $0.position } + moves.map { $0.from }).sorted(),
      insertions: inserted.sorted { $0.0 < $1.0 })
  }

  /// Follows elements through the step.
  var positions: ListPositions {
    ListPositions(
      removed: deletions.map { $0.position }, inserted: insertions.map { $0.position },
      moves: moves.map { ListMove(before: $0.from, after: $0.to) })
  }
}
