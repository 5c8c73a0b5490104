import FoundationEssentials
import Simulation

/// The setting of a trial: which workload and seed, how much, where, and with which planted bug.
struct Setting: Codable, Sendable {
  var workload = Workload.single
  var seed: UInt64 = 1
  /// The amount of the trial that is wanted; each trial says what it counts.
  var quota = 1
  var order = Disk.NameOrder.strict
  /// The only kind of fault that is wanted; nil for all.
  var fault: Faults.Kind?
  /// The name of the bug that this trial must find, in a process that has it; none usually.
  var bug = ""
  /// A directory of this trial's own.
  var directory = ""
  /// A recording that was made before; otherwise one is made.
  var recording = ""
  /// The recorder, as a library to be preloaded.
  var recorder = ""
  /// The directory of the program that has the planted bugs, and of their list.
  var planted = ""
  /// True if records get the times of the script, and not the system's.
  var hasTimes = true

  /// The sizes that follow from the seed.
  var sizes: Sizes { Sizes(workload, seed: seed, isTight: !bug.isEmpty) }
  var script: Script { workload.script(seed: seed, sizes) }

  /// The system start after a loss of power, and after a second one.
  static let laterStart = "after the loss of power"
  static let lastStart = "after the second loss of power"
  /// The mount that follows when a file system was taken away.
  static let laterMount = "unique later"
}

extension Array {
  /// So many of the elements, in random order; all of them as they are where there are no more.
  func sample(_ count: Int, _ random: inout SeededGenerator) -> [Element] {
    self.count > count ? Array(shuffled(using: &random).prefix(count)) : self
  }
}

/// A run of a workload under the recorder, in a directory of its own.
struct RecordedRun {
  let setting: Setting
  let directory: String

  /// Where the database goes.
  var root: String { "\(directory)/disk" }
  var database: String { "\(root)/test.cambium" }
  var marksFile: String { "\(directory)/marks" }
  var recordingFile: String { "\(directory)/recording" }

  /// The marks that the workload has made so far.
  var marks: Marks {
    var marks = Marks()
    marks.read(System.read(marksFile))
    return marks
  }

  init(_ setting: Setting, in directory: String) throws {
    self.setting = setting
    self.directory = directory
    System.remove(directory)
    try System.makeDirectory(directory)
    try System.makeDirectory(root)
  }

  /// Runs the workload's processes to their ends. The first runs the command and gets the orders,
  /// `TORTURE_KILL` or `TORTURE_FAULT`; how it ended is the result.
  func run(
    _ command: String, _ orders: [String: String] = [:], isRecording: Bool = false,
    _ change: (inout Arguments) -> Void = { _ in }
  ) throws -> ChildProcess.End {
    let recording = isRecording ? ["TORTURE_RECORDING": recordingFile] : [:]
    var children: [ChildProcess] = []
    children.append(try start(command, recording.merging(orders) { $1 }, change))
    if ["workload", "endure", "starve"].contains(command) {
      for _ in 1..<setting.workload.processes { children.append(try start("workload", recording)) }
    }
    let ends = children.map { $0.wait() }
    for end in ends.dropFirst() where end != .exited(0) {
      throw Violation("the other process ended with \(end): \(output)")
    }
    return ends[0]
  }

  /// Runs a command as ``run(_:_:isRecording:_:)`` does, and demands that it ends in one of these
  /// ways.
  func run(
    _ command: String, _ orders: [String: String] = [:], isRecording: Bool = false,
    endingWith ends: ChildProcess.End..., change: (inout Arguments) -> Void = { _ in }
  ) throws {
    let end = try run(command, orders, isRecording: isRecording, change)
    try demand(ends.contains(end), "\(command) ended with \(end): \(output)")
  }

  /// Starts one process, under the recorder.
  func start(
    _ command: String, _ orders: [String: String] = [:],
    _ change: (inout Arguments) -> Void = { _ in }
  ) throws -> ChildProcess {
    var arguments = Arguments()
    (arguments.command, arguments.setting) = (command, setting)
    (arguments.path, arguments.marks) = (database, marksFile)
    change(&arguments)
    var variables = ["LD_PRELOAD": setting.recorder, "TORTURE_ROOT": root]
    variables["TORTURE_MARKS"] = marksFile
    return try arguments.start(variables.merging(orders) { $1 }, output: "\(directory)/output")
  }

  /// The text that the processes have printed.
  var output: String { String(decoding: System.read("\(directory)/output"), as: UTF8.self) }
}
