// Writing single models, each in a transaction of its own.
//
// Every call has two forms of the same name. Synchronous code gets the one that runs on its thread;
// async code gets the one that waits in the queue of writes, where those that wait at the same time
// share one flush. So many tasks that each write a single model are about as fast as a bulk.

extension Database {
  /// Inserts a model in a transaction of its own; see `insert(_:)` of ``Database/Transaction``.
  ///
  /// - Parameters:
  ///   - model: The model; without an id it gets one.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The model's id.
  /// - Throws: As in a transaction, and as `write`. Nothing is stored then.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public func insert<M: Model>(
    _ model: M, metadata: [String: String] = [:], actor: String? = nil
  ) throws -> ModelID<M> {
    try write(metadata: metadata, actor: actor) { try $0.insert(model) }
  }

  /// Inserts a model without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - model: The model; without an id it gets one.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The model's id.
  /// - Throws: As the synchronous form, and as the async `write`.
  /// - Complexity: as the synchronous form, with the flush shared by up to 1,024 writes.
  @discardableResult
  public func insert<M: Model>(
    _ model: M, metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> ModelID<M> {
    try await write(metadata: metadata, actor: actor) { try $0.insert(model) }
  }

  /// Inserts or changes a model in a transaction of its own; see `upsert(_:)` of
  /// ``Database/Transaction``.
  ///
  /// - Parameters:
  ///   - model: The model to store.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The outcome: inserted, updated or unchanged.
  /// - Throws: As in a transaction, and as `write`. Nothing is stored then.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public func upsert<M: Model>(
    _ model: M, metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Upsert {
    try write(metadata: metadata, actor: actor) { try $0.upsert(model) }
  }

  /// Inserts or changes a model without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - model: The model to store.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The outcome: inserted, updated or unchanged.
  /// - Throws: As the synchronous form, and as the async `write`.
  /// - Complexity: as the synchronous form, with the flush shared by up to 1,024 writes.
  @discardableResult
  public func upsert<M: Model>(
    _ model: M, metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Upsert {
    try await write(metadata: metadata, actor: actor) { try $0.upsert(model) }
  }

  /// Changes a model in a transaction of its own; see `update(_:_:)` of ``Database/Transaction``.
  ///
  /// - Parameters:
  ///   - id: The model's id.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  ///   - body: Changes the model, on the calling thread. The id must stay.
  /// - Returns: The model before and after.
  /// - Throws: As in a transaction, and as `write`. Nothing is stored then.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, metadata: [String: String] = [:], actor: String? = nil,
    _ body: (inout M) throws -> Void
  ) throws -> Update<M> {
    try write(metadata: metadata, actor: actor) { try $0.update(id, body) }
  }

  /// Changes a model without blocking the caller's thread.
  ///
  ///     try await database.update(id, actor: "ada") { $0.delay = 75 }
  ///
  /// - Parameters:
  ///   - id: The model's id.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  ///   - body: Changes the model, on another thread. The id must stay.
  /// - Returns: The model before and after.
  /// - Throws: As the synchronous form, and as the async `write`.
  /// - Complexity: as the synchronous form, with the flush shared by up to 1,024 writes.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, metadata: [String: String] = [:], actor: String? = nil,
    _ body: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> Update<M> {
    try await write(metadata: metadata, actor: actor) { try $0.update(id, body) }
  }

  /// Deletes a model in a transaction of its own; see `delete(_:)` of ``Database/Transaction``.
  ///
  /// - Parameters:
  ///   - id: The model's id.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: True if there was one.
  /// - Throws: As in a transaction, and as `write`. Nothing is deleted then.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public func delete<M: Model>(
    _ id: ModelID<M>, metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Bool {
    try write(metadata: metadata, actor: actor) { try $0.delete(id) }
  }

  /// Deletes a model without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - id: The model's id.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: True if there was one.
  /// - Throws: As the synchronous form, and as the async `write`.
  /// - Complexity: as the synchronous form, with the flush shared by up to 1,024 writes.
  @discardableResult
  public func delete<M: Model>(
    _ id: ModelID<M>, metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Bool {
    try await write(metadata: metadata, actor: actor) { try $0.delete(id) }
  }
}
