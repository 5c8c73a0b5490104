/// A trial with one workload and seed.
struct Job: CustomStringConvertible {
  let trial: Trial
  let setting: Setting

  var description: String {
    let names = trial.losesPower ? ", \(setting.order.rawValue) names" : ""
    let workload = trial.workloads.count > 1 ? " \(setting.workload.rawValue)" : ""
    let fault = setting.fault.map { " \($0.rawValue)" } ?? ""
    return "\(trial.rawValue)\(workload)\(fault), seed \(setting.seed)\(names)"
  }

  /// The command line that runs it again.
  var command: String {
    "Tools/torture --trial \(trial.rawValue) --workload \(setting.workload.rawValue)"
      + " --seed \(setting.seed) --quota \(setting.quota)"
      + (trial.losesPower ? " --names \(setting.order.rawValue)" : "")
      + (setting.fault.map { " --fault \($0.rawValue)" } ?? "")
      + (setting.bug.isEmpty ? "" : " --bug '\(setting.bug)'")
  }

  /// The same job some rounds later.
  func later(by rounds: UInt64) -> Job {
    var setting = setting
    setting.seed += rounds
    return Job(trial: trial, setting: setting)
  }

  /// The jobs of a round, counted from zero; or the one that was asked for.
  static func round(_ number: Int, _ arguments: Arguments) -> [Job] {
    var jobs: [Job] = []
    for trial in Trial.allCases where arguments.trial.map({ $0 == trial }) ?? true {
      let turns = number + Int(arguments.setting.seed % 3)
      let turn = arguments.workload.map { [$0] } ?? trial.workloads(inRound: number, turn: turns)
      for (index, workload) in turn.enumerated() {
        var setting = arguments.setting
        setting.workload = workload
        setting.seed += UInt64(number)
        if arguments.trial == nil || setting.quota == 1 {
          setting.quota = max(1, Int(Double(trial.quota(workload)) * arguments.scaleOfRounds))
          if arguments.scaleOfRounds < 1 { setting.quota = min(setting.quota, trial.smallQuotaMax) }
        }
        if arguments.trial == nil {
          setting.order = (index + Int(setting.seed)) % 2 == 0 ? .strict : .journal
        }
        jobs.append(Job(trial: trial, setting: setting))
      }
    }
    return jobs
  }
}

extension Workload {
  /// True if judging what is left of it takes longer than usual.
  fileprivate var isDear: Bool {
    [.backup, .erase, .migrate, .undone, .photos, .tags].contains(self)
  }

  /// The workloads of which a round takes one.
  fileprivate static let inTurn: [Workload] = [.undone, .photos, .tags]
}

extension Trial {
  /// The workloads that it is run on.
  var workloads: [Workload] {
    switch self {
    case .power, .kill, .fault, .loss, .twice, .brim, .remount, .clock: Workload.allCases
    // Its own run reads, maintains and writes, whatever the workload.
    case .memory: [.single, .large]
    case .corruption: [.single, .large, .migrate, .tags, .photos]
    case .space, .feed, .schedule, .live: [.single]
    }
  }

  /// True if names become durable in one of two orders.
  var losesPower: Bool { [.power, .loss, .twice, .brim].contains(self) }

  /// The workloads of one round: faults take two at first, then one in turn; the other disturbances
  /// of one in turn take three; the others take those of ``Workload/inTurn`` in turn, of which the
  /// first is by the seed.
  func workloads(inRound number: Int, turn: Int) -> [Workload] {
    switch self {
    case .fault:
      return number == 0 ? [.single, .large] : [workloads[(number + 3) % workloads.count]]
    case .loss, .twice, .brim, .remount, .clock:
      return (0..<3).map { workloads[(turn + $0 * 4 + 1) % workloads.count] }
    default:
      let inTurn = workloads.filter(Workload.inTurn.contains)
      if inTurn.isEmpty { return workloads }
      return workloads.filter { !inTurn.contains($0) } + [inTurn[turn % inTurn.count]]
    }
  }

  /// The most that a round takes that is not at full size: a sample, where that takes all, or much.
  var smallQuotaMax: Int {
    switch self {
    case .fault: 500
    case .loss: 24
    case .twice, .brim: 14
    case .remount: 18
    case .memory: 36
    default: .max
    }
  }

  /// The quota of one round at full size; each trial says what its quota counts.
  func quota(_ workload: Workload) -> Int {
    switch self {
    // With backups and erasures more is opened in each case than one database.
    case .power: workload.isDear ? 5 : workload == .compaction ? 10 : 17
    case .kill: workload.isDear ? 140 : 200
    case .fault: 10_000
    case .loss: 120
    case .twice, .brim, .remount: 60
    case .clock: 40
    case .memory: 200
    case .space: 60
    case .corruption: workload == .single ? 2000 : 1200
    case .feed: 40
    case .schedule: 8500
    case .live: 60
    }
  }
}
