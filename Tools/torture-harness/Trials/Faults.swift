import Simulation

/// Makes each durable call of a workload fail, once and from then on, and checks that errors are
/// reported, reading continues, and nothing acknowledged is lost. `quota` is the largest number of
/// cases.
struct Faults {
  let setting: Setting
  let checker: Checker

  static let errors = ["EIO", "ENOSPC", "SHORT", "EINTR"]

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    for order in orders(recording.counted) {
      if cases.isOver { return }
      cases.next("fault \(order)") { try check(order) }
    }
  }

  private func orders(_ calls: [Recording.Call]) -> [String] {
    var random = SeededGenerator(seed: setting.seed, 13)
    var orders: [String] = []
    for (index, call) in calls.enumerated() {
      for error in Faults.errors where error != "SHORT" || call.kind == .write {
        for lasting in ["once", "on"] { orders.append("\(index + 1):\(error):\(lasting)") }
      }
    }
    return orders.sample(setting.quota, &random)
  }

  private func check(_ order: String) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    let orders = ["TORTURE_FAULT": order, "TORTURE_EXPECT": order]
    let end = try run.run("endure", orders)
    guard end == .exited(0) else { throw Violation("the process ended with \(end): \(run.output)") }
    if !run.marks.isCreated, !System.exists(run.database) { return }
    try checker.check(run.database, run.marks)
  }
}
