/// Where models are kept, whatever keeps them: a database, memory, a server.
///
///     func book(_ flight: Flight, in store: some ModelStore) async throws {
///       let booked = try await store.create(flight)
///       try await store.update(booked.id) { $0.crew.append("Ada") }
///     }
///
/// It has what all of them can do, so that a screen or a test takes any. Every store promises:
///
/// 1. **Whole**: a call does all or nothing. There are no transactions over several calls; what
///    needs them is written for a ``Database``.
/// 2. **Checked**: what the schema says holds: its rules and domains, what is required, unique
///    properties, references that must lead somewhere, and delete rules. Every store refuses with
///    the same error.
/// 3. **As stored**: what comes back is what another reader would get: with its id, moments to the
///    microsecond, values put into their domains.
/// 4. **In order**: a list is in the order that it asks for, then in that of the keys.
/// 5. **Each change once**: an observer gets what happens after ``observe(_:_:)`` was called, in
///    the order in which it happened, nothing twice, and nothing once its task is cancelled.
///
/// A store may fail otherwise too: a database is full, a server away. The hooks of a
/// ``LifecycleModel`` take a transaction, so they run where there is one, as in ``DatabaseStore``
/// and ``MemoryStore``. The library CambiumConformance holds any store to these promises.
///
/// Threads: any.
public protocol ModelStore: Sendable {
  /// Keeps a new model.
  ///
  /// - Parameter model: A model without an id gets one, as by `insert(_:)`.
  /// - Returns: The model as it is kept.
  /// - Throws: ``DatabaseError/exists(_:reason:)`` where its id is taken, ``ValidationError``, or
  ///   what a rule refuses: ``DatabaseError/invalid(_:)``,
  ///   ``DatabaseError/notUnique(_:index:takenBy:)``. Nothing is kept then.
  @discardableResult
  func create<M: Model>(_ model: M) async throws -> M

  /// Changes a model.
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - body: Changes it, and nothing else: where somebody else changed the model meanwhile, it
  ///     may be run again. The id must stay.
  /// - Returns: The model as it is kept.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is none, what `body` throws;
  ///   otherwise as ``create(_:)``. Nothing is changed then.
  @discardableResult
  func update<M: Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M

  /// Deletes a model, and applies their delete rules to the models that refer to it.
  ///
  /// - Parameter id: The id of the model.
  /// - Returns: True if there was one.
  /// - Throws: ``DatabaseError/stillReferred(_:by:property:)``. Nothing is deleted then.
  @discardableResult
  func delete<M: Model>(_ id: ModelID<M>) async throws -> Bool

  /// The model with an id, or nil where there is none.
  ///
  /// - Throws: The store's own failures.
  func lookup<M: Model>(_ id: ModelID<M>) async throws -> M?

  /// The models that a listing asks for, in order.
  ///
  /// - Throws: ``QueryError`` for what cannot be answered.
  func list<M: Model>(_ listing: Listing<M>) async throws -> [M]

  /// Observes changes of models from now on.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - id: Only this one; nil for all.
  /// - Returns: The changes, for one walk.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  func observe<M: Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M>
}

extension ModelStore {
  /// All models of a type, in the order of their keys.
  ///
  /// - Throws: As ``list(_:)-(Listing<M>)``.
  public func list<M: Model>(_ type: M.Type) async throws -> [M] { try await list(Listing<M>()) }

  /// Observes changes of the models of a type from now on.
  ///
  /// - Throws: As ``observe(_:_:)``.
  public func observe<M: Model>(_ type: M.Type) throws -> ModelChanges<M> {
    try observe(type, nil)
  }

  /// Observes changes of one model from now on, which need not be there yet.
  ///
  /// - Throws: As ``observe(_:_:)``.
  public func observe<M: Model>(_ id: ModelID<M>) throws -> ModelChanges<M> {
    try observe(M.self, id)
  }

  /// Creates a model, or makes the one that has its id the same.
  ///
  /// - Returns: The model as it is kept.
  /// - Throws: As ``create(_:)``.
  @discardableResult
  public func save<M: Model>(_ model: M) async throws -> M {
    guard model.id.isAssigned else { return try await create(model) }
    do { return try await update(model.id) { $0 = model } } catch DatabaseError.notFound {
      return try await create(model)
    }
  }
}
