import FoundationEssentials

/// Runs one job's cases in as many processes as there are processors; one that is killed by its
/// case is started again after that case, which counts as a violation.
struct JobRun {
  private let trial: Trial
  private let share: Cases.Share
  private let directory: String
  private let setting: Setting

  /// The number of cases that were run, and the violations that were found.
  struct Outcome {
    var cases: UInt64 = 0
    var violations: [(number: UInt64, text: String)] = []
  }

  init(_ trial: Trial, _ setting: Setting, _ share: Cases.Share, in directory: String) throws {
    self.trial = trial
    self.share = share
    self.directory = directory
    var setting = setting
    if trial.needsRecording && setting.recording.isEmpty {
      let run = try RecordedRun(setting, in: "\(directory)/recorded")
      let end = try run.run(trial == .fault ? "endure" : "workload", isRecording: true)
      guard end == .exited(0) else {
        throw Violation("the workload ended with \(end): \(run.output)")
      }
      setting.recording = run.recordingFile
    }
    self.setting = setting
  }

  func run() throws -> Outcome {
    let count = share.only == nil ? System.processors : 1
    var workers: [Worker] = []
    for index in 0..<count {
      var share = share
      share.stride = UInt64(count)
      share.first = UInt64(index)
      workers.append(try Worker(trial, setting, share, "\(directory)/worker-\(index)"))
    }
    var outcome = Outcome()
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
  private let trial: Trial
  private var setting: Setting
  private var share: Cases.Share
  private let directory: String
  private var child: ChildProcess
  private var starts = 1
  private var outcome = JobRun.Outcome()

  private static let startsMax = 50

  init(_ trial: Trial, _ setting: Setting, _ share: Cases.Share, _ directory: String) throws {
    System.remove(directory)
    try System.makeDirectory(directory)
    self.trial = trial
    self.setting = setting
    self.setting.directory = directory
    self.share = share
    self.directory = directory
    child = try Worker.start(trial, self.setting, share, 1)
  }

  private static func start(
    _ trial: Trial, _ setting: Setting, _ share: Cases.Share, _ number: Int
  ) throws -> ChildProcess {
    let only = share.only.map { ["--case", "\($0)"] } ?? []
    return try setting.start(
      ["trial", "--trial", trial.rawValue] + setting.arguments + [
        "--stride", "\(share.stride)", "--first", "\(share.first)",
        "--resume", "\(share.resumeAt)", "--stop", share.stopsAtFirst ? "yes" : "no",
        "--progress", "\(setting.directory)/progress",
      ] + only, [:], output: "\(setting.directory)/output-\(number)")
  }

  /// Waits for all cases; starts the process again after each that ended it.
  mutating func finish() throws -> JobRun.Outcome {
    while true {
      let end = child.wait()
      try readOutput()
      if end == .exited(0) { return outcome }
      let next = System.noted(0, in: "\(directory)/progress")
      guard case .killed = end, next > share.resumeAt, starts < Worker.startsMax else {
        let output = String(decoding: System.read("\(directory)/output-\(starts)"), as: UTF8.self)
        throw Failure("a worker ended with \(end): \(output.suffix(500))")
      }
      outcome.cases += System.noted(1, in: "\(directory)/progress")
      outcome.violations.append((next - 1, "the checking process ended with \(end)"))
      if share.stopsAtFirst { return outcome }
      share.resumeAt = next
      starts += 1
      child = try Worker.start(trial, setting, share, starts)
    }
  }

  private mutating func readOutput() throws {
    let text = String(decoding: System.read("\(directory)/output-\(starts)"), as: UTF8.self)
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
