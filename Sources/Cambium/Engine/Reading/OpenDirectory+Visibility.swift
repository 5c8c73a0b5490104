// The definition of *visible*, for readers, observers and other processes alike.
//
//     log committed ──▶ stored ──▶ state committed ──▶ visible
//
// A transaction is *visible* once the state in use has folded it in and committed: once its number
// is at most the position in the state's head. The log's head never decides, since a transaction
// that is stored may not be readable yet. All users rely on that one number:
//
//     snapshots                       read the state, and so its position
//     observers in this process       are woken by ``ChangeFeed``, which only this file notifies
//     observers in other processes    are woken by the `wake` file, and then read the position
//     writers                         take the catalog of the newest visible commit
//
// Invariants:
// 1. Every visible transaction is in the log: the position never passes the log's head. Asserted
//    here.
// 2. It never goes back. ``ChangeFeed`` ignores positions before the one it knows.

import LMDB

extension OpenDirectory {
  /// Notifies all observers of a group that the state has just committed and made visible.
  func publish(_ group: WriteGroup) {
    stateInUse.remember(group.stateWriter.catalog, of: group.state)
    publish(group.head.sequence)
  }

  /// Notifies all observers that a commit of this process has made a transaction visible, and all
  /// before it.
  func publish(_ sequence: SequenceNumber) {
    assert(
      (try? log.read { try $0.head().sequence >= sequence }) ?? true, "visible, but not stored")
    feed.publish(sequence)
  }

  /// Reads the position of the state in use, and notifies all observers.
  func publishVisible() throws { publish(try snapshot(at: .now).sequence) }

  /// Takes over transactions that any process has made visible, without notifying other processes.
  ///
  /// - Returns: The newest visible transaction.
  @discardableResult
  func adoptVisible() throws -> SequenceNumber {
    let visible = try snapshot(at: .now).sequence
    feed.advance(to: visible)
    return visible
  }

  /// Ensures that the acknowledged writes of this process are visible at a moment.
  ///
  /// - Throws: ``DatabaseError/stateBehind(applied:head:reason:)``.
  func checkLag(for moment: Moment) throws {
    guard feed.lag != nil else { return }
    if case .sequence(let sequence) = moment, sequence <= feed.applied { return }
    try feed.remedy()
  }
}
