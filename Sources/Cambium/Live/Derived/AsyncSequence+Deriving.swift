// The derived results of sequences of differences. Their names end in `Elements`, since the
// standard library's `map`, `filter` and `flatMap` of a sequence take whole differences.

extension AsyncSequence {
  /// The same result with each element made into something else.
  ///
  ///     for try await diff in issues.changes().mapElements({ $0.title }) { list.apply(diff) }
  ///
  /// - Parameter transform: Maps an element, once when it comes and once at each update; it must
  ///   depend on nothing but the element.
  /// - Returns: The sequence of differences; an update that maps to an equal value is not in it.
  /// - Complexity: As ``ElementMapping``.
  public func mapElements<E, T: Equatable>(
    _ transform: @escaping @Sendable (E) throws -> T
  ) -> DerivedChanges<Self, ElementMapping<E, T>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementMapping(transform))
  }

  /// The same result with each element made into something that cannot be compared, so that each
  /// update is told.
  ///
  /// - Parameter transform: Maps an element; it must depend on nothing but the element.
  /// - Returns: The sequence of differences.
  /// - Complexity: As ``ElementMapping``.
  public func mapElements<E, T>(
    _ transform: @escaping @Sendable (E) throws -> T
  ) -> DerivedChanges<Self, ElementMapping<E, T>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementMapping(transform))
  }

  /// Some elements of the same result.
  ///
  /// A condition of the query costs less: its rows need not be read.
  ///
  /// - Parameter isIncluded: True for an element to be shown; it must depend on nothing else.
  /// - Returns: The sequence of differences.
  /// - Complexity: As ``ElementFilter``.
  public func filterElements<E>(
    _ isIncluded: @escaping @Sendable (E) throws -> Bool
  ) -> DerivedChanges<Self, ElementFilter<E>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementFilter(isIncluded))
  }

  /// The children of each element of the same result, known by an identity.
  ///
  ///     orders.changes().flatMapElements(by: \.number) { $0.lines }
  ///
  /// - Parameters:
  ///   - id: Gives the identity of a child among those of the same element.
  ///   - children: Gives the children of an element, in order; it must depend on nothing else.
  /// - Returns: The sequence of differences. A child that an element keeps is told as moved or
  ///   changed, not as deleted and inserted.
  /// - Complexity: As ``ElementFlattening``.
  public func flatMapElements<E, C: Equatable, ID>(
    by id: @escaping @Sendable (C) -> ID, _ children: @escaping @Sendable (E) throws -> [C]
  ) -> DerivedChanges<Self, ElementFlattening<E, C, ID>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementFlattening(by: id, children))
  }

  /// The children of each element of the same result, each known by its value: one that changes is
  /// another.
  ///
  /// - Parameter children: Gives the children of an element, in order; it must depend on nothing
  ///   else.
  /// - Returns: The sequence of differences.
  /// - Complexity: As ``ElementFlattening``.
  public func flatMapElements<E, C: Hashable>(
    _ children: @escaping @Sendable (E) throws -> [C]
  ) -> DerivedChanges<Self, ElementFlattening<E, C, C>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementFlattening(by: { $0 }, children))
  }

  /// The elements of a live result for each element of the same result: the comments of each issue
  /// that is shown.
  ///
  ///     issues.changes().flatMapElements(following: { issue in
  ///       database.query(Comment.self).where { $0.issue == issue.id }.changes()
  ///     })
  ///
  /// - Parameters:
  ///   - key: Gives what the inner result depends on; where an update changes it, the inner result
  ///     is asked for again.
  ///   - inner: Gives the differences of an element's inner result. The first must bring all of it,
  ///     and must come at once, as that of a live query does: until then nothing is told.
  /// - Returns: The sequence of differences, which follows the inner ones as well.
  /// - Complexity: As ``FlattenedChanges``.
  public func flatMapElements<E, C, Key: Hashable & Sendable, Inner: AsyncSequence & Sendable>(
    by key: @escaping @Sendable (E) -> Key, following inner: @escaping @Sendable (E) -> Inner
  ) -> FlattenedChanges<Self, E, Key, Inner, C>
  where Self: Sendable, Element == LiveDiff<E>, Inner.Element == LiveDiff<C> {
    FlattenedChanges(self, key: key, inner: inner)
  }

  /// The elements of a live result for each element of the same result, which stays the same inner
  /// result as long as the element stays.
  ///
  /// - Parameter inner: Gives the differences of an element's inner result.
  /// - Returns: The sequence of differences.
  /// - Complexity: As ``FlattenedChanges``.
  public func flatMapElements<E, C, Inner: AsyncSequence & Sendable>(
    following inner: @escaping @Sendable (E) -> Inner
  ) -> FlattenedChanges<Self, E, Bool, Inner, C>
  where Self: Sendable, Element == LiveDiff<E>, Inner.Element == LiveDiff<C> {
    FlattenedChanges(self, key: { _ in true }, inner: inner)
  }

  /// The groups of the same result's elements, as a result of its own.
  ///
  ///     flights.changes().groupElements(by: { $0.origin }).mapElements { ($0.key, $0.count) }
  ///
  /// - Parameters:
  ///   - key: Gives the key of an element's group; it must depend on nothing but the element.
  ///   - order: The order of the groups; that of their first elements unless given.
  /// - Returns: The sequence of differences, whose elements are groups.
  /// - Complexity: As ``ElementGrouping``.
  public func groupElements<E, Key>(
    by key: @escaping @Sendable (E) throws -> Key, order: SectionOrder<E, Key> = .firstAppearance
  ) -> DerivedChanges<Self, ElementGrouping<E, Key>> where Element == LiveDiff<E> {
    DerivedChanges(self, ElementGrouping(by: key, order: order))
  }

  /// The same result in sections, told row by row.
  ///
  /// - Parameters:
  ///   - key: Gives the key of an element's section; it must depend on nothing but the element.
  ///   - order: The order of the sections; that of their first elements unless given.
  /// - Returns: The sequence of differences.
  /// - Complexity: O(log *n*) for each entry of a difference.
  public func sectionElements<E, Key>(
    by key: @escaping @Sendable (E) throws -> Key, order: SectionOrder<E, Key> = .firstAppearance
  ) -> SectionedChanges<Self, E, Key> where Element == LiveDiff<E> {
    SectionedChanges(self, key, order)
  }
}
