// The losses that a committed transaction survives, and how each kind is kept.

import Dispatch
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
    /// longer. A process that is killed leaves them to the next one that opens the database or
    /// writes to it. ``Database/sync()`` waits for them.
    ///
    /// Some commits are flushed at once, with all before them: large ones, those with blobs, tags,
    /// notes or positions, the first after another process has written, and each while the disk is
    /// nearly full. All are where no file could be made to which they go first: it is made while
    /// the process is the only one that has the database open, which only Linux tells.
    ///
    /// Another system that was told of a transaction does not learn that a loss of power has undone
    /// it. (The same choice is asynchronous commit in PostgreSQL.)
    case soon(within: Duration)
    /// Nothing is kept; ``Database/inMemory(options:for:)`` has it, and no other database can.
    case memory
  }

  /// Makes durable all transactions that were committed before, by any process; returns at once
  /// if they are.
  ///
  /// - Throws: ``DatabaseError/ioFailure(reason:)``, ``DatabaseError/full(reason:)``: transactions
  ///   since the last flush may be lost with the next loss of power. Nothing can be written then
  ///   until the database is opened again. ``DatabaseError/busy(reason:)`` if another process has
  ///   left something to flush, and the turn to write does not come.
  /// - Complexity: one flush of the device; none with ``Durability/full`` while no other process
  ///   has the database open.
  public func sync() throws {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
    try translating {
      // Looks for what other processes have left in the tail.
      _ = try directory.log.read { try $0.head() }
      try writer.syncLog()
    }
  }
}

extension Database.Options {
  /// The size of the log's tail, and the rules for making and flushing it.
  var tailSizes: TailSizes {
    var sizes = stepSizes.tail
    switch durability {
    case .full: break
    case .soon(let limit):
      // Few commits are to be so large that they go to LMDB, which flushes at once.
      sizes.bytes *= Database.Options.tailGrowth
      sizes.bytesMax = 0
      sizes.commitsBefore = 0
      sizes.flushesWithin = max(limit, .zero)
    case .memory: sizes.bytes = 0
    }
    return sizes
  }

  /// The factor by which the tail is larger where commits are flushed later.
  private static let tailGrowth = 16
}

extension Writer {
  /// Makes durable what is known to be committed; where another process has left it, in the turn of
  /// a writer, who writes it once more.
  func syncLog() throws {
    try directory.log.sync()
    guard directory.log.tail.hasUnproven, !directory.isReadOnly else { return }
    try exclusively { try directory.log.readNewest { _ in } }
  }
}

/// Flushes the commits that are not durable yet, before the time that the options allow is over.
final class FlushJob: Job {
  let name = "flush"
  var quality: DispatchQoS { .userInitiated }
  private unowned let writer: Writer
  private var directory: OpenDirectory { writer.directory }

  init(_ writer: Writer) { self.writer = writer }

  /// The time after a commit at which its flush begins, which leaves as much for the flush.
  var delay: Duration? { directory.log.tail.flushesWithin.map { $0 / 2 } }

  /// A process that was killed has left its last commits to whoever comes next.
  func delayAfterOpening() -> Duration? { directory.log.tail.hasUnflushed ? .zero : nil }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    do { try writer.syncLog() } catch {
      // It can be tried again unless a disk has refused it.
      guard directory.log.isWritable else { throw error }
    }
    guard directory.log.tail.hasUnflushed else { return .whenDue }
    return .after(delay ?? FlushJob.pause)
  }

  /// The time before the next attempt where the options name none.
  private static let pause = Duration.seconds(1)

  func diagnostic(_ error: any Error) -> Diagnostic? { .flushFailed("\(error)") }
}
