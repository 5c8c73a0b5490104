import Simulation

/// Kills a workload before, in the middle of and after each durable call, and opens what is left in
/// the same system start. Every third time the recovery is killed first. `quota` is the most cases.
struct Kills {
  let setting: Setting
  let checker: Checker

  /// When a process is killed: at a call, and where in it.
  struct Moment: CustomStringConvertible {
    let call: Int
    let when: String
    /// The durable call of the recovery at which that is killed.
    var again: Int?

    var description: String { "\(call):\(when)" + (again.map { ", again at \($0)" } ?? "") }
  }

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    cases.next("a killed reader") { try KilledReader(setting: setting).check() }
    for moment in moments(recording.counted) {
      if cases.isOver { return }
      cases.next("kill \(moment)") { try check(moment) }
    }
  }

  private func moments(_ calls: [Recording.Call]) -> [Moment] {
    var random = SeededGenerator(seed: setting.seed, 11)
    var moments: [Moment] = []
    for (index, call) in calls.enumerated() {
      for when in call.kind == .write ? ["before", "half", "after"] : ["before", "after"] {
        let again = random.oneIn(3) ? 1 + random.below(24) : nil
        moments.append(Moment(call: index + 1, when: when, again: again))
      }
    }
    return moments.sample(setting.quota, &random)
  }

  private func check(_ moment: Moment) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    // Threads may take another course than on record, and so make fewer calls.
    try run.run(
      "workload", ["TORTURE_KILL": "\(moment.call):\(moment.when)"],
      endingWith: .killed(9), .exited(0))
    var checker = checker
    checker.mayRebuild = moment.again != nil || setting.workload.rebuilds
    if let again = moment.again {
      checker.systemStart = Setting.laterStart
      try run.run(
        "recover", ["TORTURE_KILL": "\(again):half"], endingWith: .killed(9), .exited(0)
      ) { $0.start = Setting.laterStart }
    }
    try checker.check(run.database, run.marks)
  }
}
