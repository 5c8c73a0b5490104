import Simulation

/// A fault, and a loss of power after it: a call has done its work and reports an error, or has
/// not, or has lost for good what it was to make durable. `quota` is the number of faults; each is
/// followed by a loss of power at some moments, with some states each.
struct FaultLosses {
  let setting: Setting
  let checker: Checker

  private static let (moments, states) = (3, 3)

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    let kinds: [Faults.Kind] = [.lost, .late, .inputOutput, .full]
    for (number, order) in Faults.orders(recording.counted, setting, kinds).enumerated() {
      if cases.isOver { return }
      cases.next("fault \(order), and a loss of power") {
        try check(order, seed: UInt64(number), cases)
      }
    }
  }

  private func check(_ order: String, seed: UInt64, _ cases: Cases) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try run.endure(order, isRecording: true)
    let recording = try Recording(run.recordingFile)
    var random = SeededGenerator(seed: setting.seed &* 1_000 &+ seed, 47)
    let moments = CutOff.some(
      FaultLosses.moments, of: recording, on: Disk(setting.order, seed: random.next()),
      after: recording.index(ofCounted: Int(order.prefix { $0 != ":" }) ?? 1), &random)
    for moment in moments {
      for state in moment.states(FaultLosses.states, &random) {
        cases.addOne()
        do { try checker.check(moment.disk, state, moment.marks, in: setting.directory) } catch {
          throw Violation("at call \(moment.index), \(state.reason): \(error)")
        }
      }
    }
  }
}
