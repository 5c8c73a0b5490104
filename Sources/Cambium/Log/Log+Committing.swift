// Commits to a log: of a group's records, of entries alone, and of the whole content of a log that
// is being created and has no other users yet.

import LMDB

extension Log {
  /// Commits changes of entries under the present head; the writer's lock must be held. The body
  /// may run several times, as that of ``write(head:_:)``.
  func amend<R>(_ body: (borrowing LogWriter) throws -> R) throws -> R {
    try growing {
      let writer = try LogWriter(self)
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
      let writer = try LogWriter(self)
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

  /// Commits records, and the head that they lead to.
  func append(_ records: [TransactionRecord], head: LogHead) throws {
    try write(head: head) { writer in for record in records { try writer.append(record) } }
  }
}
