// Beginning a group: the state must have folded in the whole log.

import LMDB

extension WriteGroup {
  /// Begins a group of writes; the writer's turn and lock must be held. A group that only catches
  /// up may set the position at which to stop.
  static func begin(
    in directory: OpenDirectory, catchingUpTo last: SequenceNumber? = nil
  ) throws -> WriteGroup {
    if last == nil { try directory.log.damage.checkNone() }
    var group = try open(in: directory, catchingUpTo: last)
    if last == nil, group.stateWriter.hasCaughtUp {
      // Committed separately, so that the state is never behind by more than one group: if it
      // cannot be written, nothing more is logged.
      do {
        try group.stateWriter.commit()
        directory.publish(group)
      } catch {
        // If the state failed, the next opening uses a new generation.
        group.stateWriter.abort()
        if group.state.environment.health.failure == nil { throw error }
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
    let room = directory.options.stepSizes.groupRoom
    if try !state.environment.hasRoom(for: room) {
      try state.environment.growMap(headroom: 2 * room)
    }
    // Another process may have logged more than a group's room.
    return try growing(state) {
      let group = try WriteGroup(
        directory, state, head: head, horizon: horizon, catalog: directory.stateInUse.catalog)
      do {
        try directory.catchUp(&group.stateWriter, to: last ?? head.sequence)
        return group
      } catch {
        group.stateWriter.abort()
        throw error
      }
    }
  }
}
