import LMDB

/// An observer whose position is stored in the database, so that it resumes where it was.
///
///     let mailer = database.consumer("mailer")
///     for try await commit in try mailer.commits() {
///       send(commit)
///       try mailer.advance(to: commit.sequence)
///     }
///
/// A crash after `send` and before the position is stored makes the commit come again: *at least
/// once*. Where the work is itself a write to this database, store the position in the same
/// transaction, with ``Database/Transaction/advance(_:to:)``, and it is done *exactly once*.
public struct Consumer: Sendable {
  /// The name under which the position is stored.
  public let name: String
  let database: Database

  /// The longest name, in bytes of UTF-8.
  private static let nameBytesMax = 400

  /// Refuses a name under which no position can be stored.
  static func check(_ name: String) throws {
    if name.isEmpty || name.utf8.count > nameBytesMax {
      throw DatabaseError.badKey(
        name,
        reason: "a consumer's name has 1 to \(nameBytesMax) bytes, this one \(name.utf8.count)")
    }
  }

  /// The last transaction that was taken care of; zero for a new consumer.
  ///
  /// - Returns: The position that this process has advanced to, stored or not; else the stored one.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  public func position() throws -> SequenceNumber {
    if let kept = database.directory.positions[name] { return kept }
    let stored = try translating {
      try database.directory.log.read { try $0.number("consumer/\(name)") }
    }
    return SequenceNumber(stored ?? 0)
  }

  /// The transactions after the position, without end.
  ///
  /// - Parameter under: Only those that touch this node or something below it.
  /// - Returns: A sequence without end, as of ``Database/changes(after:under:)``.
  /// - Throws: As ``position()``.
  public func commits(under: NodePath = .root) throws -> Commits {
    database.changes(after: try position(), under: under)
  }

  /// Moves the position. It is stored with the next commit of this process, or within a second.
  ///
  /// - Parameter sequence: The last transaction that was taken care of. A smaller one than before
  ///   makes those after it come again.
  /// - Throws: ``DatabaseError/readOnly(reason:)``.
  /// - Complexity: nothing but a note in memory; storing it alone costs one flush.
  public func advance(to sequence: SequenceNumber) throws {
    if database.directory.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(database.path) is open for reading only")
    }
    try Consumer.check(name)
    database.directory.positions.keep(name, sequence)
    database.jobs.wake(database.jobs[PositionJob.self], after: .seconds(1))
  }

  /// Moves the position, and stores it before returning.
  ///
  /// - Parameter sequence: The last transaction that counts as taken care of.
  /// - Throws: As ``advance(to:)``; ``DatabaseError/busy(reason:)``.
  /// - Complexity: one flush.
  public func reset(to sequence: SequenceNumber) throws {
    try advance(to: sequence)
    try database.writer.flush()
  }

  /// Forgets the position: whoever uses the name again starts with the first transaction.
  ///
  /// - Throws: ``DatabaseError/readOnly(reason:)``, ``DatabaseError/busy(reason:)``.
  /// - Complexity: one flush.
  public func drop() throws {
    try Consumer.check(name)
    let directory = database.directory
    try database.writer.exclusively {
      try translating {
        try directory.log.damage.checkNone()
        directory.positions.forget(name)
        try directory.log.amend { try $0.removeEntry("consumer/\(name)") }
      }
    }
  }
}

extension Database {
  /// A consumer, whether it has been used before or not.
  ///
  /// - Parameter name: The consumer's identity, at most 400 bytes of UTF-8. One consumer should
  ///   have one process that advances it.
  /// - Returns: The consumer.
  public func consumer(_ name: String) -> Consumer { Consumer(name: name, database: self) }
}

extension Consumer {
  /// Moves the position and stores it, without blocking the caller's thread.
  ///
  /// - Parameter sequence: The last transaction that counts as taken care of.
  /// - Throws: As the synchronous `reset`.
  public func reset(to sequence: SequenceNumber) async throws {
    try await database.inBackground { try self.reset(to: sequence) }
  }

  /// Forgets the position without blocking the caller's thread.
  ///
  /// - Throws: As the synchronous `drop`.
  public func drop() async throws { try await database.inBackground { try self.drop() } }
}

extension Database.Transaction {
  /// Stores a consumer's position with this transaction, so that it moves exactly when the changes
  /// do.
  ///
  /// - Parameters:
  ///   - consumer: The name of the consumer whose position moves.
  ///   - sequence: The last transaction that was taken care of.
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  public func advance(_ consumer: String, to sequence: SequenceNumber) throws {
    try Consumer.check(consumer)
    try running.setNumber("consumer/\(consumer)", to: sequence.rawValue)
  }
}
