// Rewriting all records of a collection, for `migrate` of an app and of the command line:
//
//     declaration ──▶ blend of old and new ──▶ batch, position ──▶ … ──▶ new declaration
//     as it was       under `migration`        one transaction each      checks every record
//
// The position is stored in the declaration, with the records of its batch: the next run continues
// after it, be it after a crash, an error or a stop. Between batches others write. While there are
// records of both forms, the declaration demands only what both have.

import LMDB

/// The rewriting of every record of a collection, in named steps.
package struct CollectionMigration {
  let path: NodePath
  /// The names of the steps; a migration that is under way continues only with the same ones.
  let steps: [String]
  /// The steps as they are noted in the end, with the last transaction.
  let applied: [AppliedStep]
  /// The declaration that it leads to, from the present one, or nil for none. The steps need not be
  /// in it.
  let target: (_ present: CollectionDefinition?) throws -> CollectionDefinition?
  /// True if nobody can state the target again, so that it is kept with the position.
  let keepsTarget: Bool
  /// Makes a record of the new form.
  let rewrite: (_ record: inout DynamicRecord, _ tx: borrowing Database.Transaction) throws -> Void

  package init(
    _ path: NodePath, steps: [String], applied: [AppliedStep], keepsTarget: Bool = false,
    target: @escaping (_ present: CollectionDefinition?) throws -> CollectionDefinition?,
    rewrite:
      @escaping (_ record: inout DynamicRecord, _ tx: borrowing Database.Transaction) throws -> Void
  ) {
    self.path = path
    self.steps = steps
    self.applied = applied
    self.keepsTarget = keepsTarget
    self.target = target
    self.rewrite = rewrite
  }
}

extension Database {
  /// Migrates a collection, or continues a migration that was interrupted.
  ///
  /// - Parameters:
  ///   - migration: The steps, and the declaration that they lead to.
  ///   - batch: The largest number of records in a transaction.
  ///   - metadata: Stored with each transaction.
  ///   - progress: Called after each batch; if it returns false, the migration stops with a
  ///     `CancellationError`.
  /// - Returns: The number of records that were read, those of earlier runs included; zero where
  ///   another process has finished the migration.
  /// - Throws: Any error that rewriting a record throws; ``DatabaseError``. The batches before are
  ///   stored.
  package func migrate(
    _ migration: CollectionMigration, batch: Int, metadata: [String: String] = [:],
    progress: ProgressHandler?
  ) throws -> Int {
    var metadata = metadata
    metadata["migration"] = "\(migration.path): \(migration.steps.joined(separator: "; "))"
    var state = try write(metadata: metadata) { try migration.begin($0) }
    while !state.isFinished {
      let goesOn =
        progress?(
          WorkProgress(
            phase: "migrate", done: UInt64(clamping: state.done),
            total: UInt64(clamping: max(state.done, state.total)))
        ) ?? true
      if !goesOn { throw CancellationError() }
      state = try write(metadata: metadata) { try migration.goOn($0, upTo: max(1, batch)) }
    }
    _ = progress?(
      WorkProgress(
        phase: "migrate", done: UInt64(clamping: state.done), total: UInt64(clamping: state.done)))
    return state.done
  }
}

extension CollectionMigration {
  /// The progress of the migration.
  fileprivate struct State {
    var done = 0
    var total = 0
    var isFinished = false
  }

  /// After so many bytes of operations a batch ends, however few records it has.
  private static let batchBytesMax = 8 << 20

  // MARK: The first transaction

  fileprivate func begin(_ tx: borrowing Database.Transaction) throws -> State {
    let (present, total) = (try tx.definition(of: path), try tx[path].childCount)
    if let unfinished = present?.migration {
      guard unfinished.steps == steps else { throw isOther(unfinished) }
      return State(done: unfinished.done, total: total)
    }
    if total == 0 { return try finish(tx, done: 0) }
    let target = try target(present)
    var blend = (present ?? CollectionDefinition()).blended(with: target)
    let kept = keepsTarget ? try target?.value ?? .null : nil
    blend.migration = UnfinishedMigration(steps, target: kept)
    // Every record is checked against the target, whose names must have their numbers.
    try target.map { try tx.running.defineNames(of: $0) }
    try tx.declare(path, blend)
    return State(total: total)
  }

  private func isOther(_ unfinished: UnfinishedMigration) -> DatabaseError {
    .misuse(
      reason: """
        another migration of \(path) is under way: \(unfinished.steps.quoted), after \
        \(unfinished.done) records; finish it first
        """)
  }

  // MARK: A batch

  fileprivate func goOn(_ tx: borrowing Database.Transaction, upTo count: Int) throws -> State {
    guard var blend = try tx.definition(of: path), var position = blend.migration,
      position.steps == steps
    else { return try finishedByOthers(tx) }
    let target = try self.target(position, blend)
    let plan = try target.map { try tx.running.plan(path, $0) }
    var children = tx[path].children
    let last = try position.last.map { try Key($0) }
    if let last { children = children.from(last) }
    var cursor = try children.makeCursor()
    var seen = 0
    while seen < count, tx.running.operations.bytesCount < CollectionMigration.batchBytesMax {
      guard let node = try cursor.next() else {
        return try finish(tx, done: position.done)
      }
      guard let key = node.key, key != last else { continue }
      if let record = try node.record { try rewrite(record, tx, plan) }
      seen += 1
      position.done += 1
      position.last = key.description
    }
    blend.migration = position
    try tx.declare(path, blend)
    return State(done: position.done, total: try tx[path].childCount)
  }

  private func finishedByOthers(_ tx: borrowing Database.Transaction) throws -> State {
    let applied = Set(try tx.definition(of: path)?.steps.map(\.name) ?? [])
    if applied.isSuperset(of: steps) { return State(isFinished: true) }
    throw DatabaseError.misuse(
      reason: "the migration of \(path) was broken off: its declaration has changed in between")
  }

  private func target(
    _ position: UnfinishedMigration, _ blend: CollectionDefinition
  ) throws -> CollectionDefinition? {
    guard keepsTarget, let kept = position.target else { return try target(blend) }
    return kept == .null ? nil : try CollectionDefinition(kept)
  }

  private func rewrite(
    _ old: DynamicRecord, _ tx: borrowing Database.Transaction, _ plan: CollectionPlan?
  ) throws {
    var new = old
    try rewrite(&new, tx)
    // A step may have removed it.
    guard try tx[old.path].exists else { return }
    // The app's code knows models of the new form alone.
    try tx.running.asking(.none) { _ = try tx.upsert(new) }
    guard let plan else { return }
    let catalog = tx.running.catalog
    _ = try tx[old.path].lookUp { header, version in
      guard header.kind == .record, let key = old.key else { return }
      try key.stored.lend {
        try plan.check(version.extracting(droppingFirst: header.contentOffset), key: $0, catalog)
      }
    }
  }

  // MARK: The last transaction

  /// Declares what all records are now; that looks at every one of them once more.
  private func finish(_ tx: borrowing Database.Transaction, done: Int) throws -> State {
    let present = try tx.definition(of: path)
    var target: CollectionDefinition?
    if let present, let position = present.migration {
      target = try self.target(position, present)
    } else {
      target = try self.target(present)
    }
    target?.migration = nil
    target?.steps = present?.steps ?? []
    // One that was done before counts from now on.
    target?.steps.removeAll { steps.contains($0.name) }
    for var step in applied {
      step.sequence = tx.sequence
      target?.steps.append(step)
    }
    try tx.declare(path, target)
    return State(done: done, total: done, isFinished: true)
  }
}

extension RunningTransaction {
  /// Resolves a declaration that is not declared, to hold records against it.
  fileprivate func plan(_ path: NodePath, _ definition: CollectionDefinition) throws
    -> CollectionPlan
  {
    try defineNames(of: definition)
    return try CollectionPlan(drafting: path, definition, catalog)
  }
}

extension CollectionDefinition {
  /// The declaration that holds while some records are of this form, and some already of another.
  fileprivate func blended(with target: CollectionDefinition?) -> CollectionDefinition {
    let target = target ?? CollectionDefinition()
    var blend = target
    blend.properties = target.properties.map { $0.blended(with: self[$0.name]) }
    for property in properties where target[property.name] == nil {
      blend.properties.append(property.blended(with: property))
    }
    // Uniqueness may fail in between; it is asked in the end.
    blend.indexes = indexes.filter { target.indexes.contains($0) && !$0.isUnique }
    blend.views = views.filter { target.views.contains($0) }
    blend.steps = steps
    return blend
  }
}

extension PropertyDefinition {
  /// The definition that suits both forms: it demands nothing that only the new one must meet.
  func blended(with old: PropertyDefinition?) -> PropertyDefinition {
    var blend = PropertyDefinition(name, old?.type == type ? type : .any)
    // The old meaning of absence counts until no record is without a value that had none.
    let source = old ?? self
    (blend.absence, blend.isNullable) = (source.absence, source.isNullable)
    blend.omitsAbsence =
      blend.absence == nil || absence == blend.absence && omitsAbsence && source.omitsAbsence
    if old?.type == type { blend.deleteRule = deleteRule }
    return blend
  }
}
