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

  /// Begins a group that is always aborted. It leaves no trace in the files, unless the state must
  /// fold in records first.
  static func beginSpeculation(in directory: OpenDirectory) throws -> WriteGroup {
    try directory.log.damage.checkNone()
    let group = try open(in: directory, catchingUpTo: nil, commits: false)
    if !group.stateWriter.hasCaughtUp { return group }
    group.stateWriter.abort()
    return try begin(in: directory)
  }

  private static func open(
    in directory: OpenDirectory, catchingUpTo last: SequenceNumber?, commits: Bool = true
  ) throws -> WriteGroup {
    let (state, head, horizon) = try directory.prepareState(commits: commits)
    try state.makeRoom(for: directory.options.stepSizes.groupRoom)
    // Another process may have logged more than a group's room.
    return try growing(state) {
      let group = try WriteGroup(
        directory, state, head: head, horizon: horizon,
        catalog: directory.stateInUse.catalog(of: state))
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
