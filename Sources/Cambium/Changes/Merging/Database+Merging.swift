// Merging a branch, as a new transaction.

/// The result of a merge.
public struct Merged: Hashable, Sendable {
  /// The transaction that holds what was taken over.
  public let sequence: SequenceNumber
  /// The newest transaction of the other database that is contained now.
  public let upTo: SequenceNumber
  /// Where both sides had changed the same, and one was chosen as asked; at most a hundred.
  public let conflicts: [MergeConflict]
}

/// A preview of a merge.
public struct MergePreview: Hashable, Sendable {
  /// The newest transaction that both databases have.
  public let commonPast: SequenceNumber
  /// The newest transaction of the other database that would be contained.
  public let upTo: SequenceNumber
  /// The changes that would be made here, in path order, with what delete rules and hooks do
  /// besides.
  public let changes: [Change]
  /// Where both sides have changed the same; at most a hundred.
  public let conflicts: [MergeConflict]
}

extension Database {
  /// Takes over the changes that another database has made since the common past, in one new
  /// transaction.
  ///
  ///     try database.branch(to: "trial.cambium")
  ///     let trial = try Database(at: "trial.cambium")
  ///     try trial.write { tx in try tx.update("users/ada", ["born": 1815]) }
  ///     try database.merge(trial, actor: "ada")
  ///
  /// It is done property by property: a place that only one side has changed since is taken from
  /// that side, and one that both have changed to the same is left. Where they differ, it is a
  /// conflict, and so is a node that one side has removed and the other has changed, also below. A
  /// node that was moved there is removed and made here. Rules, unique indexes and delete rules of
  /// this database hold, hooks run, and declarations are not merged: declare here first what
  /// records need.
  ///
  /// The transaction's metadata says what it took over, under `merges`. So the same branch can be
  /// merged again later, in either direction, and only what is new is looked at: nothing is decided
  /// twice.
  ///
  /// - Parameters:
  ///   - other: The database whose changes are taken over: a branch of this one, its origin, or
  ///     another branch of the same. It may be written meanwhile.
  ///   - under: Only this node and what is below it.
  ///   - onConflict: The resolution of conflicts: `skipConflicts` leaves what is here, `overwrite`
  ///     takes what is there.
  ///   - metadata: Stored with the new transaction: why, from where.
  ///   - actor: Who merges; stored in the metadata as `actor`.
  /// - Returns: The new transaction; nil where there is nothing to take over.
  /// - Throws: ``DatabaseError/mergeConflict(_:)`` with the conflicts;
  ///   ``DatabaseError/misuse(reason:)`` where the two share no past that is still there, or both
  ///   are one; otherwise as `write`. Nothing is stored then, except blobs.
  /// - Complexity: O(*k* log *n*) for *k* operations there since the last merge, with one durable
  ///   flush, and one read for each transaction since the common past on both sides; a subtree that
  ///   was removed on one side is compared whole.
  ///   All changes must fit into one transaction of 64 MiB: merge parts, with `under`, where they
  ///   do not.
  @discardableResult
  public func merge(
    _ other: Database, under: NodePath = .root, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Merged? {
    try merge(other, under, onConflict, metadata.signed(by: actor), expecting: nil)
  }

  /// Merges if a transaction is still the newest.
  package func merge(
    _ other: Database, _ under: NodePath, _ resolution: ConflictResolution,
    _ metadata: [String: String], expecting: SequenceNumber?
  ) throws -> Merged? {
    guard let plan = try mergePlan(other, under) else { return nil }
    try takeBlobs(plan)
    return try write(metadata: metadata, expecting: expecting) { tx in
      try Database.merge(plan, into: tx, resolution)
    }
  }

  /// Takes over the changes of another database without blocking the caller's thread; otherwise as
  /// the synchronous `merge`, and waiting as the async `write` does.
  ///
  /// - Parameters:
  ///   - other: The database whose changes are taken over.
  ///   - under: Only this node and what is below it.
  ///   - onConflict: The resolution of conflicts.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: Who merges; stored in the metadata as `actor`.
  /// - Returns: The new transaction; nil where there is nothing to take over.
  /// - Throws: As the synchronous `merge`, and as the async `write`.
  @discardableResult
  public func merge(
    _ other: Database, under: NodePath = .root, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Merged? {
    let queue = directory.options.background.makeQueue("cambium.merge")
    let plan = try await BlockingWork.run(on: queue) { _ in
      let plan = try self.mergePlan(other, under)
      if let plan { try self.takeBlobs(plan) }
      return plan
    }
    guard let plan else { return nil }
    return try await write(metadata: metadata.signed(by: actor)) { tx in
      try Database.merge(plan, into: tx, onConflict)
    }
  }

  /// Previews a merge: what it would change here, and its conflicts.
  ///
  ///     let preview = try database.mergePreview(trial)
  ///     for conflict in preview.conflicts { print(conflict.path, conflict.reason) }
  ///
  /// - Parameters:
  ///   - other: The database whose changes would be taken over.
  ///   - under: Only this node and what is below it.
  ///   - onConflict: The resolution for which the changes are shown; `refuse` shows them as
  ///     `overwrite` does.
  /// - Returns: The preview; nil where there is nothing to take over.
  /// - Throws: As `merge`, but for conflicts; also what rules of this database refuse. Nothing is
  ///   stored in any case.
  /// - Complexity: As `merge`, without the flush, and memory for the changes. It takes the writer's
  ///   turn.
  public func mergePreview(
    _ other: Database, under: NodePath = .root, onConflict: ConflictResolution = .refuse
  ) throws -> MergePreview? {
    guard let plan = try mergePlan(other, under) else { return nil }
    return try speculate { tx in
      tx.running.draft.assumesBlobs = true
      return try Database.conflicts(merging: plan, into: tx, onConflict)
    } reading: { after in
      MergePreview(
        commonPast: plan.past.last, upTo: plan.there.sequence, changes: try after.changes.fetch(),
        conflicts: after.result.listed)
    }
  }

  // MARK: Running

  private func mergePlan(_ other: Database, _ under: NodePath) throws -> MergePlan? {
    let plan = try translating {
      try MergePlan(of: other.directory, into: directory, under: under)
    }
    return plan.isEmpty ? nil : plan
  }

  private static func merge(
    _ plan: MergePlan, into tx: borrowing Database.Transaction, _ resolution: ConflictResolution
  ) throws -> Merged? {
    let running = tx.running
    let conflicts = try conflicts(merging: plan, into: tx, resolution)
    if conflicts.isRefused { throw DatabaseError.mergeConflict(conflicts.listed) }
    guard running.isRecorded else { return nil }
    running.draft.metadata[MergePlan.metadataName] = try plan.mark()
    return Merged(
      sequence: running.sequence, upTo: plan.there.sequence, conflicts: conflicts.listed)
  }

  private static func conflicts(
    merging plan: MergePlan, into tx: borrowing Database.Transaction,
    _ resolution: ConflictResolution
  ) throws -> MergeConflicts {
    let running = tx.running
    running.draft.restored.isDeferred = true
    defer { running.draft.restored.isDeferred = false }
    var merging = try translating { try Merging(running, plan, resolution) }
    try merging.run(tx)
    try translating { try RestoredReferences.settle(in: running) }
    return merging.conflicts
  }

  /// Stores the blobs that the other side's changes refer to.
  private func takeBlobs(_ plan: MergePlan) throws {
    try translating {
      var blobs: Set<Blob> = []
      try plan.stretch.forEachRecord { record in
        try BlobReferences.forEach(in: record) { blobs.insert($0) }
      }
      try take(blobs, from: try plan.there.snapshot())
    }
  }
}
