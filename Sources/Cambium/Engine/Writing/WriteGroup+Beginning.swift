// Beginning a group: the state must have folded in all that the log has.

import LMDB

extension WriteGroup {
  /// Begins a group of writes; the writer's turn and lock must be held. One that only catches up
  /// may say up to where.
  static func begin(
    in directory: OpenDirectory, catchingUpTo last: SequenceNumber? = nil
  ) throws -> WriteGroup {
    if last == nil { try directory.log.damage.checkNone() }
    var group = try open(in: directory, catchingUpTo: last)
    if last == nil, group.stateWriter.hasCaughtUp {
      // By itself, so that the state is never behind by more than one group: where it cannot be
      // written, nothing more is logged.
      do {
        try group.stateWriter.commit()
        directory.publish(group)
      } catch {
        // Where it is the state that failed, the next opening takes a new generation.
        group.stateWriter.abort()
        if group.state.environment.failure == nil { throw error }
      }
      group = try open(in: directory, catchingUpTo: nil)
    }
    directory.ages.check()
    return group
  }

  private static func open(
    in directory: OpenDirectory, catchingUpTo last: SequenceNumber?
  ) throws -> WriteGroup {
    let (state, head, horizon) = try directory.prepareState()
    if try !state.environment.hasRoom(for: 64 << 20) {
      try state.environment.growMap(headroom: 128 << 20)
    }
    let group = try WriteGroup(
      directory, state, head: head, horizon: horizon, catalog: directory.stateInUse.catalog)
    try directory.catchUp(&group.stateWriter, to: last ?? head.sequence)
    return group
  }
}
