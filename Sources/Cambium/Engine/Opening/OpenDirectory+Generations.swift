// Making a new generation of the state from the log.
//
//     checkpoint or baseline, if there is one
//       -> state-<n+1>.tmp, into which the rest of the log is folded
//       -> state-<n+1>, named in the log's mark
//       -> the old generation is released, and removed once no snapshot holds it
//
// It happens when a database whose state cannot be trusted is opened, on request, and after writing
// the state has failed: the log is sound then, and is all that is needed.

import LMDB

extension OpenDirectory {
  /// The outcome of making a generation.
  enum Generation {
    /// It is published in the mark, and the one in use.
    case published(StateMark)
    /// The log is damaged: the part before the damage was folded into a directory that nothing
    /// names yet.
    case partial(directory: String, generation: UInt64, damage: DatabaseError)
  }

  /// Folds the log into a new generation, and publishes it; the writer's turn and lock must be
  /// held.
  ///
  /// - Parameters:
  ///   - mark: The mark of the present generation, which stays in use until the new one is
  ///     complete.
  ///   - head: The log's head.
  ///   - isRecovery: True to start from the checkpoint, and to stop at damage. A user who requests
  ///     a rebuild may distrust earlier folding, and the checkpoint with it.
  ///   - progress: As in ``Database/rebuild(progress:)``.
  /// - Returns: The new generation, or the part of it that a damaged log gives.
  /// - Throws: ``DatabaseError``, `CancellationError`. The old generation stays in use then.
  func makeGeneration(
    after mark: StateMark?, _ head: LogHead, isRecovery: Bool, _ progress: ProgressHandler?
  ) throws -> Generation {
    let generation = (mark?.generation ?? 0) + 1
    unused.sweep()
    let temporary = "\(State.directory(generation)).tmp"
    let damage = try fill(temporary, generation, upTo: head.sequence, isRecovery, progress)
    if let damage {
      return .partial(directory: "\(path)/\(temporary)", generation: generation, damage: damage)
    }
    try Files.rename("\(path)/\(temporary)", to: "\(path)/\(State.directory(generation))")
    let mark = StateMark(
      generation: generation, isClean: false, boot: trust.boot, mount: trust.mount)
    try log.amend { log in
      try log.setStateMark(mark)
      if !isRecovery { try log.setCheckpoint(nil) }
    }
    stateInUse.release()
    unused.sweep()
    return .published(mark)
  }

  /// Replaces a generation that can no longer be written by a new one.
  ///
  /// - Throws: ``DatabaseError``; the old generation stays in use for reading.
  func replaceGeneration(
    _ mark: StateMark, _ head: LogHead, because failure: StorageError
  ) throws -> StateMark {
    switch try makeGeneration(after: mark, head, isRecovery: true, nil) {
    case .published(let mark):
      report(.stateRebuilt(reason: "writing it failed: \(failure)"))
      publish(head.sequence)
      return mark
    case .partial(let directory, _, let damage):
      try? Files.removeDirectory(directory)
      throw damage
    }
  }

  /// Makes a state in a directory of its own. A recovery starts from a readable checkpoint if there
  /// is one, and ends at damage in the log. Otherwise everything after the baseline is folded, and
  /// damage is thrown.
  ///
  /// - Returns: The damage of the record after the last that was folded in, if any.
  private func fill(
    _ directory: String, _ generation: UInt64, upTo head: SequenceNumber, _ isRecovery: Bool,
    _ progress: ProgressHandler?
  ) throws -> DatabaseError? {
    let baseline = try log.readNewest { try Baseline.current(self, $0) }
    let start = baseline?.mark.sequence ?? .zero
    if isRecovery, let checkpoint = try Checkpoint.usable(self, after: start) {
      do {
        return try fill(
          directory, generation, upTo: head, isRecovery, progress, copy: checkpoint.copy)
      } catch let error as CancellationError {
        throw error
      } catch {
        report(
          .checkpointFailed(
            "the one of \(checkpoint.mark.sequence) is of no use: "
              + DatabaseError.reason(of: error)))
      }
    }
    return try fill(directory, generation, upTo: head, isRecovery, progress) {
      try baseline?.makeState(in: $0)
    }
  }

  private func fill(
    _ directory: String, _ generation: UInt64, upTo head: SequenceNumber, _ isRecovery: Bool,
    _ progress: ProgressHandler?, copy: (_ directory: String) throws -> Void
  ) throws -> DatabaseError? {
    try Files.createDirectory("\(path)/\(directory)")
    do {
      try copy("\(path)/\(directory)")
      let state = try openState(directory, generation)
      defer { state.environment.close() }
      var replay = try Replay(into: state, stepBytes: options.stepSizes.replayBytes)
      return try replay.run(
        log, upTo: head, stopsAtDamage: isRecovery, ProgressReporter(progress))
    } catch {
      try? Files.removeDirectory("\(path)/\(directory)")
      throw error
    }
  }
}
