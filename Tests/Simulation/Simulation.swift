import Cambium
import LMDB

/// A small database that many use at once under one schedule, and what must hold of it.
///
/// Writers, synchronous and not, some failing, some cancelled; readers of the present and the past;
/// observers that are slow, see a part, or are cancelled and begun again; consumers; checkpoints;
/// a rebuild, or closing, in the middle. All of it follows from the seed.
///
/// Checked: what is acknowledged is there at once and for good, exactly once, and nothing else is;
/// every snapshot is whole, and no reader goes back; every observer is told of each transaction
/// once and in order, when it can be read; positions never go back; everyone comes to an end.
package struct Simulation {
  /// The outcome of a simulation.
  package struct Outcome: Sendable {
    package let trace: Trace
    /// Descriptions of the promises that did not hold.
    package let violations: [String]
  }

  private let plan: Plan
  private let directory: String

  /// - Parameters:
  ///   - seed: The seed, which decides everything that happens.
  ///   - directory: Where the database may be made; nothing is there.
  package init(seed: UInt64, in directory: String) {
    plan = Plan(seed: seed)
    self.directory = directory
  }

  /// Runs it, and removes the database.
  ///
  /// - Parameter verifies: True to verify the database in the end, which takes as long again.
  /// - Returns: The trace of the run, and the promises that did not hold.
  /// - Throws: ``DatabaseError`` when the database cannot be made, closed or read in the end.
  package func run(verifies: Bool = false) throws -> Outcome {
    defer { try? Files.removeDirectory(directory) }
    let scheduler = Scheduler(seed: plan.seed)
    var options = Database.Options()
    options.background = scheduler
    // It would never end.
    options.scrubPause = nil
    options.checkpointGrowth = plan.checkpointGrowth
    let world = World(try Database(at: directory, options: options), scheduler, plan)
    if !scheduler.run({ await world.run() }) {
      // The database is in use by tasks that never end.
      let text = "after \(scheduler.trace.count) steps, someone waits for what never comes"
      return Outcome(trace: scheduler.trace, violations: world.seen.violations + [text])
    }
    try world.database.close()
    let trace = scheduler.trace
    let last = try Database(at: directory)
    try world.check(last)
    if verifies {
      let findings = try last.verify().findings
      world.require(findings.isEmpty, "verify found \(findings)")
    }
    try last.close()
    return Outcome(trace: trace, violations: world.seen.violations)
  }
}

extension World {
  /// Compares the stored content at the end with what everyone was told.
  fileprivate func check(_ database: Database) throws {
    let seen = seen
    var stored: [Int: SequenceNumber] = [:]
    var odd: [Int] = []
    var commits = try database.commits()
    while let commit = try commits.next() {
      guard let number = commit.metadata["number"].flatMap({ Int($0) }) else { continue }
      require(stored[number] == nil, "write \(number) is there twice")
      stored[number] = commit.sequence
      if !number.isMultiple(of: 2) { odd.append(number) }
    }
    require(
      stored == seen.acknowledged,
      "stored are \(World.text(stored)), acknowledged \(World.text(seen.acknowledged))")
    let head = try database.head
    require(Int(head.rawValue) == stored.count, "\(head) transactions, \(stored.count) writes")
    checkObservers(odd, head, stored)
    try checkSum(database, stored)
  }

  private func checkObservers(
    _ odd: [Int], _ head: SequenceNumber, _ stored: [Int: SequenceNumber]
  ) {
    require(odd.starts(with: seen.odd), "w/1 has \(odd), its observer saw \(seen.odd)")
    if plan.close != nil { return }
    require(seen.odd == odd, "w/1 has \(odd), its observer saw only \(seen.odd)")
    require(stored[World.end.all] == head, "the last write is not the last transaction")
    for last in seen.observed { require(last == head, "an observer ended at \(last) of \(head)") }
  }

  /// Every write before the end was counted in exactly one transaction.
  private func checkSum(_ database: Database, _ stored: [Int: SequenceNumber]) throws {
    let sum = try database.read { try $0["sum"].value } ?? 0
    let counted = stored.keys.count { $0 >= World.consumed }
    require(sum == .integer(Int64(counted)), "\(counted) were counted, and the sum is \(sum)")
    if plan.close != nil { return }
    let written = stored.keys.count { $0 < World.end.consumer }
    require(counted == written, "of \(written) writes \(counted) were counted")
  }

  private static func text(_ writes: [Int: SequenceNumber]) -> String {
    writes.sorted { $0.value < $1.value }.map { "\($0.key): \($0.value)" }
      .joined(separator: ", ")
  }
}
