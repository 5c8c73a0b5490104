/// The results of a query, of whatever shape: models, models with what is related to them, joined
/// pairs, selected properties, groups with their aggregates, records of no known type.
///
///     func show(_ results: some Results<Flight>) throws {
///       print(try results.count(), try results.first()?.number ?? 0)
///       try results.forEach { print($0.number) }
///     }
///
/// Every shape has every way to take results, and all ways are written here, once: a shape only
/// says how a run of its query becomes elements.
public protocol Results<Element>: Walk {
  /// The question, and what is asked. An own shape hands on that of the shape it is made of.
  var request: QueryRequest { get set }

  /// Visits the elements of one run of the request, in order, until `body` returns false. An own
  /// shape calls that of the shape it is made of.
  func read(_ run: QueryRun, _ body: (Element) throws -> Bool) throws
}

/// A question and what is asked: a token for shapes of ``Results``.
public struct QueryRequest: Sendable {
  enum Source: Sendable {
    case database(Database)
    case snapshot(Snapshot)
  }

  /// Checks a description against a schema, and makes the filter in Swift.
  typealias Preparation =
    @Sendable (Snapshot, QueryDescription) throws -> (filter: QueryRun.Filter, accepted: AnyObject)?

  var source: Source
  var description: QueryDescription
  var prepare: Preparation?
  /// The search that ranks what answers; nil for results in another order.
  var search: RankedSearch?
  /// The relations whose records a shape loads along with each result.
  var loading: [LoadedPath] = []
  /// Ends a run by throwing.
  package var check: (@Sendable () throws -> Void)?

  /// True if another request asks the same, apart from filters in Swift.
  func isSame(as other: QueryRequest) -> Bool {
    description == other.description && loading == other.loading && search == other.search
  }

  /// The moment that is asked.
  func snapshot() throws -> Snapshot {
    switch source {
    case .database(let database): try database.snapshot()
    case .snapshot(let snapshot): snapshot
    }
  }

  /// Plans a run.
  @usableFromInline
  func run() throws -> QueryRun { try run { _ in } }

  func run(_ change: (inout QueryDescription) -> Void) throws -> QueryRun {
    var description = description
    change(&description)
    let snapshot = try snapshot()
    let prepared = try prepare?(snapshot, description)
    description.hasFilter = prepared != nil
    let run = try QueryRun(description, on: snapshot)
    (run.filter, run.accepted) = (prepared?.filter, prepared?.accepted)
    run.work.check = check
    return run
  }
}

// MARK: Narrowing

extension Results {
  func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }

  /// The same question to one moment.
  func pinned(to snapshot: Snapshot) -> Self { changed { $0.request.source = .snapshot(snapshot) } }

  /// Ends after so many results, of which the first `offset` are left out before.
  ///
  /// For pages use ``page()``, which does not walk over the pages before.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    changed {
      $0.request.description.limit = max(count, 0)
      $0.request.description.offset = max(offset, 0)
    }
  }

  /// Continues where an earlier page of the same results ended.
  public func after(_ cursor: QueryCursor?) -> Self {
    changed { $0.request.description.after = cursor }
  }
}

// MARK: Taking results

extension Results {
  /// Visits the results in order, until `body` returns false, with memory that does not depend on
  /// their number, unless they must be sorted, grouped or made distinct.
  ///
  /// - Parameter body: Takes the result. It must not write to the transaction that is read.
  /// - Throws: Any error that `body` throws; ``QueryError`` for what cannot be answered;
  ///   ``PropertyError``, ``DatabaseError/corrupt(reason:)``.
  @inlinable
  public func walk(_ body: (Element) throws -> Bool) throws { try read(try request.run(), body) }

  /// The first result, or nil.
  ///
  /// - Throws: As ``Walk/fetch()``.
  @inlinable
  public func first() throws -> Element? {
    var found: Element?
    try limited(to: 1).walk {
      found = $0
      return false
    }
    return found
  }

  /// The same results, and no more than so many.
  @usableFromInline
  func limited(to most: Int) -> Self {
    // A single answer, such as a count, is made of all records.
    if request.description.answerName != nil { return self }
    return changed {
      $0.request.description.limit = min(most, $0.request.description.limit ?? most)
    }
  }

  /// Counts the results, without decoding them unless a filter in Swift must see them.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func count() throws -> Int {
    try request.run { if $0.answerName == nil { $0.outcome = .count } }.count()
  }

  /// True if there is a result.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func exists() throws -> Bool { try request.run { $0.outcome = .exists }.count() > 0 }

  /// Some of the results, and where the next ones begin.
  ///
  ///     var page = try query.limit(50).page()
  ///     while let next = page.next { page = try query.limit(50).after(next).page() }
  ///
  /// A page begins right behind a record, whatever was inserted or removed in between. Groups and
  /// distinct values have no such place: their pages are counted, so that one which appears or
  /// disappears before a page's edge shifts it.
  ///
  /// - Returns: As many results as ``limit(_:offset:)`` says; `next` is nil behind the last.
  /// - Throws: As ``Walk/fetch()``.
  /// - Complexity: O(page) where results come in the order of an index or of their keys, as
  ///   ``explain()`` says; otherwise they are sorted, grouped or made distinct for each page.
  @inlinable
  public func page() throws -> (results: [Element], next: QueryCursor?) {
    let run = try request.run()
    var results: [Element] = []
    try read(run) {
      results.append($0)
      return true
    }
    return (results, run.cursor)
  }

  /// Visits the results in batches, each a ``page()`` of a moment of its own: nothing is held
  /// between them, so that a long walk pins no pages.
  ///
  /// - Parameters:
  ///   - count: The number of results in a batch.
  ///   - body: Called with each batch; it may write.
  /// - Throws: Any error that `body` throws; otherwise as ``page()``.
  public func batches(of count: Int, _ body: ([Element]) throws -> Void) throws {
    var left = request.description.limit ?? .max
    var rest = self
    while left > 0 && count > 0 {
      let page = try rest.limited(to: min(count, left)).page()
      if !page.results.isEmpty { try body(page.results) }
      left -= page.results.count
      guard let next = page.next else { return }
      (rest.request.description.after, rest.request.description.offset) = (next, 0)
    }
  }

  /// Explains in words how the query is answered, with the estimates and what running it did.
  ///
  /// - Throws: As ``Walk/fetch()``, since the query is run.
  public func explain() throws -> String {
    let run = try request.run()
    try read(run) { _ in true }
    return run.explanation
  }

  /// Takes results on another thread; cancelling the task ends the run.
  ///
  ///     let late = try await query.inBackground { try $0.fetch() }
  ///
  /// - Parameter body: Takes the results.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; `CancellationError`; ``DatabaseError/misuse(reason:)``
  ///   for a query of a transaction.
  public func inBackground<R: Sendable>(
    _ body: @escaping @Sendable (Self) throws -> R
  ) async throws -> R {
    try await request.snapshot().inBackground { check in
      try body(changed { $0.request.check = check })
    }
  }

  /// Starts reading the results of one moment batch by batch, as a sequence does. They are planned,
  /// sorted or computed once.
  ///
  /// - Throws: ``DatabaseError/closed(reason:)``.
  public func makeBatches() throws -> WalkBatches<Element> {
    let snapshot = try request.snapshot()
    let pinned = pinned(to: snapshot)
    let guarding = try snapshot.transaction.map { try OpenRun($0) }
    return WalkBatches(snapshot.readingDirectory) { check in
      let run = try pinned.request.run()
      let own = run.work.check
      run.work.check = {
        try own?()
        try check()
      }
      try run.beginParts(of: 256)
      return { elements in
        _ = guarding
        if run.parts?.isOver ?? true { return }
        try pinned.read(run) {
          elements.append($0)
          return true
        }
      }
    }
  }
}

/// Refuses writing to a transaction as long as its results are read batch by batch.
final class OpenRun {
  private let transaction: RunningTransaction

  /// Begins to lend records of a transaction, which ends with `openRuns` being one less. Until then
  /// nothing may be written, so what the tables lack is written before.
  static func begin(in transaction: RunningTransaction) throws {
    try transaction.use()
    if transaction.openRuns == 0 { try transaction.writeTexts() }
    transaction.openRuns += 1
  }

  init(_ transaction: RunningTransaction) throws {
    try OpenRun.begin(in: transaction)
    self.transaction = transaction
  }

  deinit { transaction.openRuns -= 1 }
}
