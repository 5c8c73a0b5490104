import Cambium
import Simulation

/// Follows live queries of all shapes through random histories: applying their differences must
/// give what running the query again gives. `quota` is the number of histories.
struct LiveHistories {
  let setting: Setting

  /// The transactions of one history.
  static let commits = 250

  func run(_ cases: Cases) {
    for index in 0..<setting.quota {
      if cases.isOver { return }
      let seed = setting.seed &* 1_000_000 &+ UInt64(index)
      cases.next("history \(seed)") { try run(seed, LiveCounts()) }
    }
  }

  /// Runs histories of so many transactions in all, and shows what they have tried.
  ///
  /// - Returns: True if no promise was broken.
  func measure(commits: Int) throws -> Bool {
    let (counts, start) = (LiveCounts(), ContinuousClock.now)
    var seed = setting.seed &* 1_000_000
    while counts.commits < commits {
      do { try run(seed, counts) } catch {
        System.tell("VIOLATION after \(counts.commits) commits, history \(seed): \(error)")
        System.tell("\(counts)")
        return false
      }
      seed += 1
    }
    System.tell("\(counts)\n\(ContinuousClock.now - start)")
    return true
  }

  private func run(_ seed: UInt64, _ counts: LiveCounts) throws {
    let (place, output) = ("\(setting.directory)/live", "\(setting.directory)/live-output")
    System.remove(place)
    defer { System.remove(place) }
    var history = try LiveHistory(at: place, seed: seed, counts) { seed, commits in
      var arguments = Arguments()
      (arguments.command, arguments.path) = ("live", place)
      (arguments.setting.seed, arguments.count) = (seed, commits)
      (arguments.setting.bug, arguments.setting.planted) = (setting.bug, setting.planted)
      let child = try arguments.start([:], output: output)
      return {
        let end = child.wait()
        let text = String(decoding: System.read(output), as: UTF8.self)
        try demand(end == .exited(0), "another process ended with \(end): \(text.suffix(1000))")
      }
    }
    try history.run(commits: LiveHistories.commits)
  }
}
