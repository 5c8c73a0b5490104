import Simulation

/// Puts together every state in which a loss of power may leave the disk while a workload runs, and
/// opens it as after a start of the system. `quota` is the most states of one moment.
struct PowerLoss {
  let setting: Setting
  let checker: Checker

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    var disk = Disk(setting.order)
    var marks = Marks()
    var seen: Set<[Int]> = []
    for (index, call) in recording.calls.enumerated() {
      if call.kind == .mark { marks.read(call.bytes) }
      disk.run(call)
      run(cases, at: index, disk, marks, &seen)
      disk.settle(call)
    }
    // A disk stays for long as the last process has left it, so this moment is looked at closely.
    run(cases, at: recording.calls.count, disk, marks, &seen, times: 10)
  }

  /// Checks the states of one moment that no moment before has had.
  private func run(
    _ cases: Cases, at index: Int, _ disk: Disk, _ marks: Marks, _ seen: inout Set<[Int]>,
    times: Int = 1
  ) {
    var states = DiskStates(disk, SeededGenerator(seed: setting.seed, UInt64(index)))
    for state in states.all(quota: setting.quota * times) {
      if cases.isOver { return }
      guard seen.insert(identity(disk, state, marks)).inserted else { continue }
      cases.next("call \(index), \(state.reason)") { try check(disk, state, marks) }
    }
  }

  private func identity(_ disk: Disk, _ state: DiskState, _ marks: Marks) -> [Int] {
    disk.durableIdentity + [state.hashValue, marks.hashValue]
  }

  private func check(_ disk: Disk, _ state: DiskState, _ marks: Marks) throws {
    let place = "\(setting.directory)/state"
    System.remove(place)
    try disk.write(state, to: place)
    var checker = checker
    checker.systemStart = Setting.laterStart
    try checker.check("\(place)/test.cambium", marks)
  }
}
