/// A ``Database`` as a ``ModelStore``.
///
/// Each call is a transaction of its own; those that wait at the same time are made durable
/// together. Reads take the calling thread for about a microsecond a model.
public struct DatabaseStore: ModelStore {
  /// The database.
  public let database: Database

  /// Takes a database that was opened for the models, or to which they were registered.
  public init(_ database: Database) { self.database = database }

  /// Inserts a model; see ``ModelStore/create(_:)``.
  @discardableResult
  public func create<M: Model>(_ model: M) async throws -> M {
    try await database.write { try $0.create(model) }
  }

  /// Changes a model; see ``ModelStore/update(_:_:)``.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M {
    try await database.write { try $0.updated(id, body) }
  }

  /// Deletes a model; see ``ModelStore/delete(_:)``.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) async throws -> Bool {
    try await database.delete(id)
  }

  /// Reads a model; see ``ModelStore/lookup(_:)``.
  public func lookup<M: Model>(_ id: ModelID<M>) async throws -> M? { try database.find(id) }

  /// Asks for models; see ``ModelStore/list(_:)``.
  public func list<M: Model>(_ listing: Listing<M>) async throws -> [M] {
    try database.query(listing).fetch()
  }

  /// Follows the log; see ``ModelStore/observe(_:_:)``. Nothing is queued for a slow observer: it
  /// reads what it has not seen.
  public func observe<M: Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M> {
    try id.map { try database.changes(of: $0) } ?? database.changes(of: type)
  }
}

extension Database.Transaction {
  /// Inserts a model.
  ///
  /// - Returns: The model as it is stored.
  func create<M: Model>(_ model: M) throws -> M { try get(try insert(model)) }

  /// Changes a model.
  ///
  /// - Returns: The model as it is stored.
  func updated<M: Model>(_ id: ModelID<M>, _ body: (inout M) throws -> Void) throws -> M {
    try update(id, body)
    return try get(id)
  }
}

extension Database {
  /// The query that a listing describes.
  func query<M: Model>(_ listing: Listing<M>) -> ModelQuery<M> {
    var query = query(M.self)
    if let condition = listing.condition { query = query.matching(condition) }
    query.request.description.orderings = listing.orderings
    query.request.description.limit = listing.limit
    query.request.description.offset = listing.offset
    return query
  }
}
