/// One way of torturing a database.
enum Trial: String, CaseIterable, Sendable {
  /// Every state in which a loss of power may leave the disk, opened as after a system start.
  case power
  /// A process killed at every durable call, and again during recovery.
  case kill
  /// Every durable call failing.
  case fault
  /// Stored bytes changed behind the database's back.
  case corruption

  /// Runs its cases.
  func run(_ setting: Setting, _ cases: Cases) throws {
    switch self {
    case .power: try PowerLoss(setting).run(cases)
    case .kill: try Kills(setting).run(cases)
    case .fault: try Faults(setting).run(cases)
    case .corruption: try Corruption(setting).run(cases)
    }
  }
}
