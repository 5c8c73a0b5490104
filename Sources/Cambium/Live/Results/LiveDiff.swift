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
  let boxed: BoxedDiff

  /// A diff whose boxes hold an `Element` each.
  init(_ boxed: BoxedDiff) { self.boxed = boxed }

  /// The moment that the result is of after the step.
  public var sequence: SequenceNumber { boxed.sequence }
  /// The whole result after the step, at no cost.
  public var elements: LiveElements<Element> { LiveElements(boxes: boxed.elements) }
  /// The elements that left the result, ascending by position before.
  public var deletions: [Deletion] { boxed.deletions.map { Deletion(boxed: $0) } }
  /// The elements that came into the result, ascending by position after.
  public var insertions: [Insertion] { boxed.insertions.map { Insertion(boxed: $0) } }
  /// The elements that are at another place among the others, ascending by position after.
  public var moves: [Move] { boxed.moves.map { Move(boxed: $0) } }
  /// The elements that stay and have changed, ascending by position after.
  public var updates: [Update] { boxed.updates.map { Update(boxed: $0) } }

  /// True if the result is what it was.
  public var isEmpty: Bool { boxed.isEmpty }
}

/// The reason why an element of a live result came, left or changed.
public enum LiveCause: Sendable {
  /// Its own object was created, changed or deleted.
  case own
  /// Another object that the query reaches from it has changed.
  case related
  /// Others made or took the room that the query's limit and offset leave.
  case window
  /// The query itself was changed.
  case question
}

extension LiveDiff {
  /// The reason why an element came, left or changed.
  public typealias Cause = LiveCause

  /// An element that left the result.
  public struct Deletion: Sendable {
    let boxed: BoxedDiff.Deletion

    /// Its position before the step.
    public var position: Int { boxed.position }
    /// The element as it was.
    public var element: Element { boxed.element.open(Element.self) }
    /// The reason why it left.
    public var cause: Cause { boxed.cause }
  }

  /// An element that came into the result.
  public struct Insertion: Sendable {
    let boxed: BoxedDiff.Insertion

    /// Its position after the step.
    public var position: Int { boxed.position }
    /// The element as it is now.
    public var element: Element { boxed.element.open(Element.self) }
    /// The reason why it came.
    public var cause: Cause { boxed.cause }
  }

  /// An element that is at another place among the others.
  public struct Move: Sendable {
    let boxed: BoxedDiff.Move

    /// Its position before the step.
    public var from: Int { boxed.from }
    /// Its position after the step.
    public var to: Int { boxed.to }
    /// The element as it is now.
    public var element: Element { boxed.element.open(Element.self) }
  }

  /// An element that stays and has changed.
  public struct Update: Sendable {
    let boxed: BoxedDiff.Update

    /// Its position before the step.
    public var before: Int { boxed.before }
    /// Its position after the step.
    public var after: Int { boxed.after }
    /// The element as it was.
    public var old: Element { boxed.old.open(Element.self) }
    /// The element as it is now.
    public var new: Element { boxed.new.open(Element.self) }
    /// All the properties that changed, or none where the query cannot tell them. The two records
    /// are compared at each call.
    public var properties: [PropertyUpdate] { boxed.properties.all }
    /// The reason why it changed.
    public var cause: Cause { boxed.cause }
  }
}

/// A property of an element of a live result that has changed.
///
/// Behind a reference, values are those that the row shows: with the declared default where one is
/// absent, and none where there is no record. A record's own are those that are stored.
public struct PropertyUpdate: Hashable, Sendable {
  /// The property's name; behind a reference the path to it, as in `origin.name`, and of one of
  /// several records `comments[7].text`. A record that has come or gone is `comments[7]` itself.
  public let name: String
  /// The value before, or nil if there was none.
  public let old: Value?
  /// The value now, or nil if there is none.
  public let new: Value?
}

extension LiveDiff: Equatable where Element: Equatable {
  /// True if both tell the same of equal results.
  public static func == (a: LiveDiff, b: LiveDiff) -> Bool {
    a.sequence == b.sequence && a.elements == b.elements && a.deletions == b.deletions
      && a.insertions == b.insertions && a.moves == b.moves && a.updates == b.updates
  }
}

extension LiveDiff.Deletion: Equatable where Element: Equatable {
  /// True if both tell the same of equal elements.
  public static func == (a: Self, b: Self) -> Bool {
    a.position == b.position && a.element == b.element && a.cause == b.cause
  }
}

extension LiveDiff.Insertion: Equatable where Element: Equatable {
  /// True if both tell the same of equal elements.
  public static func == (a: Self, b: Self) -> Bool {
    a.position == b.position && a.element == b.element && a.cause == b.cause
  }
}

extension LiveDiff.Move: Equatable where Element: Equatable {
  /// True if both tell the same of equal elements.
  public static func == (a: Self, b: Self) -> Bool {
    a.from == b.from && a.to == b.to && a.element == b.element
  }
}

extension LiveDiff.Update: Equatable where Element: Equatable {
  /// True if both tell the same of equal elements.
  public static func == (a: Self, b: Self) -> Bool {
    a.before == b.before && a.after == b.after && a.old == b.old && a.new == b.new
      && a.cause == b.cause && a.properties == b.properties
  }
}

extension LiveDiff {
  /// The elements after the step, made of those before it.
  ///
  /// - Parameter before: The elements that the step started from; with another number of elements
  ///   the diff does not apply, and the call traps.
  /// - Returns: All elements, in the order after the step.
  /// - Complexity: O(*n*) for *n* elements. ``elements`` is the same at no cost.
  public func applied(to before: [Element]) -> [Element] {
    precondition(before.count == countBefore, "the diff is of a result of another length")
    let edit = boxed.edit
    var after = ListEdit<Element>(
      removals: edit.removals,
      insertions: edit.insertions.map { ($0.position, $0.element.open(Element.self)) }
    ).applied(to: before)
    for update in updates { after[update.after] = update.new }
    return after
  }

  /// The number of elements before the step.
  var countBefore: Int { boxed.countBefore }
}
