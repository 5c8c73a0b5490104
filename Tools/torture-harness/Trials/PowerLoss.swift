/// Puts together every state in which a loss of power may leave the disk while a workload runs, and
/// opens it as after a start of the system. `quota` is the most states of one moment.
struct PowerLoss {
  private let setting: Setting
  private let place: String
  private let checker: Checker

  init(_ setting: Setting) {
    self.setting = setting
    place = "\(setting.directory)/state"
    var checker = Checker(script: setting.script)
    checker.bugs = setting.bugs
    checker.systemStart = Setting.laterStart
    self.checker = checker
  }

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording, root: RecordedRun.root(of: setting.recording))
    var disk = Disk(setting.order)
    var marks = Marks()
    var seen: Set<[Int]> = []
    for (index, call) in recording.calls.enumerated() {
      if call.kind == .mark { marks.read(call.bytes) }
      disk.run(call)
      var states = DiskStates(disk, SeededGenerator(seed: setting.seed, UInt64(index)))
      for state in states.all(quota: setting.quota) {
        if cases.isOver { return }
        guard seen.insert(identity(disk, state, marks)).inserted else { continue }
        cases.next("call \(index), \(state.reason)") { [disk, marks] in
          try check(disk, state, marks)
        }
      }
      disk.settle(call)
    }
  }

  private func identity(_ disk: Disk, _ state: DiskState, _ marks: Marks) -> [Int] {
    disk.durableIdentity
      + [state.hashValue, Int(marks.acknowledged), Int(marks.most), marks.isCreated ? 1 : 0]
  }

  private func check(_ disk: Disk, _ state: DiskState, _ marks: Marks) throws {
    System.remove(place)
    try disk.write(state, to: place)
    try checker.check("\(place)/test.cambium", marks)
  }
}

extension RecordedRun {
  /// The directory that a recording is of.
  static func root(of recording: String) -> String {
    String(recording.dropLast("recording".count)) + "disk"
  }
}
