/// The result of a query in sections now, and then each of its differences, as long as an observer
/// asks.
///
///     for try await diff in flights.changes(by: { $0.origin }, order: .ascending) {
///       table.insertSections(diff.sectionInsertions.map(\.position))
///     }
///
/// As ``LiveChanges`` in all else.
public struct SectionedChanges<R: Results, Key: Hashable & Sendable>: AsyncSequence, Sendable
where R.Element: Sendable {
  /// A difference.
  public typealias Element = SectionedDiff<R.Element, Key>

  private let changes: LiveChanges<R>
  private let key: @Sendable (R.Element) throws -> Key
  private let order: SectionOrder<R.Element, Key>

  init(
    _ changes: LiveChanges<R>, _ key: @escaping @Sendable (R.Element) throws -> Key,
    _ order: SectionOrder<R.Element, Key>
  ) {
    (self.changes, self.key, self.order) = (changes, key, order)
  }

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes.makeAsyncIterator(), key: key, order: order)
  }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: LiveChanges<R>.Iterator
    fileprivate let key: @Sendable (R.Element) throws -> Key
    fileprivate let order: SectionOrder<R.Element, Key>
    private var sectioning: Sectioning<R.Element, Key>?
    private var isOver = false

    fileprivate init(
      changes: LiveChanges<R>.Iterator, key: @escaping @Sendable (R.Element) throws -> Key,
      order: SectionOrder<R.Element, Key>
    ) {
      (self.changes, self.key, self.order) = (changes, key, order)
    }

    /// The next difference; nil when the task is cancelled or the database closed.
    ///
    /// - Returns: The difference.
    /// - Throws: The errors of the key, after which the sequence has ended; otherwise as
    ///   ``LiveChanges/Iterator/next()``.
    public mutating func next() async throws -> SectionedDiff<R.Element, Key>? {
      try await next(isolation: nil)
    }

    /// The next difference, computed on the executor of an actor.
    ///
    /// - Parameter actor: The actor that awaits it.
    /// - Returns: The difference.
    /// - Throws: As ``next()``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> SectionedDiff<R.Element, Key>? {
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
