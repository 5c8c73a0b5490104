import FoundationEssentials

/// The history of a model: a description that reads nothing until it is walked.
///
///     for revision in try database.history(of: id).reversed().fetch() {
///       print(revision.time, revision.metadata["actor"] ?? "?", revision.change.properties)
///     }
public struct ModelHistory<M: Model>: Walk {
  let id: ModelID<M>
  var history: History

  /// The newest first; twice is the oldest first again.
  public func reversed() -> ModelHistory {
    ModelHistory(id: id, history: history.reversed())
  }

  /// Visits each revision until `body` returns false. No snapshot is held between two of them, so
  /// `body` may be slow.
  ///
  /// - Throws: Any error that `body` throws; as ``HistoryCursor/next()``, and as `find(_:)` at the
  ///   moments before and after each transaction.
  /// - Complexity: as ``HistoryCursor/next()``, and two reads of the model for each revision.
  public func walk(_ body: (ModelRevision<M>) throws -> Bool) throws {
    try makeCursor().walk(body)
  }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<ModelRevision<M>> {
    WalkBatches(history.directory, of: makeCursor)
  }

  private func makeCursor() throws -> RevisionCursor<M> {
    RevisionCursor(id: id, directory: history.directory, steps: try history.makeCursor())
  }
}

/// A walk over the revisions of a model.
private struct RevisionCursor<M: Model>: ~Copyable, WalkCursor {
  let id: ModelID<M>
  let directory: OpenDirectory
  var steps: HistoryCursor

  mutating func next() throws -> ModelRevision<M>? {
    while let step = try steps.next() {
      let states = try ModelStates<M>(directory, step.transaction.sequence)
      guard let change = try states.change(of: id) else { continue }
      return ModelRevision(transaction: step.transaction, change: change)
    }
    return nil
  }
}

/// A step in the history of a model: what one transaction made of it.
public struct ModelRevision<M: Model>: Sendable {
  /// The transaction.
  public let transaction: TransactionInfo
  /// The model before and after; equal where it was written again as it was.
  public let change: ModelChange<M>

  /// The transaction's place in the log.
  public var sequence: SequenceNumber { transaction.sequence }
  /// The time when the transaction was committed.
  public var time: Date { transaction.time }
  /// The metadata given to `write`, such as who wrote and why.
  public var metadata: [String: String] { transaction.metadata }
  /// The model as it became; nil where it was deleted.
  public var model: M? { change.new }
}

extension ModelRevision: Equatable where M: Equatable {}

extension Database {
  /// The history of a model, the oldest transaction first. It is followed through deletions and
  /// returns, by its id.
  ///
  /// - Parameters:
  ///   - id: The model, which need not be there any more.
  ///   - after: Only what came after this transaction; nil begins with the oldest that is left.
  ///   - upTo: Only what came up to and including this one; the newest by default.
  /// - Returns: The history, not read yet; any thread may walk it.
  /// - Throws: As ``snapshot(at:)``; ``DatabaseError/misuse(reason:)`` for an id that is not
  ///   assigned; ``DatabaseError/compacted(oldest:)`` where `after` is before the ``horizon``.
  /// - Complexity: O(1).
  public func history<M: Model>(
    of id: ModelID<M>, after: SequenceNumber? = nil, upTo: SequenceNumber? = nil
  ) throws -> ModelHistory<M> {
    ModelHistory(id: id, history: try history(of: try id.path, after: after, upTo: upTo))
  }
}

extension ModelReader where Self: ~Copyable {
  /// The transaction that last wrote a model; nil where there is no such model.
  ///
  /// - Throws: As `find(_:)`.
  /// - Complexity: one descent of the tree, 0.5 to 1 µs.
  public func modified<M: Model>(_ id: ModelID<M>) throws -> SequenceNumber? {
    guard id.isAssigned, try exists(id) else { return nil }
    return try readingSnapshot()[try id.path].modified
  }

  /// When a model was last written; nil where there is no such model, or the transaction that
  /// writes it is still open.
  ///
  /// - Throws: As `find(_:)`; ``DatabaseError/compacted(oldest:)`` where that was before the
  ///   horizon.
  /// - Complexity: as ``modified(_:)``, and one read of the transaction's record.
  public func updatedAt<M: Model>(_ id: ModelID<M>) throws -> Date? {
    let snapshot = try readingSnapshot()
    guard let sequence = try snapshot.modified(id) else { return nil }
    if snapshot.isLive, sequence == snapshot.sequence { return nil }
    // A write group is logged as a whole.
    let record = snapshot.transaction?.group.records.first { $0.sequence == sequence }
    let time =
      try record?.time
      ?? translating { try snapshot.directory.log.read { try $0.record(sequence) }.time }
    return Date(microseconds: time)
  }
}
