// The losses that a committed transaction survives, and how each kind is kept.

import LMDB

extension Database {
  /// The losses that a transaction survives from the moment at which `write` returns.
  ///
  /// | | end of the process, `kill -9` | crash of the system, loss of power |
  /// | --- | --- | --- |
  /// | ``full`` | survives | survives |
  /// | ``soon(within:)`` | survives | survives if it is older than that |
  /// | ``memory`` | does not | does not |
  ///
  /// None of them ever leaves a part of a transaction, or one without those before it.
  public enum Durability: Sendable, Hashable {
    /// Each commit is flushed to the disk before `write` returns.
    case full
    /// Commits are flushed in the background, many together. After a loss of power the newest may
    /// be missing: those of the given time, or of what the disk takes for a flush if that is
    /// longer. A process that is killed leaves them to the next one, which flushes them when it
    /// opens the database. ``Database/sync()`` waits for them.
    ///
    /// A commit that is too large for the file to which these go first is flushed at once, with
    /// all before it; so is each while the disk has hardly any space. What has seen a transaction
    /// that a loss of power undoes, such as another system that was told of it, does not learn of
    /// that. (As asynchronous commit in PostgreSQL, which has no log without a flush of its own
    /// either.)
    case soon(within: Duration)
    /// Nothing is kept; ``Database/inMemory(options:for:)`` has it, and no other database can.
    case memory
  }

  /// Makes durable all transactions that were committed before, by any process; returns at once
  /// if they are.
  ///
  /// - Throws: ``DatabaseError/ioFailure(reason:)``: transactions since the last flush may be lost
  ///   with the next loss of power. Nothing can be written then until the database is opened again.
  /// - Complexity: one flush of the device; none with ``Durability/full`` while no other process
  ///   has the database open.
  public func sync() throws {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
    try translating { try directory.log.sync() }
  }
}

extension Database.Options {
  /// How the log's tail is made and written.
  var tailSizes: TailSizes {
    var sizes = stepSizes.tail
    switch durability {
    case .full: break
    case .soon(let limit):
      // Few commits are to be so large that they go to LMDB, which flushes at once.
      sizes.bytes *= Database.Options.tailGrowth
      sizes.commitsBefore = 0
      sizes.flushesWithin = max(limit, .zero)
    case .memory: sizes.bytes = 0
    }
    return sizes
  }

  /// How many times larger the tail is where commits are flushed later.
  private static let tailGrowth = 16
}

/// Flushes the commits that are not durable yet, before the time that the options allow is over.
final class FlushJob: Job {
  let name = "flush"
  private unowned let directory: OpenDirectory

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// The time after a commit at which its flush begins, which leaves as much for the flush.
  var delay: Duration? { directory.log.tail.flushesWithin.map { $0 / 2 } }

  /// A process that was killed has left its last commits to whoever comes next.
  func delayAfterOpening() -> Duration? { directory.log.tail.hasUnflushed ? .zero : nil }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    try directory.log.sync()
    guard directory.log.tail.hasUnflushed, let delay else { return .whenDue }
    return .after(delay)
  }

  func diagnostic(_ error: any Error) -> Diagnostic? { .flushFailed("\(error)") }
}
