// Migrating a model's collection: the untyped rewriting of Engine/Writing/Migrating.swift, with the
// schema's steps as what is done to each record.

/// The work that a migration has to do; see ``Database/planMigration(of:)``.
public struct MigrationPlan: Hashable, Sendable {
  /// The collection.
  public let collection: NodePath
  /// The steps that are to be done, in order; empty where there is nothing to do.
  public let steps: [String]
  /// The steps of the plan that must be done before the model can be used.
  public let blocking: [String]
  /// The number of records.
  public let records: Int
  /// The number of records that an unfinished migration has done.
  public let done: Int
  /// The declared properties that the model does not have. Values under these names stay in the
  /// records, unless the schema says ``Removed``.
  public let unknownProperties: [String]
}

extension Database {
  /// Returns the plan of what `migrate` would do.
  ///
  /// - Parameter type: The model whose records are migrated.
  /// - Returns: The plan.
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` where a newer app has declared the model
  ///   or the schema does not say how a property is converted, ``DatabaseError/misuse(reason:)``
  ///   for a model that cannot be stored.
  /// - Complexity: nothing but the declaration is read.
  public func planMigration<M: Model>(of type: M.Type) throws -> MigrationPlan {
    let core = M.schema.core.declaring
    try core.check()
    let snapshot = try snapshot()
    let redeclaring = try Redeclaring(core, in: snapshot, at: path)
    _ = try redeclaring.finalDeclaration()
    let removed = core.parts.flatMap(\.evolution.removed)
    let names = Set(core.storedProperties.map(\.name) + removed)
    let unfinished = redeclaring.present?.migration
    return MigrationPlan(
      collection: core.path, steps: (unfinished?.steps ?? []) + redeclaring.rest,
      blocking: redeclaring.blocking, records: try snapshot[core.path].childCount,
      done: unfinished?.done ?? 0,
      unknownProperties: (redeclaring.present?.properties ?? []).map(\.name)
        .filter { !names.contains($0) })
  }

  /// Makes all records of a model's collection be of the form that the model has now, and declares
  /// it: with every ``Migration`` of the schema that was not run yet, every former name and type
  /// that a ``Property`` still reads, and without what is ``Removed``.
  ///
  ///     try database.migrate(Flight.self) { print($0.done, "of", $0.total ?? 0); return true }
  ///
  /// It works in batches, each a transaction of its own that also stores how far it is: a migration
  /// that an error, `progress` or a crash has interrupted continues there with the next call.
  /// Others read and write meanwhile; this model can be used again at the end. A migration that an
  /// older app has left unfinished is completed first, and then the new steps are run.
  ///
  /// The app's rules are checked for each record that changes; ``LifecycleModel`` is not called.
  /// Models that share a collection are migrated together, whichever of them is named.
  ///
  /// - Parameters:
  ///   - type: The model whose records are migrated.
  ///   - batch: The largest number of records in a transaction.
  ///   - metadata: Stored with each transaction.
  ///   - actor: Who migrates; stored in the metadata as `actor`.
  ///   - progress: Called after each batch with the number of records that are done; false stops.
  /// - Returns: The number of records that were read; zero where there was nothing to do, or where
  ///   another process has finished the migration meanwhile.
  /// - Throws: ``MigrationError``, which names the record, the step and the cause; what the
  ///   finished records break of the new declaration, as ``DatabaseError/invalid(_:)`` or
  ///   ``DatabaseError/notUnique(_:index:takenBy:)``; `CancellationError`; otherwise as
  ///   ``planMigration(of:)``. The batches before are stored, and nothing of the last one.
  /// - Complexity: O(records log records): each that changes is written as by an update, a batch at
  ///   a time; the new declaration looks at all of them while others wait to write.
  @discardableResult
  public func migrate<M: Model>(
    _ type: M.Type, batch: Int = 1000, metadata: [String: String] = [:], actor: String? = nil,
    progress: ProgressHandler? = nil
  ) throws -> Int {
    let metadata = metadata.signed(by: actor)
    let schema = M.schema
    if let union = schema.core.sharing.union {
      return try migrate(union, batch: batch, metadata: metadata, progress: progress)
    }
    try schema.core.check()
    try schema.core.checkCases()
    var count = 0
    while true {
      let redeclaring = try Redeclaring(schema.core, in: try snapshot(), at: path)
      _ = try redeclaring.finalDeclaration()
      let unfinished = redeclaring.present?.migration?.steps ?? []
      let steps = unfinished.isEmpty ? redeclaring.pending : unfinished
      if steps.isEmpty { break }
      let own = schema.core.ownNames(of: steps)
      let rest = redeclaring.pending.filter { !own.contains($0) }
      let looked = try migrate(
        CollectionMigration(
          schema.core.path, steps: steps, applied: redeclaring.applied(steps),
          target: { try redeclaring.over($0).declaration(before: rest) },
          rewrite: { record, tx in
            let steps = MigrationSteps(names: own, rest: rest)
            try schema.migrate(&record, steps, redeclaring.changes(in: own), tx)
          }),
        batch: batch, metadata: metadata, progress: progress)
      count = max(count, looked)
    }
    try declare([type], metadata: metadata)
    return count
  }

  /// Migrates a model's collection without blocking the caller's thread; cancelling the task stops
  /// after the batch that is under way.
  ///
  /// - Parameters:
  ///   - type: The model whose records are migrated.
  ///   - batch: The largest number of records in a transaction.
  ///   - metadata: Stored with each transaction.
  ///   - actor: Who migrates; stored in the metadata as `actor`.
  ///   - progress: As in the synchronous `migrate`, on another thread.
  /// - Returns: As the synchronous `migrate`.
  /// - Throws: As the synchronous `migrate`.
  @discardableResult
  public func migrate<M: Model>(
    _ type: M.Type, batch: Int = 1000, metadata: [String: String] = [:], actor: String? = nil,
    progress: ProgressHandler? = nil
  ) async throws -> Int {
    try await inBackground(progress) {
      try self.migrate(type, batch: batch, metadata: metadata, actor: actor, progress: $0)
    }
  }
}

extension ModelSchema {
  /// Makes a record of an older form one of this one, as far as some steps go; what the rest of
  /// them are about stays as it is, and the app's rules are not asked before they are done.
  fileprivate func migrate(
    _ record: inout DynamicRecord, _ steps: MigrationSteps, _ changes: [ChangedDefaults.Change],
    _ tx: borrowing Database.Transaction
  ) throws {
    let old = record
    guard var model = try older(old, steps, changes, tx), try tx[old.path].exists else { return }
    try attempting(old, steps.text) {
      guard try core.path(of: model.id) == old.path else {
        throw DatabaseError.misuse(reason: "a step has changed the record's id")
      }
      let settled = Set(changes.map(\.property))
      write(model, into: &record, whole: settled)
      for name in names(in: steps.rest, of: model) { record[name] = old[name] }
      if record == old || !steps.rest.isEmpty { return }
      try validate(&model)
      write(model, into: &record, whole: settled)
    }
  }

  /// The model that a record of an older form is, with the schema's own steps done; nil where the
  /// record stays as it is, or has gone.
  func older(
    _ old: DynamicRecord, _ names: MigrationSteps, _ changes: [ChangedDefaults.Change],
    _ tx: borrowing Database.Transaction
  ) throws -> M? {
    let read = try attempting(old, names.text) { () throws -> M? in
      if let casesMigration { return try casesMigration.read(old, names, tx) }
      return try core.read(
        changes.reduce(old) { $1.settled($0) }, into: changes.isEmpty ? template : M(),
        steps: names.names + names.rest)
    }
    guard var model = read else { return nil }
    for step in steps where names.names.contains(step.info.name) {
      do { try step.body(old, &model, tx) } catch {
        throw MigrationError(path: old.path, step: step.info.name, cause: error)
      }
    }
    return model
  }

  private func write(_ model: M, into record: inout DynamicRecord, whole: Set<String>) {
    guard let casesMigration else { return core.write(model, into: &record, whole: whole) }
    casesMigration.write(model, &record)
    for name in core.evolution.removed { record[name] = nil }
  }

  /// The names of the properties that some steps are about in the record of a model.
  private func names(in steps: [String], of model: M) -> Set<String> {
    core.names(in: steps).union(casesMigration?.part(model)?.names(in: steps) ?? [])
  }

  private func attempting<R>(
    _ record: DynamicRecord, _ step: String, _ body: () throws -> R
  ) throws -> R {
    do { return try body() } catch let error as MigrationError { throw error } catch {
      throw MigrationError(path: record.path, step: step, cause: error)
    }
  }
}
