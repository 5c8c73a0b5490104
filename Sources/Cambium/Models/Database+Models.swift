// Opening a database for models, one that lives in memory, and writing single models.

import FoundationEssentials
import LMDB

extension Database {
  /// Opens a database for some models: what their schemas declare is declared where it is new.
  ///
  ///     let database = try Database(at: "flights.cambium", for: Airline.self, Flight.self)
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - options: How.
  ///   - models: The types. A schema may add properties, indexes and views; what would change or
  ///     drop what is stored is refused.
  /// - Throws: As ``init(at:options:progress:)``; ``DatabaseError/misuse(reason:)`` for a model
  /// that
  ///   cannot be stored; ``DatabaseError/unsupported(path:reason:)`` where a newer app has declared
  ///   a model, or the type of a property would change.
  /// - Complexity: as opening; a new index over *n* records takes O(*n* log *n*).
  public convenience init(
    at path: String, options: Options = Options(), for models: any Model.Type...
  ) throws {
    try self.init(at: path, options: options)
    do { try declare(models) } catch {
      try? close()
      throw error
    }
  }

  /// Declares models in a database that is open.
  ///
  /// - Parameter models: The types.
  /// - Throws: As ``init(at:options:for:)``.
  public func register(_ models: any Model.Type...) throws { try declare(models) }

  /// A database that goes when it is closed: in memory where the system has a place for that, else
  /// in a temporary directory.
  ///
  /// - Parameters:
  ///   - options: How.
  ///   - models: The types that it is for.
  /// - Returns: The database, which is empty.
  /// - Throws: As ``init(at:options:for:)``.
  public static func inMemory(
    options: Options = Options(), for models: any Model.Type...
  ) throws -> Database {
    var options = options
    options.isTemporary = true
    let name = "cambium-\(UUID().uuidString).cambium"
    let place =
      Files.isDirectory("/dev/shm") && Files.isWritable("/dev/shm")
      ? "/dev/shm/\(name)" : FileManager.default.temporaryDirectory.appending(path: name).path
    let database = try Database(at: place, options: options)
    do { try database.declare(models) } catch {
      try? database.close()
      throw error
    }
    return database
  }

  private func declare(_ models: [any Model.Type]) throws {
    let cores = models.map { Database.core(of: $0) }
    for core in cores {
      try core.check()
      try core.checkCases()
    }
    let present = try read { snapshot in
      try cores.map { try snapshot.definition(of: $0.path) }
    }
    var missing: [(SchemaCore, CollectionDefinition)] = []
    for (core, present) in zip(cores, present) {
      let wanted = try core.definition.extending(present, core, at: path)
      if wanted != present { missing.append((core, wanted)) }
    }
    if missing.isEmpty || store.isReadOnly { return }
    try write { tx in
      for (core, wanted) in missing { try tx.declare(core.path, wanted) }
    }
  }

  private static func core<M: Model>(of type: M.Type) -> SchemaCore { type.schema.core }

  // MARK: Single models

  /// Inserts a model in a transaction of its own; see `insert(_:)`.
  @discardableResult
  public func insert<M: Model>(_ model: M) throws -> ModelID<M> {
    try write { try $0.insert(model) }
  }

  /// Inserts or changes a model in a transaction of its own; see ``Transaction/upsert(_:)``.
  @discardableResult
  public func upsert<M: Model>(_ model: M) throws -> Upsert { try write { try $0.upsert(model) } }

  /// Changes a model in a transaction of its own; see `update(_:_:)`.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: (inout M) throws -> Void
  ) throws -> Update<M> { try write { try $0.update(id, body) } }

  /// Deletes a model in a transaction of its own; see `delete(_:)`.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) throws -> Bool { try write { try $0.delete(id) } }
}

extension CollectionDefinition {
  /// The declaration with what an older one has besides: properties that this app does not know
  /// stay declared, since their data stays.
  fileprivate func extending(
    _ old: CollectionDefinition?, _ core: SchemaCore, at path: String
  ) throws -> CollectionDefinition {
    guard let old else { return self }
    func refuse(_ reason: String) -> DatabaseError {
      .unsupported(path: path, reason: "the collection \(core.path): \(reason)")
    }
    if old.version > version {
      throw refuse("a newer app has declared it (version \(old.version), not \(version))")
    }
    if let keys, let oldKeys = old.keys, keys != oldKeys {
      throw refuse("its keys are of the kind \(oldKeys.rawValue), not \(keys.rawValue)")
    }
    var merged = self
    for property in old.properties {
      guard let own = self[property.name] else {
        // Nobody here can fill it in.
        var kept = property
        kept.isRequired = false
        merged.properties.append(kept)
        continue
      }
      let info = core.storedProperties.first { $0.name == own.name }
      let isConverted = info?.formerNames.contains { $0.name == own.name } ?? false
      if own.type != property.type, own.type != .any, !isConverted {
        throw refuse("the property \(own.name) is declared with another type")
      }
    }
    return merged
  }
}
