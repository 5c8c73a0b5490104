// Commits of the state that its file gets later, several together.
//
//     write, write, … ──▶ buffer ──▶ 2 MiB, 50 ms, a reader, the end ──▶ the state's file
//                                    in the background, where nobody waits for it
//
// The log has them already, so nothing is lost with the process: the next one folds them in again.
// Nobody sees the difference, since every reader of this process has the buffer written first, and
// nothing is deferred while another process has the state open. One that opens it meanwhile folds
// in the log's newest records before it writes anything else; what is in memory is dropped then.

import Dispatch
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
    return !environment.isShared && hasRoomToDefer
  }

  private var hasRoomToDefer: Bool {
    Files.freeBytes(at: environment.path).map { $0 > State.freeBytesMin } ?? true
  }

  /// The free disk space with which commits are deferred.
  private static let freeBytesMin: UInt64 = 64 << 20

  /// Writes to the file what it lacks, for a reader that is about to begin.
  ///
  /// - Throws: ``DatabaseError/stateBehind(applied:head:reason:)``, unless the file has what a
  ///   reader of the past looks for; what it lacks stays in memory.
  func settle(in directory: OpenDirectory, for moment: Moment = .now) throws {
    try settle(in: directory, for: moment) { try behind.settle() }
  }

  /// Writes to the file what it lacks, for no reader; of two buffers only the one that is full.
  ///
  /// - Throws: As ``settle(in:for:)``.
  fileprivate func settleForNobody(in directory: OpenDirectory) throws {
    try settle(in: directory, for: .now) {
      try behind.isBackWaiting ? behind.writeBack() : behind.write()
    }
  }

  private func settle(
    in directory: OpenDirectory, for moment: Moment, _ write: () throws -> Bool
  ) throws {
    do {
      try directory.usingReserve(of: self) {
        if try !write(), try applied() < directory.feed.applied {
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
  /// for, or too much to keep, of which the last part is left to the background. The writer's turn
  /// must be held.
  func settleCommit(in directory: OpenDirectory) throws {
    if behind.isEmpty { return }
    let isFull = behind.isFull
    if environment.isShared || isFull && !hasRoomToDefer {
      try directory.usingReserve(of: self) { try behind.write() }
    } else if isFull {
      try directory.usingReserve(of: self) { try behind.turn() }
    }
  }
}

/// Writes what the state's file lacks: a full buffer at once, the rest once it has waited for a
/// while.
final class SettleJob: Job {
  let name = "settle"
  private unowned let directory: OpenDirectory
  /// The time for which commits may be missing from the state's file.
  static let delay = Duration.milliseconds(50)

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// Writers may wait for it.
  var quality: DispatchQoS { .userInitiated }

  /// A failure is reported as that of a commit.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    do {
      let state = try directory.latestState()
      if let left = timeLeft(state), left <= .zero { try state.settleForNobody(in: directory) }
      // Others may have been committed meanwhile.
      return timeLeft(state).map { .after(max($0, .zero)) } ?? .whenDue
    } catch {
      return .after(CatchUpJob.first)
    }
  }

  /// The time after which commits must be written; nil if none are missing from the file.
  private func timeLeft(_ state: State) -> Duration? {
    if state.behind.isBackWaiting { return .zero }
    return state.behind.since.map { $0 + SettleJob.delay - .now }
  }
}
