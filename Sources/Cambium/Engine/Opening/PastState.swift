// A state of its own, for a speculation that cannot run on the one in use: about a moment of the
// past, or in a database that is open for reading only.
//
//     the present                       the state in use, copied
//     a moment after the checkpoint     the checkpoint, and the records after it
//     an earlier moment                 the baseline, if there is one, and the records after it
//
// It is what a database that ends with that moment would have: tree, history, declarations, indexes
// and views.

import LMDB

/// Makes states that nobody else sees, and that go when they were used.
struct PastState {
  let directory: OpenDirectory
  let progress: ProgressReporter

  private var log: Log { directory.log }

  /// Lends a state.
  ///
  /// - Parameters:
  ///   - moment: A moment that can be read; nil for the newest.
  ///   - body: Takes the state, to which it may write.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; ``DatabaseError``, `CancellationError`.
  /// - Complexity: the present is copied; the past takes 1 to 5 µs for each operation after the
  ///   checkpoint or the baseline. Needs disk space for a second state, and memory for one step.
  func withState<R>(asOf moment: SequenceNumber?, _ body: (State) throws -> R) throws -> R {
    try Database.withScratch(of: directory, "past") { place in
      let state = try moment.map { try fold(upTo: $0, in: place) } ?? copy(in: place)
      defer { state.environment.close() }
      return try body(state)
    }
  }

  private func copy(in place: String) throws -> State {
    let newest = try directory.currentState().environment
    try EnvironmentCopy(of: newest, to: "\(place)/data.mdb").run()
    return try open(place)
  }

  private func open(_ place: String) throws -> State {
    let options = directory.options.environment(readOnly: false, isInUse: true)
    return try State(at: place, generation: 0, options)
  }

  private func fold(upTo moment: SequenceNumber, in place: String) throws -> State {
    var baseline = try log.read { try $0.baseline() }
    if let checkpoint = try Checkpoint.usable(directory, after: baseline.sequence),
      checkpoint.mark.sequence <= moment
    {
      do {
        return try fold(upTo: moment, in: "\(place)/checkpoint", from: checkpoint.copy)
      } catch let error as CancellationError {
        throw error
      } catch {
        // A newer one may have replaced it, and a damaged one is of no use.
      }
    }
    var attempt = 0
    while true {
      do {
        return try fold(upTo: moment, in: "\(place)/\(attempt)") {
          try Baseline.current(directory)?.makeState(in: $0)
        }
      } catch {
        // A compaction may have dropped what was being read.
        let newest = try log.read { try $0.baseline() }
        if newest == baseline { throw error }
        try log.read { try $0.checkReachable(moment) }
        baseline = newest
        attempt += 1
      }
    }
  }

  private func fold(
    upTo moment: SequenceNumber, in place: String, from start: (_ place: String) throws -> Void
  ) throws -> State {
    try Files.createDirectory(place)
    try start(place)
    let state = try open(place)
    do {
      var replay = try Replay(into: state, stepBytes: directory.options.stepSizes.replayBytes)
      try replay.run(log, upTo: moment, progress)
      return state
    } catch {
      state.environment.close()
      throw error
    }
  }
}
