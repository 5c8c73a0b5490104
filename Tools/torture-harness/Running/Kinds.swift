/// Shows that each kind of fault is worth its trial: there is a planted bug that it finds, and that
/// no trial finds which does without it.
///
/// A trial that puts faults together contains those of others: what a loss of power shows, one
/// after a fault may show too. Only trials that do not contain the bug's are its rivals.
struct Kinds {
  let controls: [Control]
  /// Runs a job until its first violation.
  let outcome: (Job) throws -> JobRun.Outcome

  /// The most that a rival tries of what its quota counts.
  private static let quotaMax = 500

  /// Prints for each bug how many cases its rivals have tried.
  ///
  /// - Returns: True if each bug was found by its own trial, and by no rival.
  func measure() throws -> Bool {
    var isProven = true
    for control in controls where control.isOnly {
      for job in control.jobs { isProven = try measure(control.bug, job) && isProven }
    }
    return isProven
  }

  private func measure(_ bug: String, _ job: Job) throws -> Bool {
    let own = try outcome(job)
    var isOnly = !own.violations.isEmpty
    var words: [String] = []
    for rival in rivals(of: job) {
      let other = try outcome(rival)
      let name = [rival.trial.rawValue, rival.setting.fault?.rawValue].compactMap { $0 }
      words.append("\(name.joined(separator: " ")) \(other.cases)")
      if let first = other.violations.first {
        isOnly = false
        System.tell("\(bug): FOUND by \(rival): \(first.text)\n    \(rival.command)")
      }
    }
    if own.violations.isEmpty { System.tell("\(bug): MISSED by \(job), \(own.cases) cases") }
    let verdict = isOnly ? "only by" : "NOT only by"
    System.tell("\(bug): \(verdict) \(job); rivals: \(words.joined(separator: ", "))")
    return isOnly
  }

  /// The jobs that try the same bug without the fault that it needs, smaller than in a round.
  private func rivals(of job: Job) -> [Job] {
    var rivals: [Job] = []
    for trial in Trial.allCases where trial != .space && !trial.contains(job.trial) {
      rivals.append(rival(of: job, trial, fault: nil))
    }
    guard let own = job.setting.fault else { return rivals }
    for fault in Faults.Kind.allCases where fault != own {
      rivals.append(rival(of: job, job.trial, fault: fault))
    }
    return rivals
  }

  private func rival(of job: Job, _ trial: Trial, fault: Faults.Kind?) -> Job {
    var setting = job.setting
    setting.fault = fault
    if !trial.workloads.contains(setting.workload) { setting.workload = trial.workloads[0] }
    setting.quota = max(1, min(trial.quota(setting.workload) / 4, Kinds.quotaMax))
    return Job(trial: trial, setting: setting)
  }
}

extension Trial {
  /// True if a trial's faults are among those of this one.
  fileprivate func contains(_ other: Trial) -> Bool {
    switch self {
    case other: true
    case .loss: [.power, .fault].contains(other)
    case .twice: other == .power
    case .brim: [.power, .fault, .twice].contains(other)
    default: false
    }
  }
}
