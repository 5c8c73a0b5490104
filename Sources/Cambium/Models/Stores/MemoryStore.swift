import Synchronization

/// A ``ModelStore`` in memory, for tests, previews and what need not last: a database that goes
/// with the store, ``Database/inMemory(options:for:)``, and keeps the same rules by the same code.
///
/// Types are known from their first use on.
///
/// Threads: any; its calls follow each other.
public final class MemoryStore: ModelStore {
  /// The database.
  public let database: Database
  private let known = Mutex<Set<ObjectIdentifier>>([])

  /// Makes an empty store.
  ///
  /// - Parameter models: The types that it is for; others are made known by their first use.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a model that cannot be stored, and as
  ///   ``Database/inMemory(options:for:)``.
  /// - Complexity: 4 to 5 ms in a debug build, measured with one type by the tests, which print it.
  public init(for models: any Model.Type...) throws {
    database = try .inMemory()
    try database.declare(models)
  }

  /// The database, which knows a type.
  private func database<M: Model>(for type: M.Type) throws -> Database {
    if known.withLock({ $0.contains(ObjectIdentifier(type)) }) { return database }
    try database.declare([type])
    known.withLock { _ = $0.insert(ObjectIdentifier(type)) }
    return database
  }

  /// Keeps a new model; see ``ModelStore/create(_:)``.
  @discardableResult
  public func create<M: Model>(_ model: M) throws -> M {
    try database(for: M.self).write { try $0.create(model) }
  }

  /// Changes a model; see ``ModelStore/update(_:_:)``. `body` runs once.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) throws -> M {
    try database(for: M.self).write { try $0.updated(id, body) }
  }

  /// Deletes a model; see ``ModelStore/delete(_:)``.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) throws -> Bool {
    try database(for: M.self).delete(id)
  }

  /// Reads a model; see ``ModelStore/lookup(_:)``.
  public func lookup<M: Model>(_ id: ModelID<M>) throws -> M? {
    try database(for: M.self).find(id)
  }

  /// Asks for models; see ``ModelStore/list(_:)``.
  public func list<M: Model>(_ listing: Listing<M>) throws -> [M] {
    try database(for: M.self).query(listing).fetch()
  }

  /// Follows changes; see ``ModelStore/observe(_:_:)``. Nothing is queued for a slow observer.
  public func observe<M: Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M> {
    try DatabaseStore(database(for: type)).observe(type, id)
  }
}
