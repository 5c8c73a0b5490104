import Synchronization

/// A ``ModelStore`` in memory, for tests, previews and what need not last: dictionaries of records,
/// without log, history or files.
///
/// Types are known from their first use on. A listing looks at every model of its type, and a
/// delete at every one that may refer; observers have an unbounded queue each. The hooks of a
/// ``LifecycleModel`` need a transaction, so such a model is refused; so are models that share a
/// collection.
///
/// Threads: any; its calls follow each other.
public final class MemoryStore: ModelStore {
  private let state = Mutex(MemoryState())

  /// Makes an empty store.
  ///
  /// - Parameter models: The types that it is for; others are made known by their first use.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a model that cannot be stored.
  public init(for models: any Model.Type...) throws {
    try state.withLock { state in
      for model in models { try state.register(model) }
    }
  }

  /// Keeps a new model; see ``ModelStore/create(_:)``.
  @discardableResult
  public func create<M: Model>(_ model: M) throws -> M {
    try change(M.self) { try $0.create(model) }
  }

  /// Changes a model; see ``ModelStore/update(_:_:)``. `body` runs once.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) throws -> M {
    try change(M.self) { try $0.update(id, body) }
  }

  /// Deletes a model; see ``ModelStore/delete(_:)``.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) throws -> Bool {
    try change(M.self) { try $0.delete(id) }
  }

  /// Reads a model; see ``ModelStore/lookup(_:)``.
  public func lookup<M: Model>(_ id: ModelID<M>) throws -> M? {
    try state.withLock { state in
      try state.register(M.self)
      return try id.isAssigned ? state.model(id) : nil
    }
  }

  /// Asks for models; see ``ModelStore/list(_:)``.
  public func list<M: Model>(_ listing: Listing<M>) throws -> [M] {
    try state.withLock { state in
      try state.register(M.self)
      return try state.list(listing)
    }
  }

  /// Waits for changes; see ``ModelStore/observe(_:_:)``.
  public func observe<M: Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M> {
    let (stream, continuation) = AsyncStream.makeStream(of: [MemoryState.Change].self)
    let (number, binding) = try state.withLock { state in
      try state.register(type)
      let key = try id.map { try M.schema.core.treeKey(of: $0) }
      let number = state.add(.init(collection: M.schema.core.path, key: key, to: continuation))
      return (number, try state.binding(M.schema.core))
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.removeObserver(number) }
    }
    return ModelChanges {
      var iterator = stream.makeAsyncIterator()
      return try await iterator.next()?.compactMap { change in
        ModelChange(
          from: try change.old.map { try M.schema.decode($0, change.key, binding) },
          to: try change.new.map { try M.schema.decode($0, change.key, binding) })
      }
    }
  }

  /// How many observers there are.
  var observerCount: Int { state.withLock { $0.observerCount } }

  /// Makes a change that is told to observers, or none at all.
  private func change<M: Model, R>(
    _ type: M.Type, _ body: (inout MemoryState) throws -> R
  ) throws -> R {
    try state.withLock { state in
      try state.register(type)
      do {
        let result = try body(&state)
        state.publish()
        return result
      } catch {
        state.revert()
        throw error
      }
    }
  }
}

extension Schema {
  /// The model that a record is.
  func decode(_ record: [UInt8], _ key: Key, _ binding: Binding) throws -> M {
    try record.lend { record in
      try key.stored.lend { try decode(record, key: $0, binding) }
    }
  }
}
