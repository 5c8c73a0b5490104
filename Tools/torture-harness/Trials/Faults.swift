import Simulation

/// Makes each durable call of a workload fail, once and from then on, and checks that errors are
/// reported, reading continues, and nothing acknowledged is lost. `quota` is the largest number of
/// cases.
struct Faults {
  let setting: Setting
  let checker: Checker

  /// The kinds of failure, which orders.c describes.
  enum Kind: String, CaseIterable {
    case inputOutput = "EIO"
    case full = "ENOSPC"
    case short = "SHORT"
    case interrupted = "EINTR"
    case late = "LATE"
    case lost = "LOST"

    /// True if a call can fail in this way.
    func strikes(_ call: Recording.Call) -> Bool {
      switch self {
      case .inputOutput, .full, .interrupted, .late: true
      case .short: call.kind == .write
      case .lost: call.kind == .sync || call.kind == .write && call.isSynced
      }
    }
  }

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    for order in Faults.orders(recording.counted, setting) {
      if cases.isOver { return }
      cases.next("fault \(order)") { try check(order) }
    }
  }

  /// Orders for the recorder: the number of a call, the kind, and if it lasts. Where there are more
  /// than are wanted, all kinds are drawn equally often.
  static func orders(
    _ calls: [Recording.Call], _ setting: Setting, _ kinds: [Kind] = Kind.allCases
  ) -> [String] {
    var random = SeededGenerator(seed: setting.seed, 13)
    let each = max(1, setting.quota / kinds.count)
    var orders: [String] = []
    for kind in kinds {
      var own: [String] = []
      for (index, call) in calls.enumerated() where kind.strikes(call) {
        for lasting in ["once", "on"] { own.append("\(index + 1):\(kind.rawValue):\(lasting)") }
      }
      orders += own.sample(each, &random)
    }
    return orders
  }

  private func check(_ order: String) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try run.endure(order)
    if !run.marks.isCreated, !System.exists(run.database) { return }
    try checker.check(run.database, run.marks)
  }
}

extension RecordedRun {
  /// Runs the workload while a call fails.
  func endure(_ order: String, isRecording: Bool = false) throws {
    let orders = ["TORTURE_FAULT": order, "TORTURE_EXPECT": order]
    let end = try run("endure", orders, isRecording: isRecording)
    guard end == .exited(0) else { throw Violation("the process ended with \(end): \(output)") }
  }
}
