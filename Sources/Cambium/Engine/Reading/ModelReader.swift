/// A source from which models are read: a ``Snapshot`` of the present or the past, a
/// ``Database/Transaction``, which includes its own changes, or a ``Database``, which uses its
/// newest snapshot each time.
///
///     let flight = try database.find(id)
///     let before = try database.snapshot(at: .time(yesterday)).find(id)
public protocol ModelReader: ~Copyable {
  /// The moment that is read.
  ///
  /// - Throws: ``DatabaseError/closed(reason:)``, ``DatabaseError/misuse(reason:)`` after a
  ///   transaction has ended.
  func readingSnapshot() throws -> Snapshot
}

extension Snapshot: ModelReader {
  /// The snapshot itself.
  public func readingSnapshot() -> Snapshot { self }
}

extension Database.Transaction: ModelReader {
  /// The present moment with all changes of the transaction so far.
  public func readingSnapshot() throws -> Snapshot {
    try running.use()
    return Snapshot(running)
  }
}

extension Database: ModelReader {
  /// The newest moment.
  public func readingSnapshot() throws -> Snapshot { try snapshot() }
}
