import FoundationEssentials

/// A question about the models of one type: a value, to be built, kept, sent and narrowed further.
///
///     let late = try database.query(Flight.self)
///       .where { $0.departureDelay > 60; $0.origin.name.hasPrefix("John") }
///       .order(by: \.scheduled.descending)
///       .limit(50).fetch()
///
/// Nothing is read until a result is asked for. A query of a ``Database`` then looks at its newest
/// moment; one of a ``Snapshot`` or a ``Transaction`` stays with that.
///
/// Threads: any, except for a query of a transaction, which stays on the transaction's.
public struct Query<M: Model>: Sendable {
  enum Source: Sendable {
    case database(Database)
    case snapshot(Snapshot)
  }

  private(set) var source: Source
  var description: QueryDescription
  /// Tests in Swift, which run after the description's condition.
  @usableFromInline var filters: [@Sendable (M) throws -> Bool] = []
  /// Ends a run by throwing.
  var check: (@Sendable () throws -> Void)?

  init(_ source: Source) {
    self.source = source
    let core = M.schema.core
    description = QueryDescription(core.path, where: core.caseCondition)
  }

  private func changed(_ change: (inout Query) -> Void) -> Query {
    var copy = self
    change(&copy)
    return copy
  }

  // MARK: Narrowing

  /// Narrows to what passes, one condition per line; a second call narrows further.
  ///
  /// - Parameter condition: Names properties, and says what holds for them.
  /// - Returns: The narrower query.
  public func `where`(@ConditionBuilder _ condition: (Fields<M>) -> Condition) -> Query {
    matching(condition(Fields<M>()))
  }

  /// Narrows to what passes a condition that was made, or read from text, before.
  public func matching(_ condition: Condition) -> Query {
    changed { query in
      query.description.condition = query.description.condition.map { $0 && condition } ?? condition
    }
  }

  /// The last stage: narrows by any code of the app's. It sees whole models, so every candidate is
  /// decoded; ``limit(_:offset:)`` counts what passes.
  ///
  /// - Complexity: O(what the conditions let through), 0.1 µs each and what `body` takes.
  public func filter(_ body: @escaping @Sendable (M) throws -> Bool) -> Query {
    changed { $0.filters.append(body) }
  }

  /// Sorts; a second call sorts among equals. Ties come in the order of the keys, or against it
  /// where an index is walked backwards: name the id last where that matters, as in
  /// `.order(by: \.scheduled.descending, \.id.descending)`, which takes no more than without it.
  ///
  /// - Parameter terms: Properties, each ascending unless it says `.descending`.
  /// - Returns: The sorted query.
  public func order<each T: OrderTerm>(by terms: repeat (Fields<M>) -> each T) -> Query {
    var copy = self
    for term in repeat each terms {
      copy.description.orderings.append(term(Fields<M>()).ordering)
    }
    return copy
  }

  /// Ends after so many results, of which the first `offset` are left out before.
  ///
  /// For pages use ``page()``, which does not walk over the pages before.
  public func limit(_ count: Int, offset: Int = 0) -> Query {
    changed {
      $0.description.limit = max(count, 0)
      $0.description.offset = max(offset, 0)
    }
  }

  /// Goes on where an earlier run of the same query ended.
  public func after(_ cursor: QueryCursor?) -> Query { changed { $0.description.after = cursor } }

  // MARK: Results

  /// All models that answer, in order.
  ///
  /// - Throws: ``QueryError`` for what cannot be answered; ``PropertyError``,
  ///   ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: as ``explain()`` says; 0.1 µs and 10 ns a property for each model.
  @inlinable
  public func fetch() throws -> [M] {
    var models: [M] = []
    try walk {
      models.append($0)
      return true
    }
    return models
  }

  /// Visits the models that answer, in order, with memory that does not depend on how many there
  /// are, unless they must be sorted.
  ///
  /// - Parameter body: Takes the model. It must not write to the transaction that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  @inlinable
  public func forEach(_ body: (M) throws -> Void) throws {
    try walk { model in
      try body(model)
      return true
    }
  }

  /// The first model that answers, or nil.
  ///
  /// - Throws: As ``fetch()``.
  public func first() throws -> M? {
    var found: M?
    var query = self
    if filters.isEmpty { query.description.limit = min(1, description.limit ?? 1) }
    try query.walk {
      found = $0
      return false
    }
    return found
  }

  /// How many models answer.
  ///
  /// - Throws: As ``fetch()``.
  public func count() throws -> Int {
    if filters.isEmpty { return try run { $0.outcome = .count }.count() }
    var count = 0
    try forEach { _ in count += 1 }
    return count
  }

  /// True if at least one model answers.
  ///
  /// - Throws: As ``fetch()``.
  public func exists() throws -> Bool {
    if filters.isEmpty { return try run { $0.outcome = .exists }.count() > 0 }
    return try first() != nil
  }

  /// The ids of the models that answer, in order; the models are not decoded.
  ///
  /// - Throws: As ``fetch()``.
  public func ids() throws -> [ModelID<M>] {
    if !filters.isEmpty { return try fetch().map(\.id) }
    var ids: [ModelID<M>] = []
    try run { $0.outcome = .ids }.forEach { key, _ in
      guard let own = M.Key(treeKey: try Key(key)) else {
        let mismatch = ValueMismatch(reason: "the key is of another kind")
        throw M.schema.core.located(mismatch, key, -1)
      }
      ids.append(ModelID(own))
      return true
    }
    return ids
  }

  /// Some of the models that answer, and where the next ones begin.
  ///
  ///     var page = try query.limit(50).page()
  ///     while let next = page.next { page = try query.limit(50).after(next).page() }
  ///
  /// - Returns: As many models as ``limit(_:offset:)`` says; `next` is nil behind the last.
  /// - Throws: As ``fetch()``; ``DatabaseError/misuse(reason:)`` for a query with a
  ///   ``filter(_:)``, which has no place to go on from.
  @inlinable
  public func page() throws -> (models: [M], next: QueryCursor?) {
    guard filters.isEmpty else {
      throw DatabaseError.misuse(reason: "a query with a filter in Swift has no pages")
    }
    let run = try modelRun()
    var models: [M] = []
    try forEach(run) {
      models.append($0)
      return true
    }
    return (models, run.cursor)
  }

  /// Visits the models that answer in batches, each read from a moment of its own: nothing is held
  /// between them, so that a long walk pins no pages.
  ///
  /// - Parameters:
  ///   - count: How many models a batch has.
  ///   - body: Takes a batch; it may write.
  /// - Throws: Any error that `body` throws; otherwise as ``page()``.
  public func batches(of count: Int, _ body: ([M]) throws -> Void) throws {
    var left = description.limit ?? .max
    var query = self
    while left > 0 {
      let page = try query.limit(min(count, left), offset: query.description.offset).page()
      if !page.models.isEmpty { try body(page.models) }
      left -= page.models.count
      guard let next = page.next else { return }
      query = query.after(next).limit(count)
    }
  }

  /// How the query is answered, in words, with what was estimated and what running it did.
  ///
  /// - Throws: As ``fetch()``, since the query is run.
  public func explain() throws -> String {
    if filters.isEmpty { return try explain(running: { _ in }) }
    // The results that a filter leaves are not known beforehand, so a limit cannot end the run.
    return try unlimited.explain(running: { _ in }) + "\nthen filter in Swift"
  }

  func explain(running change: (inout QueryDescription) -> Void) throws -> String {
    let run = try run(change)
    try run.forEachValues { _ in true }
    return run.plan.explained(run.counts)
  }

  // MARK: Running

  /// The moment that is asked.
  func snapshot() throws -> Snapshot {
    switch source {
    case .database(let database): try database.snapshot()
    case .snapshot(let snapshot): snapshot
    }
  }

  /// The same question to one moment.
  func reading(_ snapshot: Snapshot) -> Query { changed { $0.source = .snapshot(snapshot) } }

  func run(_ change: (inout QueryDescription) -> Void) throws -> QueryRun {
    var query = self
    change(&query.description)
    return try query.run(on: try snapshot())
  }

  func run(on snapshot: Snapshot) throws -> QueryRun {
    let core = M.schema.core
    try core.check()
    _ = try snapshot.binding(core)
    try core.checkAsked(description.propertyNames, snapshot)
    let run = try QueryRun(description, on: snapshot)
    run.check = check
    return run
  }
}

extension Database {
  /// Asks about the models of a type, at the newest moment there is when a result is asked for.
  public func query<M: Model>(_ type: M.Type = M.self) -> Query<M> { Query(.database(self)) }
}

extension Snapshot {
  /// Asks about the models of a type at this moment.
  public func query<M: Model>(_ type: M.Type = M.self) -> Query<M> { Query(.snapshot(self)) }
}

extension Transaction {
  /// Asks about the models of a type, as the transaction has left them when a result is asked for.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  public func query<M: Model>(_ type: M.Type = M.self) throws -> Query<M> {
    Query(.snapshot(try readingSnapshot()))
  }

  /// Deletes the models that answer a query.
  ///
  ///     try tx.delete(tx.query(Flight.self).where { $0.status == .cancelled })
  ///
  /// - Returns: How many there were.
  /// - Throws: As ``delete(_:)-(ModelID<M>)``, and as the query.
  @discardableResult
  public func delete<M: Model>(_ query: Query<M>) throws -> Int {
    try delete(contentsOf: try query.ids())
  }
}

extension Query {
  /// Asks for a result on another thread; cancelling the task ends the run.
  ///
  ///     let late = try await query.inBackground { try $0.fetch() }
  ///
  /// - Parameter body: Asks for the result.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws; `CancellationError`; ``DatabaseError/misuse(reason:)``
  ///   for a query of a transaction.
  public func inBackground<R: Sendable>(
    _ body: @escaping @Sendable (Query) throws -> R
  ) async throws -> R {
    try await snapshot().inBackground { check in
      var query = self
      query.check = check
      return try body(query)
    }
  }
}
