import FoundationEssentials

/// A whole run: the planted bugs, then round after round of every trial, each round with seeds of
/// its own, until the time is over or someone asks for the end; then the table.
struct Session {
  private let arguments: Arguments
  let directory: String
  private let recorder: String
  private let controls: [Control]
  private var counts = Counts()

  /// A file that ends the run; workers look for it as well.
  private var stop: String { "\(directory)/stop" }

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    let variables = ProcessInfo.processInfo.environment
    recorder = arguments.setting.recorder
    guard System.exists(recorder) else { throw Failure("there is no recorder at '\(recorder)'") }
    controls = try Session.controls(arguments)
    let base = variables["TORTURE_PLACE"] ?? (System.exists("/dev/shm") ? "/dev/shm" : "/tmp")
    directory = "\(base)/cambium-torture-\(System.processNumber)"
    try System.makeDirectory(directory)
  }

  /// The planted bugs of a whole run, or the one that is asked for.
  private static func controls(_ arguments: Arguments) throws -> [Control] {
    let (setting, measure) = (arguments.setting, arguments.measure)
    let isPart = arguments.trial != nil || measure != nil && measure != .kinds
    if setting.bug.isEmpty && isPart { return [] }
    let all = try Control.all(listedIn: "\(setting.planted)/bugs", seed: setting.seed)
    let wanted = setting.bug.isEmpty ? all : all.filter { $0.bug == setting.bug }
    guard !wanted.isEmpty else { throw Failure("no bug '\(setting.bug)' was planted") }
    if !arguments.drawsBugs || wanted.count == 1 { return wanted }
    let drawn = Control.draw(from: wanted, seed: setting.seed)
    System.tell("planting \(drawn.count) of \(wanted.count) bugs, drawn by seed \(setting.seed)")
    return drawn
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

  /// - Returns: True if each kind of fault finds something that nothing else does.
  func measureKinds() throws -> Bool {
    var share = Cases.Share()
    share.stopsAtFirst = true
    return try Kinds(controls: controls) { try outcome($0, share) }.measure()
  }

  private mutating func runAll() -> Bool {
    let end = arguments.minutes.map { ContinuousClock.now + .seconds($0 * 60) }
    let isWhole = arguments.trial == nil
    if isWhole { runControls() }
    // A bug alone is looked for, and nothing else is tried.
    if isWhole && !arguments.setting.bug.isEmpty { return tellEnd() }
    if isWhole && end != nil { measureRecovery() }
    var round = 0
    repeat {
      for job in Job.round(round, arguments) where !isOver(end) { attempt(job) }
      round += 1
    } while end != nil && !isOver(end)
    return tellEnd()
  }

  /// - Returns: True if no promise was broken, and all was tried.
  private func tellEnd() -> Bool {
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
    let found = "\(result.cases) cases, \(result.violations.count) violations, \(rate)/s"
    System.tell("\(job): \(found)\(result.shape)")
    for violation in result.violations.prefix(5) {
      System.tell("  VIOLATION \(violation.text)")
      System.tell("    \(job.command) --case \(violation.number)")
    }
  }

  /// A workload that fails undisturbed is a violation, too.
  private func outcome(_ job: Job, _ share: Cases.Share) throws -> JobRun.Outcome {
    var setting = job.setting
    (setting.recorder, setting.planted) = (recorder, arguments.setting.planted)
    do { return try JobRun(job.trial, setting, share, in: directory).run() } catch {
      guard let violation = error as? Violation else { throw error }
      return JobRun.Outcome(cases: 1, violations: [(0, "\(violation)")])
    }
  }

  // MARK: Planted bugs, and a figure

  /// Plants each bug, and counts those that are found.
  private mutating func runControls() {
    for control in controls where !System.exists(stop) {
      counts.controls += 1
      if !control.jobs.allSatisfy({ finds(control.bug, $0) }) { counts.missed.append(control.bug) }
    }
  }

  /// Looks for a bug with the run's seed, and then with those of the rounds after it: for some bugs
  /// a seed decides if there is anything that they could show at, such as a checkpoint.
  private func finds(_ bug: String, _ job: Job) -> Bool {
    var tried: [String] = []
    for further in 0..<Session.seedsMax where !System.exists(stop) {
      let own = job.later(by: further)
      switch search(own) {
      case .found(let text, let milliseconds):
        let seed = further > 0 ? ", with seed \(own.setting.seed)" : ""
        System.tell("found after \(milliseconds) ms\(seed): \(bug): \(text.prefix(90))")
        return true
      case .missed(let reason): tried.append(reason)
      }
    }
    System.tell("MISSED: \(bug), \(tried.joined(separator: ", "))\n    \(job.command)")
    return false
  }

  private static let seedsMax: UInt64 = 8

  /// The end of a search for a planted bug.
  private enum Search {
    case found(String, milliseconds: Int)
    case missed(String)
  }

  private func search(_ job: Job) -> Search {
    var share = Cases.Share()
    share.stopsAtFirst = true
    let start = ContinuousClock.now
    do {
      let found = try outcome(job, share)
      guard let first = found.violations.first else { return .missed("\(found.cases) cases") }
      let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
      return .found(first.text, milliseconds: milliseconds)
    } catch { return .missed("\(error)") }
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
