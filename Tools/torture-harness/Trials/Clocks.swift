import Cambium
import FoundationEssentials
import Simulation

/// Lets the time of day jump while a workload runs, forwards and backwards, and between processes:
/// recorded times must not go back, and each moment must be found by its time. `quota` is the
/// number of courses.
struct Clocks {
  let setting: Setting
  let checker: Checker

  private static let day = 86_400

  func run(_ cases: Cases) throws {
    let calls = try Recording(setting.recording).counted.count
    for index in 0..<setting.quota {
      var random = SeededGenerator(seed: setting.seed, 67 + UInt64(index))
      let jumps = Clocks.jumps(calls, &random)
      let later = Clocks.jumps(30, &random)
      if cases.isOver { return }
      cases.next("clock \(jumps), then \(later)") { try check(jumps, later) }
    }
  }

  /// An order for the recorder: the call from which on the time is shifted by so many seconds.
  private static func jumps(_ calls: Int, _ random: inout SeededGenerator) -> String {
    var places = (0..<random.below(5)).map { _ in 1 + random.below(max(calls, 1)) }
    places.append(0)
    return places.sorted().map { "\($0):\(shift(&random))" }.joined(separator: ",")
  }

  private static func shift(_ random: inout SeededGenerator) -> Int {
    let now = Int(Date().timeIntervalSince1970)
    switch random.below(8) {
    case 0: return 0
    case 1: return random.below(7200) - 3600
    case 2: return (random.below(800) - 400) * day
    // As on a device without a clock of its own, and before that.
    case 3: return 60 - now
    case 4: return -now - random.below(100 * 365) * day
    case 5: return (random.below(9_000) * 365) * day
    default: return (random.below(60) - 30) * 60
    }
  }

  private func check(_ jumps: String, _ later: String) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    for (command, clock) in [("workload", jumps), ("recover", later)] {
      try run.run(command, ["TORTURE_CLOCK": clock], endingWith: .exited(0))
    }
    try checkTimes(run.database)
    try checker.check(run.database, run.marks)
    try checkTimes(run.database)
  }

  /// Demands that times do not go back, and that the moment of a time is the last one of it.
  private func checkTimes(_ path: String) throws {
    let database = try Database(at: path, options: .roomy)
    var commits = try database.commits(after: try database.horizon)
    var times: [(number: SequenceNumber, time: Date)] = []
    while let commit = try commits.next() { times.append((commit.sequence, commit.time)) }
    for (old, new) in zip(times, times.dropFirst()) {
      try demand(
        old.time <= new.time,
        "\(new.number) is of \(new.time), \(old.number) before it of \(old.time)")
    }
    // Where the newest record is of the future, the last minute leads to it.
    for (number, time) in times where time < Date().addingTimeInterval(-100) {
      let last = times.last { $0.time <= time }?.number ?? number
      let found = try database.sequence(at: time)
      try demand(found == last, "at \(time), of \(last), the newest is said to be \(found)")
    }
    try database.close()
  }
}
