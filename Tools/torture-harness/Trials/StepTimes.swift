import Cambium
import Synchronization

/// The time for which the steps of some background work hold the writer's turn, their commit
/// included, and the time of an application's writes meanwhile, compared with those just before.
final class StepTimes: Sendable {
  /// Between two writes of the application.
  private static let pauseMilliseconds = 2
  private static let writesBefore = 1_000

  /// By name, in milliseconds.
  private let all = Mutex<[String: [Double]]>([:])

  /// Takes in what a step took.
  func add(_ name: String, _ time: Duration) {
    all.withLock { $0[name, default: []].append(time / .milliseconds(1)) }
  }

  /// Does the work while an application writes.
  ///
  /// - Returns: The result of the work, and the seconds that it took.
  func measure<R>(
    beside database: Database, _ work: () throws -> R
  ) throws -> (result: R, seconds: Double) {
    for number in 0..<StepTimes.writesBefore { write(number, to: database, "write: before") }
    let isOver = Mutex(false)
    let application = Awaited { [self] in
      var number = 0
      while !isOver.withLock({ $0 }) {
        write(number, to: database, "write: meanwhile")
        number += 1
      }
    }
    let start = ContinuousClock.now
    let result = try work()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    isOver.withLock { $0 = true }
    try application.get(within: 60, "the application does not end")
    return (result, seconds)
  }

  private func write(_ number: Int, to database: Database, _ name: String) {
    System.sleep(milliseconds: StepTimes.pauseMilliseconds)
    let start = ContinuousClock.now
    do {
      try database.write { tx in
        let path = NodePath(keys: ["app", .integer(Int64(number % 1000))])
        try tx.set(path, to: .integer(Int64(number)))
      }
    } catch { System.tell("a write failed: \(error)") }
    add(name, .now - start)
  }

  /// Prints a table.
  func report() {
    System.tell("milliseconds with the writer's turn:\n")
    System.tell("| | count | p50 | p99 | longest |\n|---|--:|--:|--:|--:|")
    for (name, unsorted) in all.withLock({ $0.sorted { $0.key < $1.key } }) {
      let times = unsorted.sorted()
      let figures = [times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1]]
      let cells = figures.map { "\((($0 * 100).rounded()) / 100)" }
      System.tell("| \(name) | \(times.count) | \(cells.joined(separator: " | ")) |")
    }
  }
}
