import Simulation

/// A negative control: a planted bug, and the jobs that must each find it. A harness that misses
/// one proves nothing by finding nothing.
struct Control {
  let bug: String
  private(set) var jobs: [Job] = []

  /// Reads the list that Tools/plant has made: a line has a bug, a trial, a workload, and in which
  /// order names become durable.
  static func all(listedIn path: String, seed: UInt64) throws -> [Control] {
    var controls: [Control] = []
    for line in String(decoding: System.read(path), as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: "\t").map(String.init)
      guard words.count == 4, let trial = Trial(rawValue: words[1]),
        let workload = Workload(rawValue: words[2]), let order = Disk.NameOrder(rawValue: words[3])
      else { throw Failure("\(path) cannot be read: \(line)") }
      if controls.last?.bug != words[0] { controls.append(Control(bug: words[0])) }
      let setting = setting(words[0], trial, workload, order, seed: seed)
      controls[controls.count - 1].jobs.append(Job(trial: trial, setting: setting))
    }
    return controls
  }

  /// Half of the bugs, which the seed draws, in their order.
  static func draw(from all: [Control], seed: UInt64) -> [Control] {
    var random = SeededGenerator(seed: seed, 61)
    let drawn = Set(all.map(\.bug).sample((all.count + 1) / 2, &random))
    return all.filter { drawn.contains($0.bug) }
  }

  private static func setting(
    _ bug: String, _ trial: Trial, _ workload: Workload, _ order: Disk.NameOrder, seed: UInt64
  ) -> Setting {
    var setting = Setting()
    (setting.bug, setting.workload, setting.order, setting.seed) = (bug, workload, order, seed)
    switch trial {
    // Of each moment fewer states than usual: a planted bug shows at many moments.
    case .power: setting.quota = workload == .backup ? 2 : 8
    // Few of the moments show it, and the first one ends the run.
    case .twice, .brim, .remount: setting.quota = 300
    // One call of all shows it, or one allocation.
    case .loss, .memory: setting.quota = 2000
    case .corruption where workload != .single: setting.quota = 4_000
    // Of the calls that fail some, drawn from all, for most are made before there is a backup, or
    // a position that is kept.
    default: setting.quota = [.backup, .undone].contains(workload) ? 400 : trial.quota(workload)
    }
    return setting
  }
}
