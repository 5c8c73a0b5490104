import Simulation
import Testing

@testable import Cambium

/// Jobs by their keys, as of each transaction.
struct PastJobs {
  static let query = "jobs where size < 900 | group by state select count, sum(size), avg(size)"
  private var random: SeededGenerator
  private var now: [Int64: (state: String, size: Int64)] = [:]
  private(set) var moments: [[Int64: (state: String, size: Int64)]] = [[:]]

  /// True if some of the jobs are no records.
  private let hasOthers: Bool

  init(_ seed: UInt64, hasOthers: Bool = true) {
    random = SeededGenerator(seed: seed)
    self.hasOthers = hasOthers
  }

  mutating func write(to database: Database, states: Int) throws {
    var (now, random) = (self.now, self.random)
    try database.write { tx in
      // One that removes nothing would be none.
      try tx.increment("tick", by: 1)
      for _ in 0...random.below(4) {
        let key = Int64(random.below(60))
        let path = NodePath(keys: ["jobs", .integer(key)])
        if random.oneIn(4) {
          try tx.remove(path)
          now[key] = nil
        } else if hasOthers, random.oneIn(20) {
          try tx.set(path, to: "no record")
          now[key] = nil
        } else {
          let (state, size) = ("s\(random.below(states))", Int64(random.below(1_000)))
          try tx.set(path, to: ["state": .string(state), "size": .integer(size)])
          now[key] = (state, size)
        }
      }
    }
    (self.now, self.random) = (now, random)
    moments.append(now)
  }

  /// Gives the first job a state.
  mutating func write(_ state: String, to database: Database) throws {
    try database.write { try $0.set("jobs/0", to: ["state": .string(state), "size": 1]) }
    now[0] = (state, 1)
    moments.append(now)
  }

  /// The rows of the query at a moment.
  func rows(at moment: Int) -> [[Value]] {
    let seen = moments[moment].values.filter { $0.size < 900 }
    return Dictionary(grouping: seen, by: \.state).sorted { $0.key < $1.key }.map { group in
      let sum = group.value.reduce(0) { $0 + $1.size }
      return [
        .string(group.key), .integer(Int64(group.value.count)), .integer(sum),
        .double(Double(sum) / Double(group.value.count)),
      ]
    }
  }

  /// Compares the answer of a database with these rows, and has the timelines made that are wanted.
  ///
  /// - Returns: The number of timelines that gave it, 1 or 0.
  func compare(at moment: Int, _ database: Database) throws -> Int {
    let snapshot = try database.snapshot(at: .sequence(SequenceNumber(UInt64(moment))))
    let run = try QueryRun(QueryDescription(parsing: PastJobs.query), on: snapshot)
    var found: [[Value]] = []
    try run.visit { found.append($0) }
    try #require(found == rows(at: moment), "moment \(moment)")
    database.finishTimelines()
    return run.plan.checkpoint == nil ? 0 : 1
  }
}

extension Database {
  /// Waits until the timelines are made that are wanted.
  func finishTimelines() { jobs.finish(jobs[TimelineJob.self]) }
}

/// Lends a new database that makes timelines of however few records.
func withTimelines(
  checkpoints: Int = StepSizes().timeline.checkpoints, _ body: (Database) throws -> Void
) throws {
  try withDatabase {
    ($0.stepSizes.timeline.records, $0.stepSizes.timeline.checkpoints) = (0, checkpoints)
  } _: {
    try body($0)
  }
}
