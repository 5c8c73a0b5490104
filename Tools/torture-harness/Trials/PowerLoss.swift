import Simulation

/// Puts together every state in which a loss of power may leave the disk while a workload runs, and
/// opens it as after a start of the system. `quota` is the most states of one moment.
struct PowerLoss {
  let setting: Setting
  let checker: Checker

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    var disk = Disk(setting.order, seed: setting.seed)
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
      cases.next("call \(index), \(state.reason)") {
        try checker.check(disk, state, marks, in: setting.directory)
      }
    }
  }

  private func identity(_ disk: Disk, _ state: DiskState, _ marks: Marks) -> [Int] {
    disk.durableIdentity + [state.hashValue, marks.hashValue]
  }
}

extension Checker {
  /// Checks the state of a disk as after a start of the system.
  func check(
    _ disk: Disk, _ state: DiskState, _ marks: Marks, in directory: String,
    start: String = Setting.laterStart
  ) throws {
    let place = "\(directory)/state"
    System.remove(place)
    try disk.write(state, to: place)
    var checker = self
    checker.systemStart = start
    try checker.check("\(place)/test.cambium", marks)
  }
}

/// A moment of a recording at which the power goes: the disk, and the marks that were made by then.
struct CutOff {
  let index: Int
  let disk: Disk
  let marks: Marks

  /// Some moments of a recording, and its end; in order.
  static func some(
    _ count: Int, of recording: Recording, on start: Disk, marks: Marks = Marks(),
    _ random: inout SeededGenerator
  ) -> [CutOff] {
    let wanted = Array(recording.calls.indices).sample(count, &random)
    return at(Set(wanted), of: recording, on: start, marks: marks)
  }

  /// The moments of some calls of a recording, and its end; in order.
  static func at(
    _ wanted: Set<Int>, of recording: Recording, on start: Disk, marks: Marks = Marks()
  ) -> [CutOff] {
    var (disk, marks) = (start, marks)
    let calls = recording.calls
    var moments: [CutOff] = []
    for (index, call) in calls.enumerated() {
      if call.kind == .mark { marks.read(call.bytes) }
      disk.run(call)
      if wanted.contains(index) { moments.append(CutOff(index: index, disk: disk, marks: marks)) }
      disk.settle(call)
    }
    return moments + [CutOff(index: calls.count, disk: disk, marks: marks)]
  }

  /// Some of the states in which the disk may be.
  func states(_ count: Int, _ random: inout SeededGenerator) -> [DiskState] {
    var states = DiskStates(disk, SeededGenerator(seed: random.next()))
    return states.all(quota: count)
  }
}
