/// One observer's wait for the changes of one record, by any process.
///
/// Nothing is queued for it but the fact that the record was touched: the observer reads the record
/// once it has time, so a slow one passes over what lies between.
final class RecordWatch: Sendable {
  private let database: Database
  private let router: LiveRouter
  private let mailbox: LiveMailbox

  /// Starts watching; a snapshot that is taken afterwards misses nothing.
  init(_ path: NodePath, _ database: Database) throws {
    guard let collection = path.parent, let key = path.last else {
      throw DatabaseError.misuse(reason: "the root is no record")
    }
    self.database = database
    router = LiveRouter.of(database)
    mailbox = try router.add([LiveGuard(collection: collection, test: .keys([key.stored]))])
  }

  deinit { router.remove(mailbox) }

  /// Wakes the observer, which then looks again.
  func nudge() { mailbox.nudge() }

  /// Waits until the record may have changed.
  ///
  /// - Returns: A moment to read it at; nil when the task is cancelled or the database closed.
  func next() async throws -> Snapshot? {
    await mailbox.wait()
    if Task.isCancelled { return nil }
    return try database.unlessClosed {
      let snapshot = try database.snapshot()
      try router.advance(to: snapshot.sequence)
      _ = mailbox.take(upTo: snapshot.sequence)
      return snapshot
    }
  }
}

extension Database {
  /// The result of a body, which may fail since the database is closed; nil then.
  func unlessClosed<R>(_ body: () throws -> R?) throws -> R? {
    if directory.feed.isClosed { return nil }
    do { return try body() } catch {
      if directory.feed.isClosed { return nil }
      throw error
    }
  }
}
