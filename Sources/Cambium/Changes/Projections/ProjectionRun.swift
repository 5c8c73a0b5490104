// Brings one projection up to date, in steps that each take the writer's turn for about 2 ms.
//
//     no table, another version, or one behind the horizon
//       -> take in what was there at the horizon: nothing, where the log is whole
//       -> fold commits
//       -> the new table takes the old one's place
//
// A step writes entries and position in one transaction of the state, so that a crash leaves both
// or none. Entries that a table no longer needs are removed in steps, too.

import LMDB

/// Folds for one projection.
final class ProjectionRun: @unchecked Sendable {
  // It is Sendable because the steps of a job never overlap.

  private let projection: any Projection
  private unowned let writer: Writer
  private var pace = StepPace()
  /// The nodes that were there at the start, as far as they are not taken in.
  private var start: DescendantCursor?
  private var startNumber: UInt32 = 0

  init(_ projection: any Projection, _ writer: Writer) {
    self.projection = projection
    self.writer = writer
  }

  private var directory: OpenDirectory { writer.directory }

  /// One step.
  ///
  /// - Returns: The position that it has come to, and true if it is up to date.
  /// - Throws: ``DatabaseError``, and what the projection throws; nothing of the step is stored.
  func step() throws -> (position: SequenceNumber, isDone: Bool) {
    do { return try writer.step("projection", &pace) { try run(until: $0) } } catch {
      // The nodes that were taken in are not stored.
      start = nil
      throw error
    }
  }

  private func run(
    until end: ContinuousClock.Instant
  ) throws -> (position: SequenceNumber, isDone: Bool) {
    let (state, horizon) = try directory.stateForStep()
    let tables = state.tables
    var transaction = try WriteTransaction(state.environment, behind: state.behind)
    let applied = try StateReader(access: transaction.access, tables: tables).head().applied
    var entry = try current(horizon, tables, &transaction)
    if entry.active.isStarting {
      transaction = try takeIn(&entry.active, tables, transaction, until: end)
    }
    if !entry.active.isStarting {
      transaction = try fold(&entry.active, upTo: applied, tables, transaction, until: end)
    }
    var isDone = !entry.active.isStarting && entry.active.position >= applied.rawValue
    if isDone, let coming = entry.coming {
      isDone = try clear(entry.serving.number, tables, transaction, until: end)
      if isDone { entry = ProjectionEntry(serving: coming) }
    }
    try transaction.put(ProjectionEntry.key(projection.name), entry.stored, tables)
    try transaction.commit()
    return (SequenceNumber(entry.active.position), isDone)
  }

  // MARK: Tables

  /// The entry, with a table for this version that can be continued.
  private func current(
    _ horizon: SequenceNumber, _ tables: StateTables, _ transaction: inout WriteTransaction
  ) throws -> ProjectionEntry {
    let found = try ProjectionEntry(projection.name, transaction.access, tables)
    let version = Int64(projection.version)
    if let found, found.serving.version > version || (found.coming?.version ?? version) > version {
      throw DatabaseError.misuse(
        reason: "the projection '\(projection.name)' is folded by a later version than \(version)")
    }
    if let found, found.active.version == version, canGoOn(found.active, horizon) { return found }
    let fresh = ProjectionEntry.Part(
      number: try nextNumber(tables, &transaction), version: version, position: horizon.rawValue,
      isStarting: horizon > .zero)
    start = nil
    guard var entry = found else { return ProjectionEntry(serving: fresh) }
    if let given = entry.coming { try clearAll(given.number, tables, &transaction) }
    entry.coming = fresh
    return entry
  }

  private func canGoOn(_ part: ProjectionEntry.Part, _ horizon: SequenceNumber) -> Bool {
    // A table that was still taking in the existing nodes when the process ended starts over.
    if part.isStarting { return start != nil && startNumber == part.number }
    return part.position >= horizon.rawValue
  }

  private func nextNumber(
    _ tables: StateTables, _ transaction: inout WriteTransaction
  ) throws -> UInt32 {
    let key = ProjectionEntry.key("")
    let stored = try key.lend { key in
      try transaction.access.get(tables.views, key) { try $0.load(UInt32.self, at: 0) }
    }
    let number = stored ?? ProjectionEntry.firstNumber
    let next = [UInt8](littleEndian: number + 1)
    try transaction.put(key, next, tables)
    return number
  }

  /// Takes entries out of a table.
  ///
  /// - Returns: True if none is left.
  private func clear(
    _ number: UInt32, _ tables: StateTables, _ transaction: borrowing WriteTransaction,
    until end: ContinuousClock.Instant
  ) throws -> Bool {
    let prefix = [UInt8](bigEndian: number)
    while let key = try transaction.access.firstKey(tables.views, prefix) {
      try key.lend { _ = try transaction.delete(tables.views, $0) }
      if ContinuousClock.now > end { return false }
    }
    return true
  }

  private func clearAll(
    _ number: UInt32, _ tables: StateTables, _ transaction: inout WriteTransaction
  ) throws {
    _ = try clear(number, tables, transaction, until: ContinuousClock.now + .seconds(3600))
  }

  // MARK: Folding

  /// Lends the table.
  private func lend(
    _ number: UInt32, _ tables: StateTables, _ transaction: consuming WriteTransaction,
    _ body: (ProjectionTable) throws -> Void
  ) throws -> WriteTransaction {
    let table = ProjectionTable(number, tables, transaction)
    do { try body(table) } catch {
      _ = try table.end()
      throw error
    }
    return try table.end()
  }

  /// Takes in what was there at the horizon.
  private func takeIn(
    _ part: inout ProjectionEntry.Part, _ tables: StateTables,
    _ transaction: consuming WriteTransaction, until end: ContinuousClock.Instant
  ) throws -> WriteTransaction {
    let sequence = SequenceNumber(part.position)
    if start == nil {
      start = try directory.snapshot(at: .sequence(sequence)).root.descendants()
      startNumber = part.number
    }
    var isDone = false
    let given = try lend(part.number, tables, transaction) { table in
      repeat {
        guard let node = try start?.next() else {
          isDone = true
          return
        }
        guard let value = try node.value else { continue }
        let change = Change(path: node.path, old: nil, new: value)
        try projection.fold(change, at: sequence, into: table)
      } while ContinuousClock.now < end
    }
    if isDone {
      part.isStarting = false
      start = nil
    }
    return given
  }

  /// Folds commits, at least one if there is one.
  private func fold(
    _ part: inout ProjectionEntry.Part, upTo applied: SequenceNumber, _ tables: StateTables,
    _ transaction: consuming WriteTransaction, until end: ContinuousClock.Instant
  ) throws -> WriteTransaction {
    var position = SequenceNumber(part.position)
    let given = try lend(part.number, tables, transaction) { table in
      while position < applied {
        let commit = try directory.commit(position.next, under: .root)
        try commit.changes.forEach { change in
          try projection.fold(change, at: commit.sequence, into: table)
        }
        for event in commit.events {
          try projection.fold(event, at: commit.sequence, into: table)
        }
        position = position.next
        if ContinuousClock.now >= end { return }
      }
    }
    part.position = position.rawValue
    return given
  }
}

extension WriteTransaction {
  fileprivate func put(_ key: [UInt8], _ value: [UInt8], _ tables: StateTables) throws {
    try key.lend { key in try value.lend { try put(tables.views, key, $0) } }
  }
}
