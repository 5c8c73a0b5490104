// Commits to a log: of a group's records, of entries alone, and of the whole content of a log that
// is being created and has no other users yet.

import LMDB

extension Log {
  /// Commits changes of entries under the present head; the writer's lock must be held. Where the
  /// map is full, it grows, and the body runs again.
  func amend<R>(_ body: (borrowing LogWriter) throws -> R) throws -> R {
    do { return try amendOnce(body) } catch let error as StorageError where error.kind == .mapFull {
      try grow(for: 0)
      return try amendOnce(body)
    }
  }

  private func amendOnce<R>(_ body: (borrowing LogWriter) throws -> R) throws -> R {
    let writer = try LogWriter(self)
    let head = try writer.reader.head()
    let result = try body(writer)
    try writer.commit(head: head)
    return result
  }

  /// Commits the entries that a body writes, and a head. Room is made for `bytes` bytes before,
  /// which is 0 until the map has been full.
  func write(_ bytes: Int, head: LogHead, _ body: (borrowing LogWriter) throws -> Void) throws {
    try makeRoom(for: bytes)
    let writer = try LogWriter(self)
    try body(writer)
    try writer.commit(head: head)
  }

  /// Commits records, and the head that they lead to.
  func append(_ records: [TransactionRecord], head: LogHead) throws {
    let bytes = records.reduce(0) { $0 + $1.operations.count + 256 }
    try write(bytes, head: head) { writer in for record in records { try writer.append(record) } }
  }
}
