import FoundationEssentials

/// A whole run: round after round of every trial, each round with seeds of its own, until the time
/// is over; then the table.
struct Session {
  private let arguments: Arguments
  private let directory: String
  private let recorder: String
  private var counts = Counts()

  /// What was run, and what was found.
  struct Counts {
    var cases: [Trial: UInt64] = [:]
    var violations: [Trial: UInt64] = [:]
    var seconds: [Trial: Double] = [:]
    /// Jobs that cannot be run here.
    var skipped = 0
    /// Planted bugs, and those that were not found.
    var controls: UInt64 = 0
    var missed: UInt64 = 0

    /// Whether a promise was broken, or a planted bug not found.
    var isBad: Bool { missed > 0 || violations.values.contains { $0 > 0 } }
  }

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    let variables = ProcessInfo.processInfo.environment
    recorder = arguments.setting.recorder
    guard System.exists(recorder) else { throw Failure("there is no recorder at '\(recorder)'") }
    let base = variables["TORTURE_PLACE"] ?? (System.exists("/dev/shm") ? "/dev/shm" : "/tmp")
    directory = "\(base)/cambium-torture-\(System.processNumber)"
    try System.makeDirectory(directory)
  }

  /// - Returns: Whether no promise was broken.
  func run() throws -> Bool {
    var session = self
    // Whoever looks at one case wants to see its files.
    if arguments.share.only != nil { System.tell("the files stay in \(directory)") }
    defer { if arguments.share.only == nil { System.remove(directory) } }
    return try session.runRounds()
  }

  private mutating func runRounds() throws -> Bool {
    let start = ContinuousClock.now
    let end = arguments.minutes.map { start + .seconds($0 * 60) }
    var seed = arguments.setting.seed
    repeat {
      for job in Job.round(arguments, seed: seed) {
        if let end, ContinuousClock.now > end { break }
        try run(job)
      }
      seed += 1
    } while end.map { ContinuousClock.now < $0 } ?? false
    if arguments.trial == nil && arguments.setting.bug.isEmpty { try runControls() }
    printTable()
    return !counts.isBad
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

  /// Plants each bug, and counts those that are found.
  private mutating func runControls() throws {
    var share = Cases.Share()
    share.stopsAtFirst = true
    for control in Controls.all {
      let start = ContinuousClock.now
      let job = Controls.job(control, seed: arguments.setting.seed)
      let found = try outcome(job, share)
      counts.controls += 1
      let seconds = Int((ContinuousClock.now - start) / .milliseconds(1))
      guard let first = found.violations.first else {
        counts.missed += 1
        System.tell("MISSED: \(control.bug) (\(found.cases) cases)\n    \(job.command)")
        continue
      }
      System.tell("found after \(seconds) ms: \(control.bug): \(first.text.prefix(90))")
    }
  }

  private func printTable() {
    System.tell("\ntrial        cases  violations  seconds")
    for trial in Trial.allCases where counts.cases[trial] != nil {
      let columns = [
        "\(counts.cases[trial] ?? 0)", "\(counts.violations[trial] ?? 0)",
        "\(Int(counts.seconds[trial] ?? 0))",
      ]
      let widths = [9, 12, 9]
      let cells = zip(columns, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }
      let name = trial.rawValue + String(repeating: " ", count: 12 - trial.rawValue.count)
      System.tell(name + cells.joined())
    }
    if counts.skipped > 0 { System.tell("skipped: \(counts.skipped)") }
    if counts.controls > 0 {
      System.tell("planted bugs found: \(counts.controls - counts.missed) of \(counts.controls)")
    }
  }
}

/// A trial with one workload and seed.
struct Job: CustomStringConvertible {
  let trial: Trial
  let setting: Setting

  var description: String {
    let names = trial == .power ? ", \(setting.order.rawValue) names" : ""
    return "\(trial.rawValue) \(setting.workload.rawValue), seed \(setting.seed)\(names)"
  }

  /// What runs it again.
  var command: String {
    "Tools/torture --trial \(trial.rawValue) --workload \(setting.workload.rawValue)"
      + " --seed \(setting.seed) --quota \(setting.quota)"
      + (trial == .power ? " --names \(setting.order.rawValue)" : "")
      + (setting.bug.isEmpty ? "" : " --bug '\(setting.bug)'")
  }

  /// The jobs of one round; or the one that was asked for.
  static func round(_ arguments: Arguments, seed: UInt64) -> [Job] {
    var jobs: [Job] = []
    for trial in Trial.allCases where arguments.trial.map({ $0 == trial }) ?? true {
      for (index, workload) in trial.workloads.enumerated()
      where arguments.workload.map({ $0 == workload }) ?? true {
        var setting = arguments.setting
        setting.workload = workload
        setting.seed = seed
        if arguments.trial == nil || setting.quota == 1 {
          setting.quota = max(1, Int(Double(trial.quota(workload)) * arguments.scale))
          if arguments.trial == nil {
            setting.order = (index + Int(seed)) % 2 == 0 ? .strict : .journal
          }
        }
        jobs.append(Job(trial: trial, setting: setting))
      }
    }
    return jobs
  }
}

extension Trial {
  /// What it is run on.
  var workloads: [Workload] {
    switch self {
    case .power, .kill: Workload.allCases
    case .fault: [.single, .large]
    case .space: [.large]
    case .corruption: [.single, .large]
    }
  }

  /// How much of it one round takes; see each trial for what it means.
  func quota(_ workload: Workload) -> Int {
    switch self {
    case .power: 16
    case .kill: 180
    case .fault: 2000
    case .space: 60
    case .corruption: 1000
    }
  }
}
