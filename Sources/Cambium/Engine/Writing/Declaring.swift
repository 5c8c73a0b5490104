// Declaring a collection that has many records, while others write:
//
//     records checked by the rules ──▶ declared, but new indexes ──▶ built ──▶ entries checked ──▶
//     outside any transaction          are neither unique nor        in steps  for uniqueness
//                                      complete yet
//
//     ──▶ declared as requested
//
// Anything that has changed since an outside check is checked again within the transaction that
// follows, so that no violation is missed.

import LMDB

extension Database {
  /// Declares the form of a collection's records, in transactions of its own, while others write.
  ///
  /// A declaration binds every writer from then on. New indexes and views of a collection with more
  /// than 2,000 records are built in steps of about 2 ms, and the entries of those that are no
  /// longer declared are removed the same way. Others write in between; queries use those that are
  /// complete. If the process ends in between, building continues when the database is opened
  /// again, and uniqueness has to be declared once more.
  ///
  /// - Parameters:
  ///   - path: The node whose children are the records.
  ///   - definition: The new declaration; nil removes the present one, and leaves the records.
  ///   - metadata: Texts to store with the transactions, such as the reason.
  ///   - actor: The person or program that declares it; stored in the metadata as `actor`.
  ///   - progress: Called about ten times a second, on this thread; false cancels, with the same
  ///     effect as the end of the process.
  /// - Throws: As ``Database/Transaction/declare(_:_:)``, with the previous declaration in
  ///   effect, unless records written meanwhile obey only the new one, which then stays without its
  ///   uniqueness; `CancellationError` if `progress` returned false.
  /// - Complexity: 2 to 5 µs for each record and each new index, in which readers do not wait, and
  ///   writers for a step at most.
  public func declare(
    _ path: NodePath, _ definition: CollectionDefinition?, metadata: [String: String] = [:],
    actor: String? = nil, progress: ProgressHandler? = nil
  ) throws {
    try declare(path, progress, metadata: metadata.signed(by: actor)) { _, _ in definition }
  }

  /// Declares the form of a collection's records, without blocking the caller's thread; cancelling
  /// the task stops between two steps.
  ///
  /// - Parameters:
  ///   - path: The node whose children are the records.
  ///   - definition: The new declaration; nil removes the present one.
  ///   - metadata: Texts to store with the transactions, such as the reason.
  ///   - actor: The person or program that declares it; stored in the metadata as `actor`.
  ///   - progress: As in the synchronous `declare`, on another thread.
  /// - Throws: As the synchronous `declare`.
  public func declare(
    _ path: NodePath, _ definition: CollectionDefinition?, metadata: [String: String] = [:],
    actor: String? = nil, progress: ProgressHandler? = nil
  ) async throws {
    try await inBackground(progress) {
      try self.declare(path, definition, metadata: metadata, actor: actor, progress: $0)
    }
  }

  /// True if a collection has so many records that no writer should wait for all of them.
  func isLarge(_ path: NodePath) throws -> Bool {
    try read { try $0[path].childCount > directory.options.declaredAtOnce }
  }

  /// Declares the definition that a closure returns for a snapshot, and for the declaring
  /// transaction.
  package func declare(
    _ path: NodePath, _ progress: ProgressHandler?, metadata: [String: String] = [:],
    _ wanted: @escaping (Snapshot, SequenceNumber) throws -> CollectionDefinition?
  ) throws {
    var backoff = Backoff(attempts: Declaring.roundsMax)
    repeat {
      let declaring = Declaring(
        path: path, database: self, progress: progress, metadata: metadata, wanted: wanted)
      if try declaring.run() { return }
    } while backoff.pause()
    throw DatabaseError.busy(reason: "others declare \(path) anew again and again")
  }
}

/// Declares one collection.
private struct Declaring {
  /// The number of times that another declaration may intervene.
  static let roundsMax = 100

  let path: NodePath
  let database: Database
  let progress: ProgressHandler?
  let metadata: [String: String]
  let wanted: (Snapshot, SequenceNumber) throws -> CollectionDefinition?

  /// Declares, unless another declaration intervenes or indexes are still being built.
  ///
  /// - Returns: True if it is done; false to try again.
  func run() throws -> Bool {
    try database.jobs[IndexBuildJob.self].checkCaller()
    guard try database.isLarge(path), let (difference, moment) = try look() else {
      try database.write(metadata: metadata) { tx in
        try tx.declare(path, try wanted(try tx.readingSnapshot(), tx.sequence))
      }
      return true
    }
    guard let interim = try declareInterim(difference, moment) else { return false }
    try database.jobs[IndexBuildJob.self].finish(progress)
    return difference.unique.isEmpty ? true : try makeUnique(interim, difference.present, moment)
  }

  /// Checks the records against the rules.
  ///
  /// - Returns: The changes to make, and the moment; nil if nothing takes long.
  private func look() throws -> (Difference, SequenceNumber)? {
    let before = try database.snapshot()
    guard let difference = try difference(before), difference.needsSteps else { return nil }
    try difference.checkRecords(before) { try tell("checking \(path)", $0) }
    return (difference, before.sequence)
  }

  private func difference(_ snapshot: Snapshot) throws -> Difference? {
    try wanted(snapshot, .zero).map { try Difference($0, path, snapshot) }
  }

  /// Declares the part that requires no check of the entries.
  ///
  /// - Returns: The declaration, or nil if another one has intervened.
  private func declareInterim(
    _ difference: Difference, _ moment: SequenceNumber
  ) throws -> CollectionDefinition? {
    if difference.withoutUnique(difference.wanted) == difference.present {
      return difference.present
    }
    return try database.write(metadata: metadata) { tx in
      guard try tx.definition(of: path) == difference.present,
        let wanted = try wanted(try tx.readingSnapshot(), tx.sequence)
      else { return nil }
      let interim = difference.withoutUnique(wanted)
      try tx.running.declare(path, interim, checkedAt: moment)
      return interim
    }
  }

  /// Declares the rest, once the indexes are complete.
  private func makeUnique(
    _ interim: CollectionDefinition, _ present: CollectionDefinition?, _ moment: SequenceNumber
  ) throws -> Bool {
    do {
      let filled = try database.snapshot()
      guard let rest = try difference(filled), rest.present == interim, rest.isFull else {
        return false
      }
      try rest.checkUniqueness(filled) { try tell("looking for what is there twice", $0) }
      return try database.write(metadata: metadata) { tx in
        guard try tx.definition(of: path) == interim else { return false }
        let wanted = try wanted(try tx.readingSnapshot(), tx.sequence)
        try tx.running.declare(path, wanted, checkedAt: filled.sequence)
        return true
      }
    } catch DatabaseError.notUnique(let one, let index, takenBy: let other) {
      // If a record was written meanwhile that only the new rules allow, these stay.
      _ = try? database.write(metadata: metadata) { tx in
        guard try tx.definition(of: path) == interim else { return }
        try tx.running.declare(path, present, checkedAt: moment)
      }
      database.jobs.wake(database.jobs[IndexBuildJob.self])
      throw DatabaseError.notUnique(one, index: index, takenBy: other)
    }
  }

  private func tell(_ phase: String, _ done: UInt64) throws {
    guard done % 65_536 == 0 else { return }
    if progress?(WorkProgress(phase: phase, done: done, total: nil)) == false {
      throw CancellationError()
    }
  }
}

/// The changes that a declaration would make.
private struct Difference {
  let path: NodePath
  let present: CollectionDefinition?
  let wanted: CollectionDefinition
  /// The indexes that become unique.
  let unique: [IndexDefinition]
  /// True if some of the work takes long and can be deferred.
  let needsSteps: Bool
  /// True if the present indexes and views have all of their entries.
  let isFull: Bool
  private let draft: CollectionPlan
  private let catalog: Catalog

  init(_ wanted: CollectionDefinition, _ path: NodePath, _ snapshot: Snapshot) throws {
    var catalog = try snapshot.names
    try catalog.defineNames(of: wanted)
    let old = catalog.collections[path]
    let draft = try CollectionPlan(drafting: path, wanted, catalog)
    let isNew =
      draft.indexes.contains { old?.index(like: $0) == nil }
      || draft.views.contains { old?.view(like: $0) == nil }
    let unique = draft.indexes.filter { $0.isUnique && old?.index(like: $0)?.isUnique != true }
    let isFilling = old?.numbers.contains { catalog.collections.isFilling($0) } ?? false
    let hasNewRules = old.map { !$0.definition.hasSameRules(as: wanted) } ?? true
    // While another index replaces it, a unique one would not be unique: that is done at once.
    let keepsUnique = old?.indexes.allSatisfy { index in
      !index.isUnique || draft.index(like: index)?.isUnique == true
    }
    needsSteps =
      (isNew || isFilling || hasNewRules || !unique.isEmpty)
      && (unique.isEmpty || keepsUnique ?? true)
    isFull = !isFilling
    self.unique = unique.map(\.definition)
    self.path = path
    self.wanted = wanted
    self.draft = draft
    self.catalog = catalog
    present = old?.definition
  }

  /// A declaration in which nothing becomes unique.
  func withoutUnique(_ definition: CollectionDefinition) -> CollectionDefinition {
    var interim = definition
    for index in interim.indexes.indices where unique.contains(interim.indexes[index]) {
      interim.indexes[index].isUnique = false
    }
    return interim
  }

  /// Checks records against new rules.
  func checkRecords(_ snapshot: Snapshot, _ seen: (UInt64) throws -> Void) throws {
    if let present, present.hasSameRules(as: wanted) { return }
    var done: UInt64 = 0
    try snapshot.reader.forEachRecord(of: path) { key, record in
      try draft.check(record, key: key, catalog)
      done += 1
      try seen(done)
    }
  }

  /// Searches for records with the same values in an index that becomes unique.
  func checkUniqueness(_ snapshot: Snapshot, _ seen: (UInt64) throws -> Void) throws {
    guard let plan = catalog.collections[path] else { return }
    var done: UInt64 = 0
    for index in draft.indexes where unique.contains(index.definition) {
      guard let full = plan.index(like: index) else { continue }
      var check = UniquenessCheck(full, plan, try snapshot.reader)
      try check.checkAll {
        done += 1
        try seen(done)
      }
    }
  }
}

extension RunningTransaction {
  /// Declares a definition that was checked as of an earlier moment; new indexes are built later.
  fileprivate func declare(
    _ path: NodePath, _ definition: CollectionDefinition?, checkedAt moment: SequenceNumber
  ) throws {
    group.stateWriter.folds.fillsLater = true
    group.stateWriter.folds.unchecked = try group.keysChanged(in: path, after: moment)
    defer {
      group.stateWriter.folds.fillsLater = directory.options.buildsIndexesLater
      group.stateWriter.folds.unchecked = nil
    }
    try declare(path, definition)
  }
}

extension WriteGroup {
  private static let keysMax = 10_000

  /// The keys of a collection's records that were touched after a moment; nil if it may be any of
  /// them.
  fileprivate func keysChanged(in path: NodePath, after moment: SequenceNumber) throws -> Set<
    [UInt8]
  >? {
    var keys: Set<[UInt8]>? = []
    func add(_ operations: [UInt8]) throws {
      var reader = OperationReader(operations)
      while let operation = try reader.next() {
        Touched.forEach(in: operation, under: path) { touched in
          if let key = touched.path.relative(to: path)?.keys.first {
            keys?.insert(key.stored)
          } else if touched.isSubtree {
            keys = nil
          }
        }
      }
      if keys?.count ?? 0 > WriteGroup.keysMax { keys = nil }
    }
    var sequence = moment
    while sequence < committed, keys != nil {
      sequence = sequence.next
      guard let record = try recordIfKept(sequence) else { return nil }
      try add(record.operations)
    }
    for record in records { try add(record.operations) }
    return keys
  }

  /// A committed record, or nil if it was compacted.
  private func recordIfKept(_ sequence: SequenceNumber) throws -> TransactionRecord? {
    do { return try directory.log.read { try $0.record(sequence) } } catch DatabaseError.compacted {
      return nil
    }
  }
}
