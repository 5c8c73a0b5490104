/// An observer whose position is stored in the database, so that it resumes where it was.
///
///     let mailer = database.consumer("mailer")
///     for try await commit in try mailer.commits() {
///       send(commit)
///       mailer.advance(to: commit.sequence)
///     }
///
/// A crash after `send` and before the position is stored makes the commit come again: *at least once*.
/// Where the work is itself a write to this database, store the position in the same transaction, with
/// ``Transaction/advance(_:to:)``, and it is done *exactly once*.
public struct Consumer: Sendable {
  /// The name under which the position is stored.
  public let name: String
  private let database: Database

  init(name: String, database: Database) {
    self.name = name
    self.database = database
  }

  /// The last transaction that was taken care of; zero for a new consumer.
  public func position() throws -> SequenceNumber {
    if let kept = database.store.keptPosition(name) { return kept }
    let stored = try translating { try database.store.log.read { try $0.number("consumer/\(name)") } }
    return SequenceNumber(stored ?? 0)
  }

  /// The transactions after the position, without end.
  ///
  /// - Parameter under: Only those that touch this node or something below it.
  public func commits(under: Path = .root) throws -> Commits {
    database.changes(after: try position(), under: under)
  }

  /// Moves the position. It is stored with the next commit, or within a second.
  ///
  /// - Throws: ``DatabaseError/readOnly(reason:)``.
  public func advance(to sequence: SequenceNumber) throws {
    if database.store.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(database.path) is open for reading only")
    }
    database.store.keep(name, sequence)
    database.writer.scheduleFlush()
  }
}

extension Database {
  /// A consumer, whether it has been used before or not.
  ///
  /// - Parameter name: Anything that is not empty; the name is the consumer's identity.
  public func consumer(_ name: String) -> Consumer { Consumer(name: name, database: self) }
}
