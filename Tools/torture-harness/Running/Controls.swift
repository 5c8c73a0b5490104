/// Negative controls: for each planted bug the job that must find it. A harness that misses one
/// proves nothing by finding nothing.
enum Controls {
  /// One bug, and where it shows.
  struct Control {
    let bug: String
    let trial: Trial
    let workload: Workload
    var order = Disk.NameOrder.journal
  }

  static let all = [
    Control(bug: "log not synced", trial: .power, workload: .single),
    Control(bug: "acknowledged early", trial: .power, workload: .group),
    Control(bug: "parent not synced", trial: .power, workload: .create, order: .strict),
    Control(bug: "renamed unsynced", trial: .power, workload: .create, order: .strict),
    Control(bug: "head not updated", trial: .kill, workload: .single),
    Control(bug: "position apart", trial: .kill, workload: .single),
    Control(bug: "count skipped", trial: .kill, workload: .single),
    Control(bug: "error ignored", trial: .fault, workload: .single),
    Control(bug: "retried after error", trial: .fault, workload: .single),
    Control(bug: "torn state trusted", trial: .power, workload: .single),
    Control(bug: "mark not written", trial: .power, workload: .single),
    Control(bug: "clean unsynced", trial: .power, workload: .large),
    Control(bug: "consumer apart", trial: .kill, workload: .single),
    Control(bug: "checksum unchecked", trial: .corruption, workload: .single),
    Control(bug: "stale readers kept", trial: .kill, workload: .single),
    Control(bug: "wake-up lost", trial: .schedule, workload: .single),
    Control(bug: "told early", trial: .feed, workload: .single),
    Control(bug: "consumer ahead", trial: .feed, workload: .single),
    Control(bug: "part unsynced", trial: .power, workload: .backup),
    Control(bug: "baseline unsynced", trial: .power, workload: .backup),
    Control(bug: "short write ignored", trial: .fault, workload: .backup),
    Control(bug: "batch not noted", trial: .kill, workload: .migrate),
  ]

  /// The job that must find a bug.
  static func job(_ control: Control, seed: UInt64) -> Job {
    var setting = Setting()
    setting.workload = control.workload
    setting.seed = seed
    // Of each moment fewer states than usual: a planted bug shows at many moments.
    if control.trial == .power {
      setting.quota = control.workload == .backup ? 2 : 8
    } else {
      // Of the calls that fail some, drawn from all, for most are made before there is a backup.
      setting.quota = control.workload == .backup ? 400 : control.trial.quota(control.workload)
    }
    setting.bug = control.bug
    setting.order = control.order
    return Job(trial: control.trial, setting: setting)
  }
}
