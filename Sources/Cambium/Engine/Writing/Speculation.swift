/// A transaction that was run and will not be committed, lent to the closure that reads it.
///
///     let unmanned = try database.speculate { tx in
///       try tx.delete(ada)
///     } reading: { after in
///       try after.query(Flight.self).where { $0.pilot == nil }.count()
///     }
///
/// It reads as a snapshot would after the commit: ``ModelReader`` finds and queries models, and
/// ``snapshot`` is everything else that can be read. After the closure has returned, reads throw
/// ``DatabaseError/misuse(reason:)``.
///
/// Threads: the one that lends it.
public struct Speculation<Returned>: ModelReader {
  let running: RunningTransaction
  /// The value that the body returned.
  public let result: Returned

  /// The number that the transaction would have.
  public var sequence: SequenceNumber { running.sequence }

  /// The metadata that would be stored with the transaction.
  public var metadata: [String: String] { running.draft.metadata }

  /// The database as the transaction would leave it.
  public var snapshot: Snapshot { Snapshot(running) }

  /// The node at a path, as the transaction would leave it.
  public subscript(path: NodePath) -> Node { snapshot[path] }

  /// The snapshot from which models are read.
  public func readingSnapshot() throws -> Snapshot {
    try running.use()
    return snapshot
  }
}
