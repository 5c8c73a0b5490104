/// For how long each step of a compaction may take the writer's turn, so that writers wait no
/// longer than about 5 ms for it.
///
/// Nobody knows beforehand what the commit will take: it depends on the pages touched, and that of
/// the log on the disk's flush. So a step gets 2 ms without its commit, and less after one that
/// took long.
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

extension CompactionRun {
  /// Takes the writer's turn for one of many steps, each as long as those before allow.
  func step(
    _ name: String, _ pace: inout StepPace, _ body: (_ duration: Duration) throws -> Void
  ) throws {
    let duration = pace.duration
    writer.stepBack()
    try writer.exclusively {
      let start = ContinuousClock.now
      try body(duration)
      let taken = ContinuousClock.now - start
      pace.note(taken)
      directory.options.compactionStepTook?(name, taken)
    }
  }

  /// Takes it for a step that comes once.
  func step<R>(_ name: String, _ body: () throws -> R) throws -> R {
    writer.stepBack()
    return try writer.exclusively {
      let start = ContinuousClock.now
      defer { directory.options.compactionStepTook?(name, .now - start) }
      return try body()
    }
  }
}
