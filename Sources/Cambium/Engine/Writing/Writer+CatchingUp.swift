// The way on when a group is in the log, and the state could not be committed after it.
//
//     full disk       the state is behind; tried again by reads, writes, and in the background
//     I/O error       a new generation is folded from the log at once; where that fails as well,
//                     it is tried again by writes, and in the background
//
// Meanwhile the group is stored and cannot be seen. So the app is told, observers get an error, and
// who reads in this process gets one, too, and never silently the value before its own write.

import LMDB

/// A transaction that is stored and cannot be read yet.
struct StateLag: Sendable {
  let head: SequenceNumber
  let error: DatabaseError
}

extension Writer {
  /// Tells everybody that a group is stored and cannot be read yet; the turn is held.
  func fallBehind(_ failure: any Error, at head: SequenceNumber) {
    let applied = directory.feed.applied
    let error = DatabaseError.stateBehind(applied: applied, head: head, reason: "\(failure)")
    guard directory.feed.fallBehind(StateLag(head: head, error: error)) else { return }
    directory.report(.stateUpdateFailed(applied: applied, head: head, reason: "\(failure)"))
    jobs.failAll(error)
    jobs.wake(jobs[CatchUpJob.self], after: CatchUpJob.first)
  }

  /// Brings the state up to what this process has acknowledged, for a reader: another process may
  /// have done it, or there is room again. No reader waits for a new generation.
  ///
  /// - Throws: ``DatabaseError/stateBehind(applied:head:reason:)``.
  func catchUpLate() throws {
    guard let lag = directory.feed.lag else { return }
    let state = try directory.currentState()
    let applied = try state.applied()
    if applied >= lag.head { return directory.publish(applied) }
    if state.environment.failure == nil {
      try? exclusively(timeout: .milliseconds(100)) { try translating { try catchUp() } }
    }
    if let lag = directory.feed.lag { throw lag.error }
  }

  /// The distance of the state from the log when nobody is between the two commits, after trying to
  /// bring it up.
  ///
  /// - Returns: Nil where it is not.
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
      return (applied, head, "\(error)")
    }
  }
}
