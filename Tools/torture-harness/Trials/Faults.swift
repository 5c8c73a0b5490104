import Simulation

/// Makes each durable call of a workload fail, once and from then on, and checks that errors are
/// reported, reading continues, and nothing acknowledged is lost. `quota` is the largest number of
/// cases.
struct Faults {
  let setting: Setting
  let checker: Checker

  /// The kinds of failure, which orders.c describes.
  enum Kind: String, CaseIterable, Codable {
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

  /// The longest path that an order can name.
  private static let pathMax = 63

  func run(_ cases: Cases) throws {
    let recording = try Recording(setting.recording)
    for order in Faults.orders(recording, setting) {
      if cases.isOver { return }
      cases.next("fault \(order)") { try check(order) }
    }
  }

  /// Orders for the recorder. Where there are more than are wanted, all kinds are drawn equally
  /// often.
  static func orders(
    _ recording: Recording, _ setting: Setting, _ kinds: [Kind] = Kind.allCases
  ) -> [FaultOrder] {
    var random = SeededGenerator(seed: setting.seed, 13)
    let kinds = setting.fault.map { [$0] } ?? kinds
    let each = max(1, setting.quota / kinds.count)
    var orders: [FaultOrder] = []
    for kind in kinds {
      var own: [FaultOrder] = []
      var ofFile: [String: Int] = [:]
      for (index, call) in recording.counted.enumerated() {
        ofFile[call.path, default: 0] += 1
        if !kind.strikes(call) { continue }
        // Background jobs call when they find the time, so other files' calls are not counted.
        let isOfData =
          (call.path.hasSuffix("/data.mdb") || call.path.hasSuffix("/log/tail"))
          && call.path.utf8.count <= pathMax
        let number = isOfData ? ofFile[call.path] ?? 0 : index + 1
        own.append(FaultOrder(number, kind, path: isOfData ? call.path : nil))
        own.append(FaultOrder(index + 1, kind, lasts: true))
      }
      orders += own.sample(each, &random)
    }
    return orders
  }

  private func check(_ order: FaultOrder) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    try run.endure(order)
    if !run.marks.isCreated, !System.exists(run.database) { return }
    try checker.check(run.database, run.marks)
  }
}

extension RecordedRun {
  /// Runs the workload while a call fails.
  func endure(_ order: FaultOrder, isRecording: Bool = false) throws {
    let orders = ["TORTURE_FAULT": "\(order)", "TORTURE_EXPECT": "\(order)"]
    try run("endure", orders, isRecording: isRecording, endingWith: .exited(0))
  }
}

/// An order for the recorder: which call fails, how, and whether those after it do.
struct FaultOrder: CustomStringConvertible {
  /// The number of the call, counted from 1.
  let number: Int
  let kind: Faults.Kind
  let lasts: Bool
  /// The only path whose calls are counted; nil for all.
  let path: String?

  init(_ number: Int, _ kind: Faults.Kind, lasts: Bool = false, path: String? = nil) {
    (self.number, self.kind, self.lasts, self.path) = (number, kind, lasts, path)
  }

  /// Its form for the recorder, which orders.c describes.
  var description: String {
    "\(number):\(kind.rawValue):\(lasts ? "on" : "once")" + (path.map { ":\($0)" } ?? "")
  }
}
