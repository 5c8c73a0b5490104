import Cambium
import Simulation
import Synchronization

/// How long each step of a compaction has the writer's turn, its commit included, and how long the
/// writes of an application take meanwhile, compared with those just before.
struct CompactionSteps {
  let directory: String
  let operations: Int
  let archives: Bool

  private static let operationsEach = 100
  private static let nodes = 200_000
  /// Between two writes of the application.
  private static let pauseMilliseconds = 2
  private static let writesBefore = 1_000

  /// What was measured, by name, in milliseconds.
  private final class Times: Sendable {
    private let all = Mutex<[String: [Double]]>([:])

    func add(_ name: String, _ time: Duration) {
      all.withLock { $0[name, default: []].append(time / .milliseconds(1)) }
    }

    var sorted: [(name: String, times: [Double])] {
      all.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) } }
    }
  }

  /// Fills a database, compacts it while an application writes, and prints a table.
  func measure() async throws {
    let times = Times()
    var options = Database.Options()
    options.compactionStepTook = { times.add("step: \($0)", $1) }
    let path = "\(directory)/steps.cambium"
    let database = try Database(at: path, options: options)
    try fill(database)
    for number in 0..<CompactionSteps.writesBefore {
      write(number, to: database, "write: before", times)
    }
    let isOver = Mutex(false)
    let application = Awaited { [self] in
      var number = 0
      while !isOver.withLock({ $0 }) {
        write(number, to: database, "write: meanwhile", times)
        number += 1
      }
    }
    let head = try database.head
    let start = ContinuousClock.now
    let compaction = try database.compact(
      upTo: SequenceNumber(head.rawValue - 100), archives: archives)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    isOver.withLock { $0 = true }
    try application.get(within: 60, "the application does not end")
    report(times, seconds, compaction)
    try database.close()
  }

  /// Sets nodes in random order, so that most operations leave history; some subtrees go.
  private func fill(_ database: Database) throws {
    var random = SeededGenerator(seed: 3)
    for number in 0..<(operations / CompactionSteps.operationsEach) {
      try database.write { tx in
        for _ in 0..<CompactionSteps.operationsEach {
          let key = random.below(CompactionSteps.nodes)
          let path = Path(keys: ["n", .integer(Int64(key % 500)), .integer(Int64(key))])
          try tx.set(path, to: ["number": .integer(Int64(key)), "name": .string("node \(key)")])
        }
        if number % 20 == 19 {
          try tx.remove(Path(keys: ["n", .integer(Int64(random.below(500)))]))
        }
      }
    }
  }

  private func write(_ number: Int, to database: Database, _ name: String, _ times: Times) {
    System.sleep(milliseconds: CompactionSteps.pauseMilliseconds)
    let start = ContinuousClock.now
    do {
      try database.write { tx in
        let path = Path(keys: ["app", .integer(Int64(number % 1000))])
        try tx.set(path, to: .integer(Int64(number)))
      }
    } catch { System.tell("a write failed: \(error)") }
    times.add(name, .now - start)
  }

  private func report(_ times: Times, _ seconds: Double, _ compaction: Compaction) {
    System.tell("\(compaction.transactions) transactions of \(operations) operations dropped")
    System.tell("in \(Int(seconds * 1000)) ms; milliseconds with the writer's turn:\n")
    System.tell("| | count | p50 | p99 | longest |\n|---|--:|--:|--:|--:|")
    for (name, times) in times.sorted {
      let figures = [times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1]]
      let cells = figures.map { "\((($0 * 100).rounded()) / 100)" }
      System.tell("| \(name) | \(times.count) | \(cells.joined(separator: " | ")) |")
    }
  }
}
