// Commits of the state that its file gets later, several together.
//
//     write, write, … ──▶ buffer ──▶ 2 MiB, 50 ms, a reader, the end ──▶ the state's file
//
// The log has them already, so nothing is lost with the process: the next one folds them in again.
// Nobody sees the difference, since every reader of this process has the buffer written first, and
// nothing is deferred while another process has the state open. One that opens it meanwhile folds
// in the log's newest records before it writes anything else; what is in memory is dropped then.

import LMDB

extension State {
  /// True if commits may reach the file later.
  ///
  /// The reserve suffices for one commit, not for several: where the disk is nearly full, each is
  /// written at once.
  var isDeferred: Bool {
    guard behind.isEnabled else { return false }
    // If another process has come meanwhile, the waiting commits are written with this one.
    if !behind.isEmpty { return true }
    if environment.isShared { return false }
    return Files.freeBytes(at: environment.path).map { $0 > State.freeBytesMin } ?? true
  }

  /// The free disk space with which commits are deferred.
  private static let freeBytesMin: UInt64 = 64 << 20

  /// Writes to the file what it lacks, for a reader that is about to begin.
  ///
  /// - Throws: ``DatabaseError/stateBehind(applied:head:reason:)``, unless the file has what a
  ///   reader of the past looks for; what it lacks stays in memory.
  func settle(in directory: OpenDirectory, for moment: Moment = .now) throws {
    do {
      try directory.usingReserve(of: self) {
        if try !behind.settle(), try applied() < directory.feed.applied {
          throw DatabaseError.busy(reason: "another process has written to the state meanwhile")
        }
      }
    } catch let error as StorageError where isGone(error) {
      throw error
    } catch {
      directory.feed.failToSettle(error)
      if case .sequence(let sequence) = moment, try sequence <= applied() { return }
      throw directory.feed.lag?.error ?? error
    }
  }

  /// True if a new generation has replaced this one.
  private func isGone(_ error: StorageError) -> Bool {
    [.closed, .missing].contains(error.kind) && environment.health.failure == nil
  }

  /// Writes to the file what it must have now: a commit that another process may be about to look
  /// for, or too much to keep. The writer's turn must be held.
  func settleCommit(in directory: OpenDirectory) throws {
    if behind.isEmpty || !behind.isFull && !environment.isShared { return }
    try directory.usingReserve(of: self) { try behind.write() }
  }
}

/// Writes what the state's file lacks once nothing else has done so for a while.
final class SettleJob: Job {
  let name = "settle"
  private unowned let directory: OpenDirectory
  /// The time for which commits may be missing from the state's file.
  static let delay = Duration.milliseconds(50)

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// A failure is reported as that of a commit.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    do {
      let state = try directory.latestState()
      guard let since = state.behind.since else { return .whenDue }
      let left = since + SettleJob.delay - .now
      if left > .zero { return .after(left) }
      try state.settle(in: directory)
      return .whenDue
    } catch {
      return .after(CatchUpJob.first)
    }
  }
}
