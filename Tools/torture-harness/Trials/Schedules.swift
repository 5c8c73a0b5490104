import Simulation

/// Runs writers, readers, observers and consumers of one database on one thread, in orders that
/// seeds decide. ``Simulation`` lists what must hold. `quota` is the number of orders.
struct Schedules {
  let setting: Setting

  /// Verifying takes as long as the rest, so only some are verified.
  private static let verifiedEvery = 50

  func run(_ cases: Cases) {
    for index in 0..<setting.quota {
      if cases.isOver { return }
      let seed = setting.seed &* 1_000_000 &+ UInt64(index)
      cases.next("schedule \(seed)") {
        let place = "\(setting.directory)/schedule"
        System.remove(place)
        let outcome = try Simulation(seed: seed, in: place)
          .run(verifies: index % Schedules.verifiedEvery == 0)
        try demand(outcome.violations.isEmpty, "\(outcome.violations)")
      }
    }
  }
}
