/// One way of torturing a database.
enum Trial: String, CaseIterable, Codable, Sendable {
  /// Every state in which a loss of power may leave the disk, opened as after a system start.
  case power
  /// A process killed at every durable call, and again during recovery.
  case kill
  /// Every durable call failing.
  case fault
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
    case .power, .kill, .fault, .corruption: true
    case .space, .feed, .schedule, .live: false
    }
  }

  /// Runs its cases.
  func run(_ setting: Setting, _ cases: Cases) throws {
    let checker = Checker(setting)
    switch self {
    case .power: try PowerLoss(setting: setting, checker: checker).run(cases)
    case .kill: try Kills(setting: setting, checker: checker).run(cases)
    case .fault: try Faults(setting: setting, checker: checker).run(cases)
    case .space: try FullDisk(setting).run(cases)
    case .corruption: try Corruption(setting: setting, checker: checker).run(cases)
    case .feed: Feeds(setting: setting).run(cases)
    case .schedule: Schedules(setting: setting).run(cases)
    case .live: LiveHistories(setting: setting).run(cases)
    }
  }
}
