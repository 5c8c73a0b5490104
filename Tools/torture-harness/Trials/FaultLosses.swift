import Simulation

/// A fault, and a loss of power after it: a call has done its work and reports an error, or has
/// not, or has lost for good what it was to make durable. `quota` is the number of faults; each is
/// followed by a loss of power at some moments, with some states each.
struct FaultLosses {
  let setting: Setting
  let checker: Checker

  /// The moments soon after the fault, those right after a mark, when nothing later has made good
  /// what it acknowledges, those at any time, and the states of each. Two moments are always among
  /// them: the first acknowledgment after the fault, of a transaction that it may have struck, and
  /// the first of one that was begun after it, which may follow something lost.
  private static let (soon, marked, late, states) = (2, 1, 1, 2)
  /// The calls after a fault that are soon.
  private static let soonCount = 20
  /// The outcomes of a sync that gives up what it was to write.
  private static let outcomes = 4

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    let kinds: [Faults.Kind] = [.lost, .late, .inputOutput, .full]
    for (number, order) in Faults.orders(recording, setting, kinds).enumerated() {
      if cases.isOver { return }
      cases.next("fault \(order), and a loss of power") {
        try check(order, seed: UInt64(number), cases)
      }
    }
  }

  private func check(_ order: FaultOrder, seed: UInt64, _ cases: Cases) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try run.endure(order, isRecording: true)
    let recording = try Recording(run.recordingFile)
    var random = SeededGenerator(seed: setting.seed &* 1_000 &+ seed, 47)
    let first = recording.index(of: order)
    for _ in 0..<(order.kind == .lost ? FaultLosses.outcomes : 1) {
      try check(recording, after: first, &random, cases)
    }
  }

  /// Lets the power go at some moments of a recording, most of them soon after a call.
  private func check(
    _ recording: Recording, after first: Int, _ random: inout SeededGenerator, _ cases: Cases
  ) throws {
    let calls = Array(recording.calls.indices.dropFirst(first))
    let soon = Array(calls.prefix(FaultLosses.soonCount)).sample(FaultLosses.soon, &random)
    let marks = calls.filter { recording.calls[$0].kind == .mark }
    let begun = marks.drop { !recording.calls[$0].isMark("S") }
    let acknowledged = [marks[...], begun].compactMap { marks in
      marks.first { recording.calls[$0].isMark("A") }
    }
    let marked = acknowledged + marks.sample(FaultLosses.marked, &random)
    let late = calls.sample(FaultLosses.late, &random)
    let disk = Disk(setting.order, seed: random.next())
    for moment in CutOff.at(Set(soon + marked + late), of: recording, on: disk) {
      for state in moment.states(FaultLosses.states, &random) {
        cases.addOne()
        do { try checker.check(moment.disk, state, moment.marks, in: setting.directory) } catch {
          throw Violation("at call \(moment.index), \(state.reason): \(error)")
        }
      }
    }
  }
}
