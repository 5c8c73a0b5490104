/// One way of torturing a database.
enum Trial: String, CaseIterable, Codable, Sendable {
  /// Every state in which a loss of power may leave the disk, opened as after a system start.
  case power
  /// A process killed at every durable call, and again during recovery.
  case kill
  /// Every durable call failing.
  case fault
  /// A fault, and then a loss of power.
  case loss
  /// A second loss of power, during the recovery from the first.
  case twice
  /// A disk that fills up, or fails, during a recovery.
  case brim
  /// The file system taken away and mounted again, or pages of it given up.
  case remount
  /// Clocks that jump.
  case clock
  /// Memory that runs out.
  case memory
  /// A small disk that is full.
  case space
  /// Stored bytes changed behind the database's back.
  case corruption
  /// Feeds followed while processes are killed and the state is rebuilt.
  case feed
  /// Everyone at once, in orders that seeds decide.
  case schedule
  /// Live queries followed through random histories.
  case live

  /// The reason why it cannot be run here; nil if it can.
  func obstacle(in directory: String) -> String? {
    guard self == .space else { return nil }
    let place = "\(directory)/probe"
    defer { System.unmount(place) }
    do {
      try System.makeDirectory(place)
      try System.mountMemory(place, bytes: 4096)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// True if it starts from a recording of its workload.
  var needsRecording: Bool {
    switch self {
    case .power, .kill, .fault, .corruption, .loss, .twice, .brim, .remount, .clock, .memory: true
    case .space, .feed, .schedule, .live: false
    }
  }

  /// True if its records get the times of the script, and not the system's.
  var hasTimes: Bool { self != .clock && self != .memory }

  /// The command that does its workload undisturbed.
  var command: String {
    switch self {
    case .fault, .loss: "endure"
    case .memory: "starve"
    default: "workload"
    }
  }

  /// Runs its cases.
  func run(_ setting: Setting, _ cases: Cases) throws {
    var checker = Checker(setting)
    checker.mayBeDamaged = self == .corruption
    switch self {
    case .power: try PowerLoss(setting: setting, checker: checker).run(cases)
    case .kill: try Kills(setting: setting, checker: checker).run(cases)
    case .fault: try Faults(setting: setting, checker: checker).run(cases)
    case .loss: try FaultLosses(setting: setting, checker: checker).run(cases)
    case .twice, .brim:
      let disturbance = self == .twice ? Recoveries.Disturbance.powerLoss : .fault
      try Recoveries(setting: setting, checker: checker, disturbance: disturbance).run(cases)
    case .remount: try Remounts(setting: setting, checker: checker).run(cases)
    case .clock: try Clocks(setting: setting, checker: checker).run(cases)
    case .memory: try Shortages(setting: setting, checker: checker).run(cases)
    case .space: try FullDisk(setting).run(cases)
    case .corruption: try Corruption(setting: setting, checker: checker).run(cases)
    case .feed: Feeds(setting: setting).run(cases)
    case .schedule: Schedules(setting: setting).run(cases)
    case .live: LiveHistories(setting: setting).run(cases)
    }
  }
}
