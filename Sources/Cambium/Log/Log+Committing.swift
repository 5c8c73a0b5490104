// Commits to a log: of a group's records, which may go to the tail, of entries alone, and of the
// whole content of a log that is being created and has no other users yet.

import LMDB

extension Log {
  /// Commits changes of entries under the present head; the writer's lock must be held. The body
  /// may run several times, as that of ``write(head:_:)``.
  func amend<R>(_ body: (borrowing LogWriter) throws -> R) throws -> R {
    try growing {
      let writer = try LogWriter.begin(self)
      let head = try writer.reader.head()
      let result = try body(writer)
      try writer.commit(head: head)
      return result
    }
  }

  /// Commits the entries that a body writes, and a head. The body may run several times, until the
  /// map has room, so it must not use up what it writes.
  func write(head: LogHead, _ body: (borrowing LogWriter) throws -> Void) throws {
    try growing {
      let writer = try LogWriter.begin(self)
      try body(writer)
      try writer.commit(head: head)
    }
  }

  /// Commits, and where the map is full, makes it larger and commits again.
  private func growing<R>(_ commit: () throws -> R) throws -> R {
    var room = Log.growth
    while true {
      do { return try commit() } catch let error as StorageError where error.kind == .mapFull {
        // Its maximum ends this.
        try lmdb.growMap(headroom: room)
        room *= 4
      }
    }
  }

  /// The room that is made first, in bytes: enough for all but the largest commits.
  private static let growth = 64 << 20

  /// Commits records, and the head that they lead to: to LMDB.
  func append(_ records: [TransactionRecord], head: LogHead) throws {
    try write(head: head) { writer in for record in records { try writer.append(record) } }
  }

  /// Commits records to the tail; the writer's lock is held, and `kept.newest` was called with it.
  ///
  /// - Returns: False if LMDB must take them; nothing has happened then.
  /// - Throws: ``StorageError``: nothing is stored then. With `.uncertain` that is unknown. After
  ///   an I/O error the log refuses all further writing.
  func appendToTail(_ records: [TransactionRecord]) throws -> Bool {
    guard tail.isEnabled, try hasRoomForMoving() else { return false }
    try lmdb.health.checkWritable()
    do { return try tail.append(records, syncLMDB: lmdb.sync) } catch let error as StorageError {
      if [.uncertain, .inputOutput].contains(error.kind) { lmdb.health.poison(error) }
      throw error
    }
  }

  /// True if all that the tail can hold fits into LMDB; otherwise not even compaction could make
  /// room. The disk is asked again after every few pages of frames.
  private func hasRoomForMoving() throws -> Bool {
    let needed = tail.roomForMoving
    guard try bytesMax - lmdb.usage().usedBytes > needed else { return false }
    if tail.isRoomKnown { return true }
    guard Files.freeBytes(at: path) ?? .max > needed else { return false }
    tail.noteRoom()
    return true
  }

  /// Flushes what this process has committed, and what it knows of others. Any thread may call it;
  /// only `readNewest` makes sure of what others have failed to flush.
  ///
  /// - Throws: ``StorageError``; the log refuses all further writing then.
  func sync() throws {
    do {
      if tail.hasUnflushed { try tail.flush() }
      if lmdb.isShared, !lmdb.isReadOnly { try lmdb.sync() }
    } catch let error as StorageError {
      lmdb.health.poison(error)
      throw error
    }
  }

  /// Moves the records of the tail to LMDB, for a caller that looks at the file; the writer's lock
  /// is held.
  func emptyTail() throws {
    if try readNewest({ $0.tail }) != nil { try amend { _ in } }
  }
}
