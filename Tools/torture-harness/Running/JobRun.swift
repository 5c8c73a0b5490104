import FoundationEssentials

/// Runs one job's cases in as many processes as there are processors; one that is killed by its
/// case is started again after that case, which counts as a violation.
struct JobRun {
  private var arguments = Arguments()
  private let directory: String
  /// The size of the recorded database, for people; empty where none was recorded.
  private(set) var shape = ""

  /// The number of cases that were run, and the violations that were found.
  struct Outcome {
    var shape = ""
    var cases: UInt64 = 0
    var violations: [(number: UInt64, text: String)] = []
  }

  init(_ trial: Trial, _ setting: Setting, _ share: Cases.Share, in directory: String) throws {
    self.directory = directory
    (arguments.command, arguments.trial) = ("trial", trial)
    (arguments.setting, arguments.share) = (setting, share)
    arguments.setting.hasTimes = trial.hasTimes
    guard trial.needsRecording, setting.recording.isEmpty else { return }
    let run = try RecordedRun(arguments.setting, in: "\(directory)/recorded")
    let totals = ["TORTURE_TOTALS": "\(directory)/recorded/totals"]
    try run.run(trial.command, totals, isRecording: true, endingWith: .exited(0))
    arguments.setting.recording = run.recordingFile
    if let found = try? Shape(run.database) { shape = ", \(found)" }
  }

  func run() throws -> Outcome {
    let count = arguments.share.only == nil ? System.processors : 1
    var workers: [Worker] = []
    for index in 0..<count {
      var own = arguments
      (own.share.stride, own.share.first) = (UInt64(count), UInt64(index))
      own.setting.directory = "\(directory)/worker-\(index)"
      workers.append(try Worker(own))
    }
    var outcome = Outcome(shape: shape)
    for index in workers.indices {
      let own = try workers[index].finish()
      outcome.cases += own.cases
      outcome.violations += own.violations
    }
    return outcome
  }
}

/// One process that runs a share of a trial's cases.
private struct Worker {
  private var arguments: Arguments
  private var child: ChildProcess
  private var starts = 1
  private var outcome = JobRun.Outcome()

  private static let startsMax = 50

  init(_ arguments: Arguments) throws {
    let directory = arguments.setting.directory
    System.remove(directory)
    try System.makeDirectory(directory)
    self.arguments = arguments
    self.arguments.progress = "\(directory)/progress"
    child = try self.arguments.start([:], output: "\(directory)/output-1")
  }

  private var output: String { "\(arguments.setting.directory)/output-\(starts)" }

  /// Waits for all cases; starts the process again after each that ended it.
  mutating func finish() throws -> JobRun.Outcome {
    while true {
      let end = child.wait()
      try readOutput()
      if end == .exited(0) { return outcome }
      let next = System.noted(0, in: arguments.progress)
      guard case .killed = end, next > arguments.share.resumeAt, starts < Worker.startsMax else {
        let text = String(decoding: System.read(output), as: UTF8.self)
        throw Failure("a worker ended with \(end): \(text.suffix(500))")
      }
      outcome.cases += System.noted(1, in: arguments.progress)
      outcome.violations.append((next - 1, "the checking process ended with \(end)"))
      if arguments.share.stopsAtFirst { return outcome }
      arguments.share.resumeAt = next
      starts += 1
      child = try arguments.start([:], output: output)
    }
  }

  private mutating func readOutput() throws {
    let text = String(decoding: System.read(output), as: UTF8.self)
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 2)
      if words.count == 3, words[0] == "violation", let number = UInt64(words[1]) {
        outcome.violations.append((number, String(words[2])))
      } else if words.count == 3, words[0] == "cases", let count = UInt64(words[1]) {
        outcome.cases += count
      }
    }
  }
}
