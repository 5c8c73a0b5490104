// The few entries that every group of writes begins with, kept until LMDB commits again.
//
// Most groups go to the tail, which changes none of them, so that looking them up is spared.

import LMDB
import Synchronization

/// The entries that a group of writes begins with.
struct FirstEntries: Sendable {
  /// LMDB's number of the commit that has them.
  fileprivate let transaction: UInt64
  /// The end of what LMDB holds.
  fileprivate let base: Tail.Base
  let mark: StateMark?
  let horizon: SequenceNumber
  /// The head of the log, with the tail.
  fileprivate(set) var head: LogHead

  /// Reads them for a caller that is about to write.
  fileprivate init(_ log: LogReader) throws {
    transaction = log.transaction - 1
    base = try Tail.Base(log)
    mark = try log.stateMark()
    horizon = try log.horizon()
    head = try log.head()
  }
}

/// The entries with which the last group of writes began.
final class KeptEntries: Sendable {
  private let entries = Mutex<FirstEntries?>(nil)

  /// The entries of the newest commit by any process; the writer's lock is held. The tail is
  /// durable then, as after `readNewest`.
  ///
  /// - Throws: ``StorageError``, ``DatabaseError``.
  func newest(of log: Log) throws -> FirstEntries {
    // Replaced files are noticed where something is written.
    try log.lmdb.health.checkWritable(looksAtFiles: false)
    // A commit whose process was killed before it told readers of it counts here as well.
    let transaction = try log.newestCommit
    if var known = entries.withLock({ $0 }), known.transaction == transaction {
      let tail = try log.tail.newestDurable(transaction) { known.base }
      log.noteDamage(in: tail)
      known.head = tail?.head ?? known.base.head
      return known
    }
    let found = try log.readNewest { try FirstEntries($0) }
    entries.withLock { $0 = found }
    return found
  }
}
