import Simulation

/// A negative control: a planted bug, and the jobs that must each find it. A harness that misses
/// one proves nothing by finding nothing.
struct Control {
  let bug: String
  private(set) var jobs: [Job] = []
  /// True if trials without this kind of fault must not find it.
  private(set) var isOnly = false

  /// Reads the list that Tools/plant has made: a line has a bug, and what `found by` says of it.
  static func all(listedIn path: String, seed: UInt64) throws -> [Control] {
    var controls: [Control] = []
    for line in String(decoding: System.read(path), as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 2, let found = Found(parts[1]) else {
        throw Failure("\(path) cannot be read: \(line)")
      }
      if controls.last?.bug != parts[0] { controls.append(Control(bug: parts[0])) }
      let last = controls.count - 1
      let setting = setting(parts[0], found, seed: seed)
      controls[last].jobs.append(Job(trial: found.trial, setting: setting))
      controls[last].isOnly = controls[last].isOnly || found.isOnly
    }
    return controls
  }

  /// The words after `found by`, with `only` before them if nothing else finds the bug.
  private struct Found {
    let isOnly: Bool
    let trial: Trial
    let workload: Workload
    var order = Disk.NameOrder.journal
    var fault: Faults.Kind?

    /// - Returns: nil if a word is none of these.
    init?(_ text: String) {
      var words = text.split(separator: " ").map(String.init)[...]
      isOnly = words.first == "only"
      if isOnly { words.removeFirst() }
      guard let trial = words.popFirst().flatMap(Trial.init),
        let workload = words.popFirst().flatMap(Workload.init)
      else { return nil }
      (self.trial, self.workload) = (trial, workload)
      for word in words {
        if let order = Disk.NameOrder(rawValue: word) {
          self.order = order
        } else if let fault = Faults.Kind(rawValue: word) {
          self.fault = fault
        } else {
          return nil
        }
      }
    }
  }

  /// A third of the bugs, which the seed draws, in their order.
  static func draw(from all: [Control], seed: UInt64) -> [Control] {
    var random = SeededGenerator(seed: seed, 61)
    let drawn = Set(all.map(\.bug).sample((all.count + 2) / 3, &random))
    return all.filter { drawn.contains($0.bug) }
  }

  private static func setting(_ bug: String, _ found: Found, seed: UInt64) -> Setting {
    var setting = Setting()
    (setting.bug, setting.seed, setting.fault) = (bug, seed, found.fault)
    (setting.workload, setting.order) = (found.workload, found.order)
    let workload = found.workload
    switch found.trial {
    // Of each moment fewer states than usual: a planted bug shows at many moments.
    case .power: setting.quota = workload == .backup ? 2 : 8
    // Few of the moments show it, and the first one ends the run.
    case .twice, .brim, .remount: setting.quota = 300
    // One call of all shows it, or one allocation.
    case .loss, .memory: setting.quota = 2000
    case .corruption where workload != .single: setting.quota = 4_000
    // Of the calls that fail some, drawn from all, for most are made before there is a backup, or
    // a position that is kept.
    default:
      setting.quota =
        [.backup, .undone].contains(workload) ? 400 : found.trial.quota(workload)
    }
    return setting
  }
}
