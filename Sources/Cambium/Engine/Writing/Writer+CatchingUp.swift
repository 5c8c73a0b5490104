// Recovery when a group is in the log, and the state could not be committed after it.
//
//     full disk       the state is behind; retried by reads, writes, and in the background
//     I/O error       a new generation is folded from the log at once; if that fails as well, it is
//                     retried by writes, and in the background
//
// Meanwhile the group is stored and not visible. So the app is notified, observers get an error,
// and reads in this process get one, too, and never silently the value before their own write.

import LMDB

/// A transaction that is stored and cannot be read yet.
struct StateLag: Sendable {
  let head: SequenceNumber
  let error: DatabaseError
}

extension Writer {
  /// Notifies all observers that a group is stored and cannot be read yet.
  func fallBehind(_ failure: any Error, at head: SequenceNumber) {
    // Other processes may have applied more than this one has been told of.
    let visible = try? directory.latestState().applied()
    if let visible { directory.feed.advance(to: visible) }
    noteLag(failure, at: head, applied: visible ?? directory.feed.applied)
  }

  /// Notifies all observers that what they could see cannot be read: a reader has found out, maybe
  /// one that works for an observer, so nothing is delivered here.
  func failToSettle(_ failure: any Error) {
    let applied = try? directory.latestState().applied()
    let visible = directory.feed.applied
    noteLag(failure, at: visible, applied: applied ?? visible)
  }

  private func noteLag(
    _ failure: any Error, at head: SequenceNumber, applied: SequenceNumber
  ) {
    let error = DatabaseError.stateBehind(applied: applied, head: head, reason: "\(failure)")
    guard directory.feed.fallBehind(StateLag(head: head, error: error)) else { return }
    directory.report(.stateUpdateFailed(applied: applied, head: head, reason: "\(failure)"))
    jobs.failAll(error)
    jobs.wake(jobs[CatchUpJob.self], after: CatchUpJob.first)
  }

  /// Brings the state up to the acknowledged writes of this process, for a reader: another process
  /// may have done it, or there is room again. No reader waits for a new generation.
  ///
  /// - Throws: ``DatabaseError/stateBehind(applied:head:reason:)``.
  func catchUpLate() throws {
    guard let lag = directory.feed.lag else { return }
    let state = try directory.latestState()
    let applied = try state.applied()
    if applied >= lag.head { return directory.publish(applied) }
    if state.environment.health.failure == nil {
      try? exclusively(timeout: .milliseconds(100)) { try translating { try catchUp() } }
    }
    if let lag = directory.feed.lag { throw lag.error }
  }

  /// The distance of the state from the log when no writer is between the two commits, after an
  /// attempt to bring it up to date.
  ///
  /// - Returns: Nil if it is not behind.
  func settledLag() throws -> (applied: SequenceNumber, head: SequenceNumber, reason: String?)? {
    let head = try directory.log.read { try $0.head().sequence }
    let applied = try directory.currentState().applied()
    guard applied < head, !directory.stateInUse.isPartial, directory.log.damage.found == nil else {
      return nil
    }
    if directory.isReadOnly { return (applied, head, nil) }
    do {
      try exclusively { try translating { try catchUp() } }
      return nil
    } catch {
      return (applied, head, DatabaseError.reason(of: error))
    }
  }
}
