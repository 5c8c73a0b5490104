// Beginning a group: the state must have folded in the whole log.

import LMDB

extension WriteGroup {
  /// Begins a group of writes; the writer's turn and lock must be held. A group that only catches
  /// up may set the position at which to stop.
  static func begin(
    in directory: OpenDirectory, catchingUpTo last: SequenceNumber? = nil
  ) throws -> WriteGroup {
    if last == nil { try directory.log.damage.checkNone() }
    var group = try directory.usingReserve { try open(in: directory, catchingUpTo: last) }
    if group.stateWriter.hasCaughtUp {
      // Committed separately, so that the state is never behind by more than one group: if it
      // cannot be written, nothing more is logged.
      try keep(group, caughtUpTo: last)
      group = try open(in: directory, catchingUpTo: last)
    }
    directory.ages.check()
    return group
  }

  /// Commits what a group has folded in. The commit itself may find the map full, since it writes
  /// counts and the list of free pages: then it is all folded in again.
  private static func keep(_ group: WriteGroup, caughtUpTo last: SequenceNumber?) throws {
    var next: WriteGroup? = group
    try growing(group.state) {
      let group = try next.take() ?? open(in: group.directory, catchingUpTo: last)
      do { try group.stateWriter.commit() } catch {
        group.stateWriter.abort()
        // If the state failed, the next opening uses a new generation.
        if group.state.environment.health.failure == nil { throw error }
        return
      }
      // One that stops before a damaged record is not at the log's head; the opening, which asks
      // for that, publishes it.
      if last == nil { group.directory.publish(group) }
    }
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
    // The log's newest records have just been looked at.
    if last == nil { try directory.log.damage.checkNone() }
    try state.makeRoom(for: directory.options.stepSizes.groupRoom)
    // Another process may have logged more than a group's room.
    return try growing(state) {
      let group = try WriteGroup(
        directory, state, head: head, horizon: horizon,
        catalog: directory.stateInUse.catalog(of: state))
      do {
        try group.stateWriter.catchUp(with: directory.log, to: last ?? head.sequence)
        return group
      } catch {
        group.stateWriter.abort()
        throw error
      }
    }
  }
}

extension StateWriter {
  /// Folds in the records after its position.
  mutating func catchUp(with log: Log, to head: SequenceNumber) throws {
    guard applied <= head else {
      throw DatabaseError.corrupt(
        reason: "the state is ahead of the log (\(applied) of \(head)); rebuild it")
    }
    // It is stored before anything is logged after it.
    if applied < head { try writeDirectly() }
    var records = RecordChain(log, after: applied, upTo: head)
    while let record = try records.next() {
      try apply(record)
      hasCaughtUp = true
    }
  }
}
