/// The difference that one step makes to a live result with sections.
///
/// It obeys the rules that table and collection views have for batch updates, and can be handed to
/// one as it is: first all deletions, insertions and moves as one batch, then, in another, the
/// updates as reloads at their positions after.
///
/// - Deletions and the origins of moves are positions before the step, insertions and the targets
///   of moves are positions after it; so are the positions of the sections in them.
/// - The elements of a section that is inserted or deleted are not told one by one. One that leaves
///   a deleted section for another that stays is an insertion there; one that leaves a section that
///   stays for an inserted one is a deletion.
/// - An element that moved, within its section or to another, *and* changed is among the moves and
///   among the updates.
/// - A section that moves has neither deletions nor insertions nor moves of elements, since views
///   fail at that. Where both would be needed, its neighbours move around it if that costs fewer
///   cells; if not, it is deleted and inserted as a whole.
public struct SectionedDiff<Element: Sendable, Key: Hashable & Sendable>: Sendable {
  /// The moment that the result is of after the step.
  public let sequence: SequenceNumber
  /// All sections after the step.
  public let sections: LiveSections<Element, Key>
  /// The sections that left, ascending by position before.
  public let sectionDeletions: [SectionDeletion]
  /// The sections that came, ascending by position after.
  public let sectionInsertions: [SectionInsertion]
  /// The sections that are at another place among the others, ascending by position after.
  public let sectionMoves: [SectionMove]
  /// The elements that left sections that stay, ascending by position before.
  public let deletions: [Deletion]
  /// The elements that came into sections that stay, ascending by position after.
  public let insertions: [Insertion]
  /// The elements that moved within and between sections that stay, ascending by position after.
  public let moves: [Move]
  /// The elements that have changed and are in sections that stay, ascending by position after.
  public let updates: [Update]

  /// True if all sections are what they were.
  public var isEmpty: Bool {
    sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
      && deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

extension SectionedDiff {
  /// The reason why an element came, left or changed.
  public typealias Cause = LiveDiff<Element>.Cause

  /// A section that left, with all its elements.
  public struct SectionDeletion: Sendable {
    /// Its position before the step.
    public let position: Int
    /// Its key.
    public let key: Key
  }

  /// A section that came, with all its elements.
  public struct SectionInsertion: Sendable {
    /// Its position after the step.
    public let position: Int
    /// Its key.
    public let key: Key
  }

  /// A section that is at another place among the others.
  public struct SectionMove: Sendable {
    /// Its position before the step.
    public let from: Int
    /// Its position after the step.
    public let to: Int
    /// Its key.
    public let key: Key
  }

  /// An element that left a section that stays.
  public struct Deletion: Sendable {
    /// Its position before the step.
    public let position: SectionedPosition
    /// The element as it was.
    public let element: Element
    /// The reason why it left.
    public let cause: Cause
  }

  /// An element that came into a section that stays.
  public struct Insertion: Sendable {
    /// Its position after the step.
    public let position: SectionedPosition
    /// The element as it is now.
    public let element: Element
    /// The reason why it came.
    public let cause: Cause
  }

  /// An element that is at another place in its section, or in another section.
  public struct Move: Sendable {
    /// Its position before the step.
    public let from: SectionedPosition
    /// Its position after the step.
    public let to: SectionedPosition
    /// The element as it is now.
    public let element: Element
  }

  /// An element that stays in the result and has changed.
  public struct Update: Sendable {
    /// Its position before the step.
    public let before: SectionedPosition
    /// Its position after the step.
    public let after: SectionedPosition
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
