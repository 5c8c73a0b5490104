import Simulation

/// Takes the file system away and mounts it again, without a start of the system: what could not be
/// written is lost, and nobody is told. Every other time the file system stays, but the system has
/// given up pages that it could not write, forgets them, and tells the next sync of that file.
/// `quota` is the number of moments.
struct Remounts {
  let setting: Setting
  let checker: Checker

  /// The states of one moment.
  private static let states = 5

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    var random = SeededGenerator(seed: setting.seed, 61)
    let start = Disk(.journal, seed: setting.seed)
    for moment in CutOff.some(setting.quota, of: recording, on: start, &random) {
      if cases.isOver { return }
      // A state that can be trusted shows that the system has given up what was not flushed.
      let (seed, isMounted) = (random.next(), random.oneIn(2) && setting.workload != .soon)
      cases.next("call \(moment.index), \(isMounted ? "pages given up" : "mounted again")") {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Remounts.states {
          cases.addOne()
          try check(moment, &random, isMounted)
        }
      }
    }
  }

  private func check(
    _ moment: CutOff, _ random: inout SeededGenerator, _ isMounted: Bool
  ) throws {
    var disk = moment.disk
    disk.dropSome(&random)
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try disk.write(disk.whole, to: run.root)
    var checker = checker
    checker.mount = isMounted ? nil : Setting.laterMount
    checker.losesUnflushed = true
    if isMounted {
      // The recorder makes the sync fail that the system would let fail.
      try run.run(
        "recover", ["TORTURE_FAULT": "1:LOST:once:/state-"], endingWith: .exited(0))
    }
    try checker.check(run.database, moment.marks)
  }
}
