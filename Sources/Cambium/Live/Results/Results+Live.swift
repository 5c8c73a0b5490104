// The ways to follow a query.

extension Results where Element: Sendable {
  /// The result now, then each of its differences: deletions, insertions, moves and updates, with
  /// positions before and after.
  ///
  ///     for try await diff in query.changes() { print(diff.insertions.map(\.element)) }
  ///
  /// Rows that are equal by the query's order come by their keys, in the direction of the last
  /// ordering, whatever index is used: order by the id last where another is wanted.
  ///
  /// - Returns: A sequence, which reads nothing until it is iterated.
  /// - Complexity: The first element as ``Walk/fetch()``. A commit that does not concern the query
  ///   costs it nothing. One that does costs the evaluation of the rows that it may have changed; a
  ///   row that left a window is replaced from those kept behind it, or by one ordered read.
  ///   ``explainLive()`` says what cannot be kept up to date, and is run again.
  public func changes() -> LiveChanges<Self> { LiveChanges(self) }

  /// As ``changes()``, in sections.
  ///
  /// - Parameters:
  ///   - key: Gives the key of an element's section: a property, one behind a reference that is
  ///     loaded along, or anything computed from the element alone.
  ///   - order: The order of the sections; that of their first elements unless given.
  /// - Returns: A sequence, which reads nothing until it is iterated.
  /// - Complexity: As ``changes()``, and O(log n) for each element that a difference names.
  public func changes<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Element) throws -> Key,
    order: SectionOrder<Element, Key> = .firstAppearance
  ) -> SectionedChanges<LiveChanges<Self>, Element, Key> {
    SectionedChanges(changes(), key, order)
  }

  /// A collection that follows the query.
  ///
  /// - Returns: The collection, with the result as it is now.
  /// - Throws: As ``Walk/fetch()``; ``DatabaseError/misuse(reason:)`` for a query of a snapshot, or
  ///   of a transaction.
  /// - Complexity: As ``Walk/fetch()``.
  public func live() throws -> LiveResults<Self> { try LiveResults(self) }

  /// Explains, without running the query, how a live result of it is kept up to date: for each
  /// operator if it is maintained, bounded, or run again, and how changes of other records lead to
  /// rows.
  ///
  /// - Returns: A line for each.
  /// - Throws: ``QueryError`` for a query that cannot be answered; ``DatabaseError``.
  public func explainLive() throws -> String {
    var (description, loading) = (request.description, request.loading)
    let snapshot = try request.snapshot()
    let records = try QueryRecords(snapshot)
    description.hasFilter = try request.prepare?(snapshot, description) != nil
    let dependencies = try Dependencies(description, loading: loading, records)
    let notes = Dependencies.maintenance(
      of: description, loading: loading, isSearch: request.search != nil)
    return (notes.map(\.words) + dependencies.words).joined(separator: "\n")
  }
}
