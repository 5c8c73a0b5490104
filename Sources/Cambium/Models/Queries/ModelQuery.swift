import FoundationEssentials

/// A question about the models of one type: a value, to be built, kept, sent and narrowed further.
///
///     let late = try database.query(Flight.self)
///       .where { $0.departureDelay > 60; $0.origin.name.hasPrefix("John") }
///       .order(by: \.scheduled.descending)
///       .limit(50).fetch()
///
/// Nothing is read until a result is asked for. A query of a ``Database`` then looks at its newest
/// moment; one of a ``Snapshot`` or a ``Database/Transaction`` stays with that.
///
/// Threads: any, except for a query of a transaction, which stays on the transaction's.
public struct ModelQuery<M: Model>: Results {
  /// A result: a model.
  public typealias Element = M

  /// The question, and where it is asked.
  public var request: QueryRequest
  /// Tests in Swift, which run after the description's condition.
  @usableFromInline private(set) var filters: [@Sendable (M) throws -> Bool] = []

  init(_ source: QueryRequest.Source) {
    let core = M.schema.core
    let description = QueryDescription(core.path, where: core.caseCondition)
    request = QueryRequest(source: source, description: description)
    request.prepare = { snapshot, description in
      _ = try core.check(description, on: snapshot)
      return nil
    }
  }

  // MARK: Narrowing

  /// Narrows to what passes, one condition per line; a second call narrows further.
  ///
  /// - Parameter condition: Names properties, and says what holds for them.
  /// - Returns: The narrower query.
  public func `where`(@ConditionBuilder _ condition: (Fields<M>) -> Condition) -> ModelQuery {
    matching(condition(Fields<M>()))
  }

  /// Narrows to what passes a condition that was made, or read from text, before.
  public func matching(_ condition: Condition) -> ModelQuery {
    changed { query in
      let own = query.request.description.condition
      query.request.description.condition = own.map { $0 && condition } ?? condition
    }
  }

  /// Narrows by any code of the app's, on any thread, after the conditions and before everything
  /// else: sorting, limits, pages, selections, joins, groups and aggregates see only what passes.
  ///
  /// It sees whole models, so every candidate is read and decoded; no index or view answers alone.
  ///
  /// - Complexity: O(what the conditions let through), 0.1 µs each and what `body` takes. A shape
  ///   other than models in the order of an index decodes what passes once more.
  @inlinable
  public func filter(_ body: @escaping @Sendable (M) throws -> Bool) -> ModelQuery {
    let filters = filters + [body]
    return filtering(filters) { decoder, accepted in
      let schema = M.schema
      return { key, record in
        let model = try schema.decode(record, key: key, decoder)
        for filter in filters where try !filter(model) { return false }
        accepted.model = model
        return true
      }
    }
  }

  @usableFromInline
  func filtering(
    _ filters: [@Sendable (M) throws -> Bool],
    _ make: @escaping @Sendable (Binding, AcceptedModel<M>) -> QueryRun.Filter
  ) -> ModelQuery {
    let core = M.schema.core
    return changed {
      $0.filters = filters
      $0.request.prepare = { snapshot, description in
        let accepted = AcceptedModel<M>()
        return (make(try core.check(description, on: snapshot), accepted), accepted)
      }
    }
  }

  /// Sorts; a second call sorts among equals. Ties come in the order of the keys, or against it
  /// where an index is walked backwards: name the id last where that matters, as in
  /// `.order(by: \.scheduled.descending, \.id.descending)`, which takes no more than without it.
  ///
  /// - Parameter terms: Properties, each ascending unless it says `.descending`.
  /// - Returns: The sorted query.
  public func order<each T: OrderTerm>(by terms: repeat @escaping (Fields<M>) -> each T) -> Self {
    changed {
      $0.request.description.orderings += Fields<M>.orderings(repeat (each terms)(Fields<M>()))
    }
  }

  // MARK: Results

  /// Decodes the models of a run.
  @inlinable
  public func read(_ run: QueryRun, _ body: (M) throws -> Bool) throws {
    let (schema, decoder) = (M.schema, try run.binding(M.schema.core))
    if let accepted = run.accepted as? AcceptedModel<M>, !run.isSorted {
      return try run.forEach { _, _ in try body(accepted.model) }
    }
    try run.forEach { key, record in try body(try schema.decode(record, key: key, decoder)) }
  }

  /// The ids of the models that answer, in order; the models are not decoded, unless a filter in
  /// Swift must see them.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func ids() throws -> [ModelID<M>] {
    var ids: [ModelID<M>] = []
    try request.run { $0.outcome = .ids }.forEach { key, _ in
      guard let own = M.Key(_treeKey: try Key(key)) else {
        let mismatch = ValueMismatch(reason: "the key is of another kind")
        throw M.schema.core.located(mismatch, key, -1)
      }
      ids.append(ModelID(own))
      return true
    }
    return ids
  }
}

/// The model that a filter in Swift has accepted last.
@usableFromInline
final class AcceptedModel<M: Model> {
  @usableFromInline var model = M.schema.template
}

extension SchemaCore {
  /// Checks that a description can be asked at a moment.
  func check(_ description: QueryDescription, on snapshot: Snapshot) throws -> Binding {
    try check()
    let binding = try snapshot.binding(self)
    try checkAsked(description.propertyNames, snapshot)
    try ComparedIDs(core: self, binding: binding, snapshot: snapshot).check(description.condition)
    return binding
  }
}

extension QueryRun {
  /// The decoder of the run's records.
  @usableFromInline
  func binding(_ core: SchemaCore) throws -> Binding { try records.snapshot.binding(core) }
}

extension Database {
  /// Asks about the models of a type, at the newest moment there is when a result is asked for.
  public func query<M: Model>(_ type: M.Type = M.self) -> ModelQuery<M> {
    ModelQuery(.database(self))
  }
}

extension Snapshot {
  /// Asks about the models of a type at this moment.
  public func query<M: Model>(_ type: M.Type = M.self) -> ModelQuery<M> {
    ModelQuery(.snapshot(self))
  }
}

extension Database.Transaction {
  /// Asks about the models of a type, as the transaction has left them when a result is asked for.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  public func query<M: Model>(_ type: M.Type = M.self) throws -> ModelQuery<M> {
    ModelQuery(.snapshot(try readingSnapshot()))
  }

  /// Deletes the models that answer a query.
  ///
  ///     try tx.delete(tx.query(Flight.self).where { $0.status == .cancelled })
  ///
  /// - Returns: The number of models that were deleted.
  /// - Throws: As ``delete(_:)-(ModelID<M>)``, and as the query.
  @discardableResult
  public func delete<M: Model>(_ query: ModelQuery<M>) throws -> Int {
    try delete(contentsOf: try query.ids())
  }
}
