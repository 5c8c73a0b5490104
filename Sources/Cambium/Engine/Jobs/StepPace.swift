import LMDB

/// The time for which each step of background work may take the writer's turn, so that writers wait
/// no longer than about 5 ms for it.
///
/// The duration of the commit cannot be predicted: it depends on the pages touched, and that of the
/// log on the disk's flush. So a step gets 2 ms without its commit, and less after one that took
/// long.
struct StepPace {
  /// The time for the next step, without its commit.
  private(set) var duration = StepPace.longest

  private static let longest = Duration.milliseconds(2)
  private static let shortest = Duration.microseconds(250)
  /// The time that a step may take with its commit before the next one gets less.
  private static let limit = Duration.milliseconds(4)

  /// Adjusts the pace to the time that a step took, with its commit.
  mutating func note(_ taken: Duration) {
    duration =
      taken > StepPace.limit
      ? max(duration / 2, StepPace.shortest) : min(duration * 5 / 4, StepPace.longest)
  }
}

extension Writer {
  /// Takes the writer's turn for one of many steps, with a duration that depends on the previous
  /// ones. Waiting writes of this process go first.
  func step<R>(
    _ name: String, _ pace: inout StepPace, _ body: (_ end: ContinuousClock.Instant) throws -> R
  ) throws -> R {
    stepBack()
    return try exclusively {
      let start = ContinuousClock.now
      let result = try body(start + pace.duration)
      let taken = ContinuousClock.now - start
      pace.note(taken)
      directory.options.stepTook?(name, taken)
      return result
    }
  }
}

extension OpenDirectory {
  /// The state in use, with all commits in its file and room for a step of background work; the
  /// writer's turn must be held.
  func stateForStep() throws -> (state: State, horizon: SequenceNumber) {
    let (state, head, horizon) = try prepareState()
    try usingReserve(of: state) { try state.behind.write() }
    // Another process may have commits in memory, which it drops once somebody else has committed.
    if try state.environment.isShared && state.applied() < head.sequence {
      _ = try WriteGroup.begin(in: self).commit()
    }
    try state.environment.growMap(headroom: 64 << 20)
    return (state, horizon)
  }
}
