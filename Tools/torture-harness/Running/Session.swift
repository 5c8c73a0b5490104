import FoundationEssentials

/// A whole run: the planted bugs, then round after round of every trial, each round with seeds of
/// its own, until the time is over or someone asks for the end; then the table.
struct Session {
  private let arguments: Arguments
  let directory: String
  private let recorder: String
  private var counts = Counts()

  /// A file that ends the run; workers look for it as well.
  private var stop: String { "\(directory)/stop" }

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    let variables = ProcessInfo.processInfo.environment
    recorder = arguments.setting.recorder
    guard System.exists(recorder) else { throw Failure("there is no recorder at '\(recorder)'") }
    let base = variables["TORTURE_PLACE"] ?? (System.exists("/dev/shm") ? "/dev/shm" : "/tmp")
    directory = "\(base)/cambium-torture-\(System.processNumber)"
    try System.makeDirectory(directory)
  }

  /// - Returns: True if no promise was broken, and all was tried.
  func run() -> Bool {
    var session = self
    // Whoever looks at one case wants to see its files.
    if arguments.share.only != nil { System.tell("the files stay in \(directory)") }
    defer { if arguments.share.only == nil { removeFiles() } }
    let signals = System.whenAskedToEnd { [stop] in try? System.makeFile(stop, [], [], size: 0) }
    return withExtendedLifetime(signals) { session.runAll() }
  }

  func removeFiles() { System.remove(directory) }

  private mutating func runAll() -> Bool {
    let end = arguments.minutes.map { ContinuousClock.now + .seconds($0 * 60) }
    let isWhole = arguments.trial == nil && arguments.setting.bug.isEmpty
    if isWhole { runControls() }
    if isWhole && end != nil { measureRecovery() }
    var round = 0
    repeat {
      for job in Job.round(round, arguments) where !isOver(end) { attempt(job) }
      round += 1
    } while end != nil && !isOver(end)
    System.tell("\(counts)")
    let isBrokenOff = System.exists(stop)
    if isBrokenOff { System.tell("broken off, as it was asked for") }
    return !counts.isBad && !isBrokenOff
  }

  private func isOver(_ end: ContinuousClock.Instant?) -> Bool {
    System.exists(stop) || end.map { ContinuousClock.now > $0 } ?? false
  }

  // MARK: Jobs

  /// Runs a job; one that breaks off does not end the run.
  private mutating func attempt(_ job: Job) {
    do { try run(job) } catch {
      counts.broken += 1
      System.tell("\(job): BROKEN OFF, \(error)\n    \(job.command)")
    }
  }

  private mutating func run(_ job: Job) throws {
    if let obstacle = job.trial.obstacle(in: directory) {
      counts.skipped += 1
      return System.tell("\(job): SKIPPED, \(obstacle)")
    }
    let start = ContinuousClock.now
    let result = try outcome(job, arguments.share)
    counts.cases[job.trial, default: 0] += result.cases
    counts.violations[job.trial, default: 0] += UInt64(result.violations.count)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    counts.seconds[job.trial, default: 0] += seconds
    let rate = Int(Double(result.cases) / max(seconds, 0.001))
    System.tell("\(job): \(result.cases) cases, \(result.violations.count) violations, \(rate)/s")
    for violation in result.violations.prefix(5) {
      System.tell("  VIOLATION \(violation.text)")
      System.tell("    \(job.command) --case \(violation.number)")
    }
  }

  /// A workload that fails undisturbed is a violation, too.
  private func outcome(_ job: Job, _ share: Cases.Share) throws -> JobRun.Outcome {
    var setting = job.setting
    setting.recorder = recorder
    do { return try JobRun(job.trial, setting, share, in: directory).run() } catch {
      guard let violation = error as? Violation else { throw error }
      return JobRun.Outcome(cases: 1, violations: [(0, "\(violation)")])
    }
  }

  // MARK: Planted bugs, and a figure

  /// Plants each bug, and counts those that are found.
  private mutating func runControls() {
    for control in Controls.all where !System.exists(stop) {
      let job = Controls.job(control, seed: arguments.setting.seed)
      counts.controls += 1
      do {
        if try !find(control.bug, job) { counts.missed += 1 }
      } catch {
        counts.missed += 1
        System.tell("MISSED: \(control.bug), \(error)\n    \(job.command)")
      }
    }
  }

  private func find(_ bug: String, _ job: Job) throws -> Bool {
    var share = Cases.Share()
    share.stopsAtFirst = true
    let start = ContinuousClock.now
    let found = try outcome(job, share)
    let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
    guard let first = found.violations.first else {
      System.tell("MISSED: \(bug) (\(found.cases) cases)\n    \(job.command)")
      return false
    }
    System.tell("found after \(milliseconds) ms: \(bug): \(first.text.prefix(90))")
    return true
  }

  /// Recovers a large database, and keeps what that took for the table.
  private mutating func measureRecovery() {
    do {
      var setting = Setting()
      setting.recorder = recorder
      let run = try RecordedRun(setting, in: "\(directory)/large")
      defer { System.remove(run.directory) }
      _ = try run.run("fill")
      let end = try run.run("reopen")
      guard end == .exited(0) else { throw Failure("\(end), \(run.output)") }
      counts.recovery = run.output.split(separator: "\n").joined(separator: " ")
    } catch {
      counts.broken += 1
      counts.recovery = "FAILED, \(error)"
    }
  }
}
