import Observation

/// Pages of a query's result that stay right while data changes: for a list that loads more at
/// either end, or a table that is turned page by page.
///
///     let pages = try database.query(Job.self).order(by: \.rank).livePages(of: 50, keeping: 3)
///     try pages.next()                                        // as its end comes into view
///     try await pages.follow { diff in table.apply(diff) }    // until the task is cancelled
///
/// It is the collection of the elements that are loaded: all of those from its first place on, as
/// many as its pages hold. The first place is the beginning of the result, or the place that the
/// first element had when its page became the first. It is a place in the query's order, as in a
/// ``QueryCursor``: what comes or goes before it shifts nothing, and what is inserted behind it is
/// shown. Rows that leave are replaced by those behind the last.
///
/// It belongs to the actor, or the thread, that made it. There ``follow(isolation:_:)`` takes its
/// steps, of which another thread computes the long ones. `Observation` sees its changes.
public final class LivePages<R: Results>: Observable, RandomAccessCollection
where R.Element: Sendable {
  /// A position.
  public typealias Index = Int
  /// A result.
  public typealias Element = R.Element

  private let results: LiveResults<R>
  /// The number of elements of a page.
  public let pageSize: Int
  /// The most pages that are kept; nil for all that were loaded.
  public let pagesMax: Int?

  init(_ query: R, of size: Int, keeping pages: Int?) throws {
    let description = query.request.description
    guard !description.isComputed, description.answerName == nil else {
      throw DatabaseError.misuse(
        reason: "groups, distinct values and counts have no place; use limit and offset")
    }
    guard description.limit == nil, description.offset == 0 else {
      throw DatabaseError.misuse(reason: "live pages have a size of their own; leave the limit out")
    }
    // No more than there can be, so that no sum overflows.
    pageSize = Swift.min(Swift.max(1, size), 1 << 30)
    pagesMax = pages.map { Swift.min(Swift.max(1, $0), 1 << 30) }
    let boxed = BoxedQuery(query)
    let run = try LiveRun(boxed, WindowExtent(limit: pageSize, knowsNext: true))
    _ = try run.step()
    results = LiveResults(boxed, run)
  }

  /// The query.
  public var query: R { results.query }

  /// The moment that the elements are of.
  public var sequence: SequenceNumber { results.sequence }

  /// The elements that are loaded: a value, which stays as it is.
  public var elements: LiveElements<Element> { results.elements }

  /// The first position.
  public var startIndex: Int { 0 }
  /// The number of elements, which is the position behind the last.
  public var endIndex: Int { elements.count }
  /// The element at a position.
  public subscript(position: Int) -> Element { elements[position] }

  // MARK: Turning

  /// True if there is an element behind the last one that is loaded.
  public var hasNext: Bool {
    // Each step tells of another moment, also one that leaves the elements as they are.
    _ = results.sequence
    return results.run.hasNext
  }

  /// True if the first page is not loaded. The rows before the first place may be gone meanwhile:
  /// ``previous()`` then finds out, and loads none.
  public var hasPrevious: Bool {
    _ = results.sequence
    return results.run.hasPrevious
  }

  /// Loads the next page behind the last element, and drops as many of the first pages as are more
  /// than ``pagesMax``.
  ///
  /// - Returns: The difference, with what has changed meanwhile; empty where nothing has, and there
  ///   is no next page. A step that another thread computes is waited for, and part of it.
  /// - Throws: As ``Walk/fetch()``; the elements stay as they were.
  /// - Complexity: O(page) where an index has the query's order; otherwise the rows behind the last
  ///   are sorted. Some rows behind the last are known already, mostly.
  @discardableResult
  public func next() throws -> LiveDiff<Element> {
    try turn { try results.run.goOn(by: pageSize, keeping: mostElements) }
  }

  /// Loads the page before the first element, and drops as many of the last pages as are more than
  /// ``pagesMax``.
  ///
  /// - Returns: The difference, with what has changed meanwhile; empty where nothing has, and the
  ///   first page is loaded.
  /// - Throws: As ``Walk/fetch()``; the elements stay as they were.
  /// - Complexity: As ``next()``, with the query in the opposite order.
  @discardableResult
  public func previous() throws -> LiveDiff<Element> {
    try turn { try results.run.goBack(by: pageSize, keeping: mostElements) }
  }

  private func turn(_ body: () throws -> BoxedDiff) throws -> LiveDiff<Element> {
    let diff = try results.changing(body)
    results.run.wake()
    return diff
  }

  private var mostElements: Int? { pagesMax.map { $0 * pageSize } }

  // MARK: Following

  /// Brings the elements up to the newest moment at once.
  ///
  /// - Returns: The difference.
  /// - Throws: As ``Walk/fetch()``; the elements stay as they were.
  @discardableResult
  public func refresh() throws -> LiveDiff<Element> { try results.refresh() }

  /// Follows the query until the task is cancelled or the database closed. Pages are turned
  /// meanwhile; see ``LiveResults/follow(isolation:_:)``.
  ///
  /// - Parameters:
  ///   - actor: The actor to which the pages belong; by default the caller's.
  ///   - body: Takes each difference from now on, after the elements have changed: those of commits
  ///     and those of turning pages.
  /// - Throws: Any error that `body` throws; otherwise as ``Walk/fetch()``.
  public func follow(
    isolation actor: isolated (any Actor)? = #isolation,
    _ body: (LiveDiff<Element>) throws -> Void = { _ in }
  ) async throws {
    try await results.follow(isolation: actor, body)
  }
}

extension Results where Element: Sendable {
  /// The result page by page, forward and back, kept up to date.
  ///
  /// - Parameters:
  ///   - size: The number of elements of a page; at least 1.
  ///   - pages: The most pages to keep at a time, at least 1: with 1, a page is replaced by the
  ///     next. Nil keeps all that were loaded.
  /// - Returns: The pages, of which the first is loaded.
  /// - Throws: As ``Walk/fetch()``; ``DatabaseError/misuse(reason:)`` for a query with a limit or
  ///   an offset, for groups, distinct values and counts, and for a query of a snapshot or of a
  ///   transaction.
  /// - Complexity: As ``LivePages/next()``.
  public func livePages(of size: Int, keeping pages: Int? = nil) throws -> LivePages<Self> {
    try LivePages(self, of: size, keeping: pages)
  }
}
