/// The result of a query in sections now, and then each of its differences, as long as an observer
/// asks.
///
///     for try await diff in flights.changes(by: { $0.origin }, order: .ascending) {
///       table.insertSections(diff.sectionInsertions.map(\.position))
///     }
///
/// As ``LiveChanges`` in all else.
public struct SectionedChanges<
  Base: AsyncSequence, Item: Sendable, Key: Hashable & Sendable
>: AsyncSequence where Base.Element == LiveDiff<Item> {
  /// A difference.
  public typealias Element = SectionedDiff<Item, Key>

  private let changes: Base
  private let key: @Sendable (Item) throws -> Key
  private let order: SectionOrder<Item, Key>

  init(
    _ changes: Base, _ key: @escaping @Sendable (Item) throws -> Key,
    _ order: SectionOrder<Item, Key>
  ) {
    (self.changes, self.key, self.order) = (changes, key, order)
  }

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes.makeAsyncIterator(), key: key, order: order)
  }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: Base.AsyncIterator
    fileprivate let key: @Sendable (Item) throws -> Key
    fileprivate let order: SectionOrder<Item, Key>
    private var sectioning: Sectioning<Item, Key>?
    private var isOver = false

    fileprivate init(
      changes: Base.AsyncIterator, key: @escaping @Sendable (Item) throws -> Key,
      order: SectionOrder<Item, Key>
    ) {
      (self.changes, self.key, self.order) = (changes, key, order)
    }

    /// The next difference, computed on the executor of an actor.
    ///
    /// - Parameter actor: The actor that awaits it.
    /// - Returns: The difference; nil when the source has ended.
    /// - Throws: The errors of the key, after which the sequence has ended; otherwise those of the
    ///   source.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> SectionedDiff<Item, Key>? {
      if isOver { return nil }
      guard let diff = try await changes.next(isolation: actor) else { return nil }
      var sections =
        try sectioning
        ?? Sectioning(LiveElements(EmptyCollection()), at: .zero, by: key, order: order)
      sectioning = nil
      do {
        let difference = try sections.apply(diff)
        sectioning = sections
        return difference
      } catch {
        isOver = true
        throw error
      }
    }
  }
}

extension SectionedChanges: Sendable where Base: Sendable {}
