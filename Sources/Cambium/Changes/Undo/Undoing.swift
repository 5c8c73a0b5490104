/// A request that names the transactions to undo.
package enum UndoRequest: Sendable {
  /// One transaction; where it is the newest of its group, perhaps the whole group.
  case transaction(SequenceNumber, wholeGroup: Bool)
  /// The newest change of somebody's that is in force.
  case newest(Authorship, wholeGroup: Bool)
  /// The newest undo of somebody's, which is undone itself.
  case redo(Authorship)
  /// All that came after one transaction, up to another.
  case stretch(after: SequenceNumber, upTo: SequenceNumber)
}

/// A preview of an undo: its result, and the changes that it would make.
package struct UndoPreview: Sendable {
  package let undone: Undone
  /// The changes to the tree, in path order.
  package let changes: [Change]
}

/// Undoes in an open transaction: finds what is meant, tries it out again to learn what it did, and
/// takes that back step by step.
struct Undoing {
  private let running: RunningTransaction
  private let log: UndoLog

  init(_ running: RunningTransaction) {
    self.running = running
    log = UndoLog(running: running)
  }

  /// Undoes.
  ///
  /// - Returns: The result; nil where there is nothing to undo or redo.
  func run(
    _ request: UndoRequest, _ resolution: ConflictResolution, isPreview: Bool = false
  ) throws -> Undone? {
    try translating {
      let records = try records(request)
      if records.isEmpty { return nil }
      running.draft.restored.isDeferred = true
      defer { running.draft.restored.isDeferred = false }
      var inversion = Inversion(running, resolution)
      for run in Undoing.runs(records) { try undo(run, &inversion) }
      if !isPreview && inversion.conflicts.isRefused {
        throw DatabaseError.undoConflict(inversion.conflicts.listed)
      }
      try RestoredReferences.settle(in: running)
      mark(records)
      return Undone(
        sequence: running.sequence, undoes: records.map(\.sequence),
        conflicts: inversion.conflicts.listed)
    }
  }

  /// The transactions that are meant, the newest first.
  private func records(_ request: UndoRequest) throws -> [TransactionRecord] {
    switch request {
    case .transaction(let sequence, let wholeGroup):
      try log.check(sequence)
      let record = try log.record(sequence)
      if record.isErasure {
        throw DatabaseError.misuse(
          reason: "transaction \(sequence) records an erasure, which nothing brings back")
      }
      return wholeGroup ? try log.group(of: record) : [record]
    case .newest(let author, let wholeGroup):
      guard let record = try log.newestChange(of: author) else { return [] }
      return wholeGroup ? try log.group(of: record) : [record]
    case .redo(let author): return try log.newestUndo(of: author).map { [$0] } ?? []
    case .stretch(let after, let last):
      if last <= after { return [] }
      try log.check(last)
      return try (after.rawValue + 1...last.rawValue).reversed().map {
        try log.record(SequenceNumber($0))
      }
    }
  }

  /// Transactions that follow each other without a gap, which are undone as one; the newest first.
  private static func runs(_ records: [TransactionRecord]) -> [[TransactionRecord]] {
    var runs: [[TransactionRecord]] = []
    for record in records {
      if runs.last?.last?.sequence == record.sequence.next {
        runs[runs.count - 1].append(record)
      } else {
        runs.append([record])
      }
    }
    return runs
  }

  private func undo(_ run: [TransactionRecord], _ inversion: inout Inversion) throws {
    guard let first = run.last else { return }
    let running = running
    var retracing = Retracing(
      Overlay(asOf: first.sequence.previous, running.catalog) { try running.reader })
    for record in run.reversed() { try retracing.apply(record) }
    try inversion.undo(retracing.finish(), of: run)
  }

  /// Says in the metadata what is undone; the transaction is kept even if nothing was left to do.
  private func mark(_ records: [TransactionRecord]) {
    running.draft.metadata[UndoLog.Name.undoes] = SequenceList.text(records.map(\.sequence))
    if let undo = records.first, records.count == 1, undo.isUndo {
      running.draft.metadata[UndoLog.Name.redoes] = SequenceList.text(undo.undoes)
    }
    running.isAlwaysRecorded = true
  }
}
