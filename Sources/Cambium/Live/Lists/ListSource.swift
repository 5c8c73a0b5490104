/// The content of a list, as a view asks for it: sections, and elements in them. A list without
/// sections has one, which has no title.
///
/// A view shows a source, and the source never answers with anything but the state that the view
/// is in or is being brought to: see ``LiveListSource``.
public protocol ListSource<Element>: Sendable {
  /// One line of the list.
  associatedtype Element: Sendable

  /// The number of sections.
  var numberOfSections: Int { get }

  /// The number of elements in a section.
  func numberOfElements(in section: Int) -> Int

  /// The heading of a section; nil in a list without sections.
  func title(of section: Int) -> String?

  /// The element at a position.
  subscript(position: SectionedPosition) -> Element { get }
}

/// One step of a list, as table and collection views take it.
///
/// | Changes | Positions |
/// |---|---|
/// | deletions of sections and elements, origins of moves | before the step |
/// | insertions of sections and elements, targets of moves | after the step |
/// | reloads | after the step; in a batch of their own, since a view refuses to move and reload |
///
/// The elements of a section that is inserted or deleted come and go with it. The rules are those
/// of ``SectionedDiff``.
public struct ListBatch<Element: Sendable>: Sendable {
  /// An element, or a section, that is at another place.
  public struct Move<Position: Hashable & Sendable>: Hashable, Sendable {
    /// The place before the step.
    public let from: Position
    /// The place after the step.
    public let to: Position
  }

  /// The moment that the list is of after the step.
  public let sequence: SequenceNumber
  /// Sections that leave, ascending by position before.
  public let sectionDeletions: [Int]
  /// Sections that come, ascending by position after.
  public let sectionInsertions: [Int]
  /// Sections that are elsewhere, ascending by position after.
  public let sectionMoves: [Move<Int>]
  /// Elements that leave sections which stay, ascending by position before.
  public let deletions: [SectionedPosition]
  /// Elements that come into sections which stay, ascending by position after.
  public let insertions: [SectionedPosition]
  /// Elements that are elsewhere, ascending by position after.
  public let moves: [Move<SectionedPosition>]
  /// Elements that have changed, ascending by position after.
  public let reloads: [SectionedPosition]
  /// The list after the step.
  let content: ListContent<Element>

  /// True if the list is what it was.
  public var isEmpty: Bool {
    sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
      && deletions.isEmpty && insertions.isEmpty && moves.isEmpty && reloads.isEmpty
  }

  /// The step of a list without sections.
  init(_ diff: LiveDiff<Element>) {
    func position(_ item: Int) -> SectionedPosition { SectionedPosition(section: 0, item: item) }
    sequence = diff.sequence
    (sectionDeletions, sectionInsertions, sectionMoves) = ([], [], [])
    deletions = diff.deletions.map { position($0.position) }
    insertions = diff.insertions.map { position($0.position) }
    moves = diff.moves.map { Move(from: position($0.from), to: position($0.to)) }
    reloads = diff.updates.map { position($0.after) }
    content = ListContent(diff.elements)
  }

  /// The step of a list with sections.
  init<Key>(_ diff: SectionedDiff<Element, Key>, title: @escaping @Sendable (Key) -> String?) {
    sequence = diff.sequence
    sectionDeletions = diff.sectionDeletions.map(\.position)
    sectionInsertions = diff.sectionInsertions.map(\.position)
    sectionMoves = diff.sectionMoves.map { Move(from: $0.from, to: $0.to) }
    deletions = diff.deletions.map(\.position)
    insertions = diff.insertions.map(\.position)
    moves = diff.moves.map { Move(from: $0.from, to: $0.to) }
    reloads = diff.updates.map(\.after)
    content = ListContent(diff.sections, title: title)
  }
}

/// The content of a list at one moment, with the types of its sections' keys forgotten.
struct ListContent<Element: Sendable>: Sendable {
  let count: Int
  let elements: @Sendable (Int) -> LiveElements<Element>
  let title: @Sendable (Int) -> String?

  /// One section without a title.
  init(_ all: LiveElements<Element>) {
    count = 1
    elements = { _ in all }
    title = { _ in nil }
  }

  init<Key>(
    _ sections: LiveSections<Element, Key>, title name: @escaping @Sendable (Key) -> String?
  ) {
    count = sections.count
    elements = { sections[$0].elements }
    title = { name(sections[$0].key) }
  }

  /// A list with sections that has none yet.
  static var withoutSections: ListContent {
    ListContent(count: 0, elements: { _ in LiveElements(EmptyCollection()) }, title: { _ in nil })
  }

  private init(
    count: Int, elements: @escaping @Sendable (Int) -> LiveElements<Element>,
    title: @escaping @Sendable (Int) -> String?
  ) {
    (self.count, self.elements, self.title) = (count, elements, title)
  }
}
