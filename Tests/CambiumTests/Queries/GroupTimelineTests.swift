// Goal: the groups of a past moment are the same whether a timeline gives them or the records do.
// Method: random histories with undo, moves, removals of whole collections and declarations, and
// random groupings, each also with an extreme, for which the records are always read; and, as a
// judge that is not the engine, a history of jobs beside dictionaries of what there was. Seeds are
// printed. Each test says how often a timeline answered, so that none passes by never having one.

import Simulation
import Testing

@testable import Cambium

@Suite("The groups of a moment by a timeline", .timeLimit(.minutes(10)))
struct GroupTimelineTests {
  // MARK: Random histories

  @Test("are those of the records", arguments: SeededGenerator.seeds(Array(1...5)))
  func things(seed: UInt64) throws {
    print("seed \(seed)")
    var random = RandomConditions(seed: seed)
    let most = 2 + random.random.below(30)
    var choice = SeededGenerator(seed: seed)
    try withDatabase {
      $0.stepSizes.timeline.records = 0
      $0.stepSizes.timeline.checkpoints = most
    } _: { database in
      try RandomConditions.storeBlobs(in: database)
      for _ in 0..<150 { try change(database, &random) }
      let start = try database.head.rawValue
      var keptCount = 0
      for _ in 0..<6 {
        let query = grouping(&random)
        var horizon = try database.horizon.rawValue
        var held: [Snapshot] = []
        for round in 0..<25 {
          if random.random.chance(oneIn: 4) { try change(database, &random) }
          if random.random.chance(oneIn: 60) {
            horizon += UInt64(random.random.below(20))
            _ = try database.compact(upTo: SequenceNumber(horizon))
          }
          if random.random.chance(oneIn: 100) { try database.rebuild() }
          let count = Int(try database.head.rawValue - horizon)
          let moment = SequenceNumber(horizon + UInt64(random.random.below(count + 1)))
          let snapshot = try database.snapshot(at: .sequence(moment))
          keptCount += try compare(
            query, on: snapshot, database, "seed \(seed), \(round): \(moment)")
          // Snapshots that are held see neither what was written nor what was cut since.
          if random.random.chance(oneIn: 5) { held.append(snapshot) }
          if held.count > 4 { held.remove(at: random.random.below(4)) }
          if let old = held.randomElement(using: &choice) {
            _ = try compare(query, on: old, database, "seed \(seed), held at \(old.sequence)")
          }
        }
      }
      #expect(try database.head.rawValue > start)
      #expect(keptCount > 20, "a timeline answered \(keptCount) times")
    }
  }

  private func change(_ database: Database, _ random: inout RandomConditions) throws {
    if random.random.chance(oneIn: 40) {
      let definition = random.thingDefinition()
      return try database.write { try $0.declare(RandomConditions.things, definition) }
    }
    let count = 1 + random.random.below(random.random.chance(oneIn: 6) ? 40 : 4)
    var copy = random
    try database.write { tx in for _ in 0..<count { try copy.change(tx) } }
    random = copy
    try random.upheave(database)
  }

  private func grouping(_ random: inout RandomConditions) -> QueryDescription {
    var query = QueryDescription(RandomConditions.things)
    if random.random.chance(oneIn: 2) { query.condition = random.query().condition }
    let names = ["title", "count", "isNew", "place.x", "owner", "loose"]
    let paths = (0..<random.random.below(3)).map { _ in PropertyPath(random.random.pick(names)) }
    let (count, weight) = (PropertyPath("count"), PropertyPath("weight"))
    query.grouping = .init(
      paths,
      [.init(.count), .init(.sum, weight), .init(.average, count), .init(.sum, .init("price"))],
      having: random.random.chance(oneIn: 4)
        ? Condition(.compare(PropertyPath("count"), .greater, .integer(1))) : nil)
    if random.random.chance(oneIn: 4), !paths.contains(count) {
      query.orderings = [Ordering(count, isDescending: true)]
    }
    if random.random.chance(oneIn: 4) { query.limit = 3 }
    return query
  }

  /// Compares the groups with those of the records, for which an extreme is asked as well.
  ///
  /// - Returns: The number of timelines that gave them, 1 or 0.
  private func compare(
    _ query: QueryDescription, on snapshot: Snapshot, _ database: Database, _ comment: Comment
  ) throws -> Int {
    let run = try QueryRun(query, on: snapshot)
    var rows: [[Value]] = []
    try run.visit { rows.append($0) }
    database.finishTimelines()
    var other = query
    other.grouping?.aggregates.append(.init(.maximum, PropertyPath("made")))
    let read = try QueryRun(other, on: snapshot)
    var wanted: [[Value]] = []
    try read.visit { wanted.append($0.dropLast()) }
    try #require(read.plan.checkpoint == nil)
    try #require(rows == wanted, comment)
    return run.plan.checkpoint == nil ? 0 : 1
  }

  // MARK: A history beside dictionaries

  /// With 600 transactions and three limits of memory: one with room, one that leaves a quarter of
  /// the checkpoints, and one with room for none.
  @Test("are those of dictionaries", arguments: [(4 << 20, 590), (1 << 20, 590), (1 << 10, 0)])
  func jobs(bytes: Int, least: Int) throws {
    try withDatabase {
      $0.stepSizes.timeline.records = 0
      $0.stepSizes.timeline.checkpoints = 512
      $0.stepSizes.timeline.bytes = bytes
    } _: { database in
      var jobs = PastJobs(11)
      for _ in 0..<600 { try jobs.write(to: database, states: 5) }
      var keptCount = 0
      for moment in (1..<600).reversed() {
        keptCount += try jobs.compare(at: moment, database)
      }
      #expect(least == 0 ? keptCount == 0 : keptCount > least, "\(keptCount) of \(bytes)")
    }
  }

  // MARK: Checkpoints

  @Test("lie at equal distances", arguments: SeededGenerator.seeds(1, 2, 3))
  func checkpoints(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let first = UInt64(random.below(20))
      let last = first + UInt64(random.below(50))
      let most = 2 + random.below(20)
      var checkpoints = Checkpoints(from: first, to: last, most: most)
      #expect(checkpoints.count <= most)
      for round in 0..<3 {
        let moments = (0..<checkpoints.count).map { checkpoints.moment($0) }
        #expect(moments.first == first && moments.last == last && moments == moments.sorted())
        #expect(Set(moments).count == moments.count)
        for moment in first...(last + 2) {
          let next = moments.firstIndex { $0 >= moment } ?? moments.count - 1
          #expect(checkpoints.index(from: moment) == next)
          let around = checkpoints.indexes(around: moment)
          #expect(around[0] == moments.lastIndex { $0 <= moment })
          #expect(around.dropFirst().allSatisfy { moments[$0] > moment && $0 == around[0] + 1 })
          if round < 2 {
            var halved = checkpoints
            halved.halve()
            #expect(halved.index(from: moment) == (next + 1) / 2)
          }
        }
        checkpoints.halve()
      }
    }
  }
}
