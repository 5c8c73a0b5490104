// Opening a database for models, and one that lives in memory.

import FoundationEssentials
import LMDB
import Synchronization

extension Database {
  /// Opens a database for some models: what their schemas declare is declared where it is new.
  ///
  ///     let database = try Database(at: "flights.cambium", for: Airline.self, Flight.self)
  ///
  /// - Parameters:
  ///   - path: The database's directory.
  ///   - options: The options to open it with.
  ///   - models: The types to declare. A schema may add properties, indexes and views; what would
  ///     change or drop what is stored is refused.
  ///   - migrating: Runs the migrations that are not done yet, and is called with their progress;
  ///     without it they are left to `migrate`.
  ///   - progress: Called about ten times a second with the progress of opening, and of building
  ///     indexes and views that are new; false stops.
  /// - Throws: As ``init(at:options:progress:)``; ``DatabaseError/misuse(reason:)`` for a model
  ///   that cannot be stored; ``DatabaseError/unsupported(path:reason:)`` where a newer app has
  ///   declared a model, or the type of a property would change;
  ///   ``DatabaseError/needsMigration(_:steps:)`` where a ``Migration`` is not done yet;
  ///   ``DatabaseError/invalid(_:)`` where records break a rule that is new.
  /// - Complexity: as opening; a new index over *n* records takes O(*n* log *n*), while others
  ///   write: see `declare`.
  public convenience init(
    at path: String, options: Options = Options(), for models: any Model.Type...,
    migrating: ProgressHandler? = nil, progress: ProgressHandler? = nil
  ) throws {
    try self.init(
      at: path, options: options, models: models, migrating: migrating, progress: progress)
  }

  convenience init(
    at path: String, options: Options, models: [any Model.Type], migrating: ProgressHandler?,
    progress: ProgressHandler?
  ) throws {
    try self.init(at: path, options: options, progress: progress)
    do {
      try SchemaCore.checkClaims(models.map { Database.core(of: $0) })
      if let migrating, !directory.isReadOnly {
        for model in models { try migrate(model, progress: migrating) }
      }
      try declare(models, progress)
    } catch {
      try? close()
      throw error
    }
  }

  /// Opens a database for models without blocking the caller's thread; cancelling the task cancels
  /// a rebuild, a migration and the declaration of models.
  ///
  ///     let database = try await Database.open(at: "flights.cambium", for: Flight.self)
  ///
  /// - Parameters:
  ///   - path: The database's directory.
  ///   - options: The options to open it with.
  ///   - model: The first of the types that it is opened for; see
  ///     ``init(at:options:for:migrating:progress:)``.
  ///   - models: The other types.
  ///   - migrating: As for that initializer, on another thread.
  ///   - progress: As for that initializer, on another thread.
  /// - Returns: The database.
  /// - Throws: As ``init(at:options:for:migrating:progress:)``.
  public static func open(
    at path: String, options: Options = Options(), for model: any Model.Type,
    _ models: any Model.Type..., migrating: ProgressHandler? = nil,
    progress: ProgressHandler? = nil
  ) async throws -> Database {
    let queue = options.background.makeQueue("cambium.open")
    return try await BlockingWork.run(on: queue) { isCancelled in
      let told: ProgressHandler = { !isCancelled() && (progress?($0) ?? true) }
      let migrated: ProgressHandler = { !isCancelled() && (migrating?($0) ?? true) }
      return try Database(
        at: path, options: options, models: [model] + models,
        migrating: migrating == nil ? nil : migrated, progress: told)
    }
  }

  /// Declares models in a database that is open.
  ///
  /// - Parameters:
  ///   - models: The types to declare.
  ///   - metadata: Stored with the transactions that declare them.
  ///   - actor: Who declares them; stored in the metadata as `actor`.
  /// - Throws: As ``init(at:options:for:migrating:progress:)``.
  public func register(
    _ models: any Model.Type..., metadata: [String: String] = [:], actor: String? = nil
  ) throws {
    try declare(models, metadata: metadata.signed(by: actor))
  }

  /// Declares models in a database that is open, without blocking the caller's thread; cancelling
  /// the task stops it between two steps.
  ///
  /// - Parameters:
  ///   - models: The types to declare.
  ///   - metadata: Stored with the transactions that declare them.
  ///   - actor: Who declares them; stored in the metadata as `actor`.
  /// - Throws: As ``init(at:options:for:migrating:progress:)``; `CancellationError`.
  public func register(
    _ models: any Model.Type..., metadata: [String: String] = [:], actor: String? = nil
  ) async throws {
    try await inBackground(nil) { progress in
      try self.declare(models, progress, metadata: metadata.signed(by: actor))
    }
  }

  /// A database that goes when it is closed, or with its process, killed or not: in memory where
  /// the system has a place for that, else in a temporary directory. Only its owner can open its
  /// files, whose names are gone as soon as this process has them open.
  ///
  /// - Parameters:
  ///   - options: The options to open it with.
  ///   - models: The types that it is for.
  /// - Returns: The database, which is empty.
  /// - Throws: As ``init(at:options:for:migrating:progress:)``.
  public static func inMemory(
    options: Options = Options(), for models: any Model.Type...
  ) throws -> Database {
    var options = options
    let container = try MemoryPlace.create()
    options.container = container
    options.durability = .memory
    options.isPrivate = true
    // There is nothing to recover after a crash.
    options.checkpointGrowth = nil
    let database: Database
    do { database = try Database(at: "\(container.path)/data", options: options) } catch {
      try? Files.removeDirectory(container.path)
      throw error
    }
    do { try database.declare(models) } catch {
      try? database.close()
      throw error
    }
    return database
  }

  /// Declares models where what their schemas say is not declared yet.
  func declare(
    _ models: [any Model.Type], _ progress: ProgressHandler? = nil, metadata: [String: String] = [:]
  ) throws {
    let named = models.map { Database.core(of: $0) }
    for core in named {
      try core.check()
      try core.checkCases()
    }
    try SchemaCore.checkClaims(named)
    let cores = named.map(\.declaring)
    for core in named {
      if let guardian = core.guardian {
        directory.guards.withLock { $0.add(guardian, of: core.path) }
      }
    }
    let missing = try read { snapshot in
      try cores.filter { core in
        let redeclaring = try Redeclaring(core, in: snapshot, at: path)
        return try redeclaring.declaration() != redeclaring.present
      }
    }
    if missing.isEmpty || directory.isReadOnly { return }
    let large = try missing.filter { try isLarge($0.path) }
    for core in large {
      try advising(core) {
        try declare(core.path, progress, metadata: metadata) { snapshot, sequence in
          try Redeclaring(core, in: snapshot, at: self.path).declaration(by: sequence)
        }
      }
    }
    try write(metadata: metadata) { tx in
      for core in missing {
        // Each is compared again, since others may have written in between.
        let snapshot = try tx.readingSnapshot()
        let wanted = try Redeclaring(core, in: snapshot, at: path).declaration(by: tx.sequence)
        try advising(core) { try tx.declare(core.path, wanted) }
      }
    }
  }

  /// Says what to do about records that break a rule of a model.
  private func advising(_ core: SchemaCore, _ body: () throws -> Void) throws {
    do { try body() } catch DatabaseError.invalid(let violations) {
      throw Redeclaring.advising(violations, core)
    }
  }

  private static func core<M: Model>(of type: M.Type) -> SchemaCore { type.schema.core }
}
