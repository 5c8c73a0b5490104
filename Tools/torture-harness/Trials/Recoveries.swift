import Simulation

/// Recoveries that are disturbed themselves: after a loss of power the database is opened, and
/// meanwhile the power goes again, or the disk fills up, or fails. `quota` is the number of
/// recoveries.
struct Recoveries {
  /// The kinds of disturbance.
  enum Disturbance { case powerLoss, fault }

  let setting: Setting
  let checker: Checker
  let disturbance: Disturbance

  private static let (moments, states, calls) = (4, 2, 40)
  private static let faults: [Faults.Kind] = [.full, .full, .full, .late, .lost, .inputOutput]

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    var random = SeededGenerator(seed: setting.seed, disturbance == .fault ? 53 : 59)
    let start = Disk(setting.order, seed: setting.seed)
    for moment in CutOff.some(setting.quota, of: recording, on: start, &random) {
      if cases.isOver { return }
      let seed = random.next()
      cases.next("call \(moment.index), and the recovery") { try check(moment, seed, cases) }
    }
  }

  private func check(_ moment: CutOff, _ seed: UInt64, _ cases: Cases) throws {
    var random = SeededGenerator(seed: seed)
    guard let state = moment.states(1, &random).first else { return }
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try moment.disk.write(state, to: run.root)
    var orders: [String: String] = [:]
    if disturbance == .fault {
      let (call, kind) = (1 + random.below(Recoveries.calls), random.pick(Recoveries.faults))
      orders["TORTURE_FAULT"] = "\(call):\(kind.rawValue):\(random.oneIn(2) ? "on" : "once")"
    }
    let end = try run.run("recover", orders, isRecording: true) {
      $0.start = Setting.laterStart
      $0.count = Int(moment.marks.acknowledged)
    }
    // A recovery that fails says why, and 2 is its end.
    guard end == .exited(0) || end == .exited(2) && disturbance == .fault else {
      throw Violation("\(state.reason); the recovery ended with \(end): \(run.output)")
    }
    let words = ["no space left: ", "the disk failed: "]
    try demand(
      end == .exited(0) || words.contains { run.output.contains($0) },
      "P6: a recovery fails with \(run.output)")
    let after = Disk(setting.order, seed: random.next(), after: state, of: moment.disk)
    if disturbance == .fault {
      try check(run, moment, "\(state.reason); \(orders["TORTURE_FAULT"] ?? "")")
    }
    let recording = try Recording(run.recordingFile)
    let again = CutOff.some(
      Recoveries.moments, of: recording, on: after, marks: moment.marks, &random)
    for second in again {
      for last in second.states(Recoveries.states, &random) {
        cases.addOne()
        do {
          try checker.check(
            second.disk, last, moment.marks, in: setting.directory, start: Setting.lastStart)
        } catch {
          throw Violation(
            "\(state.reason) \(orders); call \(second.index), \(last.reason): \(error)")
        }
      }
    }
  }

  /// Checks what a recovery that failed has left, once the disk works again.
  private func check(_ run: RecordedRun, _ moment: CutOff, _ reason: String) throws {
    var checker = checker
    checker.systemStart = Setting.laterStart
    do { try checker.check(run.database, moment.marks) } catch {
      throw Violation("\(reason): \(error)")
    }
  }
}
