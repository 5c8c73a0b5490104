// Goal: a result that is moved to a moment, earlier or later, is the one that the query gives of a
// snapshot of it; its differences lead there; and no more is read than what lies between. Method:
// random histories with undo, moves and removals of whole collections, queries of all shapes, and
// random moves, from a printed seed.
//
// It finds, planted: changes that are not exchanged backward, a subtree that is overlooked.

import Observation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A result at a moment that moves", .timeLimit(.minutes(10)))
struct MovingResultsTests {
  /// A result with the elements that its differences lead to.
  private final class Followed {
    private let results: MovingResults<DynamicQuery>
    private let description: QueryDescription
    private var elements: [DynamicRecord] = []

    init(_ description: QueryDescription, _ database: Database, at moment: Moment) throws {
      results = try DynamicQuery(description, .database(database)).live(at: moment)
      self.description = description
      elements = Array(results)
    }

    func move(to moment: Moment, _ database: Database, _ comment: Comment) throws {
      let snapshot = try database.snapshot(at: moment)
      let wanted = try DynamicQuery(description.orderedByKeyLast, .snapshot(snapshot)).fetch()
      let diff = try results.move(to: moment)
      #expect(diff.sequence == snapshot.sequence && results.sequence == diff.sequence, comment)
      elements = try diff.strictlyApplied(to: elements)
      try #require(elements == wanted, comment)
      try #require(Array(results) == wanted, comment)
    }
  }

  // MARK: Random histories

  @Test("is that of a snapshot", arguments: SeededGenerator.seeds(Array(1...6)))
  func things(seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      try database.write { tx in
        try tx.declare(
          RandomConditions.people, RandomConditions.definitions[RandomConditions.people])
        try tx.declare(RandomConditions.things, random.thingDefinition())
      }
      func change() throws {
        if random.random.chance(oneIn: 30) {
          let definition = random.thingDefinition()
          return try database.write { try $0.declare(RandomConditions.things, definition) }
        }
        let count = 1 + random.random.below(random.random.chance(oneIn: 6) ? 40 : 4)
        try database.write { tx in for _ in 0..<count { try random.change(tx) } }
      }
      try move(database, seed, change) { random in
        var query = random.query()
        random.shape(&query)
        return query
      }
    }
  }

  @Test("follows what is related", arguments: SeededGenerator.seeds(Array(7...12)))
  func relations(seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomRelations(seed: seed)
      try database.write { tx in
        for (path, definition) in random.definitions { try tx.declare(path, definition) }
      }
      try move(database, seed) {
        try database.write { tx in
          for _ in 0...random.random.below(3) {
            let path = try random.path()
            let record = try tx[path].record
            if random.random.chance(oneIn: 4) {
              try tx.remove(path)
            } else {
              try tx.set(
                path, to: .map(record.map { random.changing($0.values) } ?? random.record()))
            }
          }
        }
      } query: { _ in
        random.query()
      }
    }
  }

  /// Makes a history, and moves results of random queries about in it while it goes on.
  private func move(
    _ database: Database, _ seed: UInt64, _ change: () throws -> Void,
    query: (inout RandomConditions) throws -> QueryDescription
  ) throws {
    var random = RandomConditions(seed: seed)
    let start = try database.head
    for _ in 0..<80 {
      try change()
      try random.upheave(database)
    }
    var followed: [Followed] = []
    while followed.count < 10 {
      let query = try query(&random)
      // A condition that compares a key with what is no key is refused.
      if (try? DynamicQuery(query.orderedByKeyLast, .database(database)).fetch()) == nil {
        continue
      }
      followed.append(
        try Followed(query, database, at: try moment(database, start, &random.random)))
    }
    for round in 0..<30 {
      if random.random.chance(oneIn: 3) { try change() }
      for result in followed {
        let moment = try moment(database, start, &random.random)
        try result.move(to: moment, database, "seed \(seed), round \(round), \(moment)")
      }
    }
  }

  private func moment(
    _ database: Database, _ start: SequenceNumber, _ random: inout FormatRandom
  ) throws -> Moment {
    if random.chance(oneIn: 6) { return .now }
    let count = Int(try database.head.rawValue - start.rawValue)
    return .sequence(SequenceNumber(start.rawValue + UInt64(random.below(count + 1))))
  }

  // MARK: Changes

  @Test("needs the changes between, and reads no others", arguments: SeededGenerator.seeds(1, 2, 3))
  func changes(seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      for _ in 0..<60 {
        let count = 1 + random.random.below(5)
        try database.write { tx in for _ in 0..<count { try random.change(tx) } }
        try random.upheave(database)
      }
      let collections = [RandomConditions.things, RandomConditions.people]
      let sort = { (changes: [NetChange]) in
        changes.sorted {
          ($0.collection.bytes + $0.key).lexicographicallyPrecedes($1.collection.bytes + $1.key)
        }
      }
      for _ in 0..<60 {
        let (from, to) = (
          try database.snapshot(at: moment(database, .zero, &random.random)),
          try database.snapshot(at: moment(database, .zero, &random.random))
        )
        var between = ChangesBetween(
          from: try QueryRecords(from), to: try QueryRecords(to), in: collections, most: 10_000)
        let wanted = try NetChange.all(in: collections, from: from, to: to)
        #expect(sort(try #require(try between.read())) == sort(wanted), "seed \(seed)")
      }
    }
  }

  @Test("reads a transaction for each between, whatever the history's length")
  func cost() throws {
    try withDatabase { database in
      for number in 0..<200 {
        try database.write {
          try $0.set(
            NodePath(keys: ["jobs", .integer(Int64(number % 7))]),
            to: ["rank": .integer(Int64(number))])
        }
      }
      for (from, to, count) in [(100, 103, 3), (103, 100, 3), (200, 199, 1), (5, 5, 0)] {
        for (most, isRead) in [(2 * count, true), (2 * count - 1, count == 0)] {
          var between = ChangesBetween(
            from: try QueryRecords(database.snapshot(at: .sequence(SequenceNumber(UInt64(from))))),
            to: try QueryRecords(database.snapshot(at: .sequence(SequenceNumber(UInt64(to))))),
            in: ["jobs"], most: max(0, most))
          #expect(try between.read()?.count == (isRead ? count : nil), "\(from) to \(to), \(most)")
        }
      }
    }
  }

  // MARK: Reading again

  @Test("is read again across a declaration, and where only the present has an index")
  func readsAgain() throws {
    try withDatabase { database in
      var kinds = CollectionDefinition()
      kinds.properties = [PropertyDefinition("number", .integer)]
      kinds.indexes = [IndexDefinition([.init("number")])]
      try database.write { [kinds] tx in
        try tx.declare("kinds", kinds)
        try tx.set("kinds/x", to: ["number": 1])
        try tx.set("tasks/a", to: ["kind": 1])
      }
      let first = try database.head
      var tasks = CollectionDefinition()
      tasks.properties = [PropertyDefinition("rank", .integer)]
      tasks.properties[0].absence = .integer(1)
      try database.write { [tasks] in try $0.declare("tasks", tasks) }
      let second = try database.head
      try database.write { tx in
        try tx.set("kinds/x", to: ["number": 2])
        try tx.set("tasks/a", to: ["kind": 1, "title": "later"])
      }
      var joined = QueryDescription("tasks")
      joined.joins = [
        .init("other", "kinds", PropertyPath("kind"), inner: "number", isLeft: false)
      ]
      joined.selection = [PropertyPath(nil), PropertyPath(hops: ["other"], "number")]
      for query in [try QueryDescription(parsing: "tasks where rank = 1"), joined] {
        let followed = try Followed(query, database, at: .now)
        for moment in [.sequence(second), .now, .sequence(first), .sequence(second), .now]
          as [Moment]
        {
          try followed.move(to: moment, database, "\(moment)")
        }
      }
    }
  }

  // MARK: A history of jobs

  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Job>("jobs") { Index(\.rank) }
  }

  private struct Failure: Error {}

  /// Jobs 1 to 9, then each moment that follows.
  private static func moments(_ database: Database) throws -> [SequenceNumber] {
    try database.register(Job.self)
    try database.write { tx in
      for key in 1...9 { try tx.insert(Job(id: .init(key), rank: key)) }
    }
    var moments = [try database.head]
    try database.update(1 as Job.ID) { $0.rank = 10 }
    moments.append(try database.head)
    try database.delete(3 as Job.ID)
    moments.append(try database.head)
    try database.insert(Job(id: 20, rank: 0))
    moments.append(try database.head)
    return moments
  }

  @Test("tells what is different, in either direction")
  func directions() throws {
    try withDatabase { database in
      let moments = try Self.moments(database)
      let query = database.query(Job.self).order(by: \.rank)
      let all = try query.live(at: .sequence(moments[0]))
      let forward = try all.move(to: .sequence(moments[1]))
      #expect(forward.moves.map { [$0.from, $0.to] } == [[0, 8]])
      #expect(forward.updates.map(\.properties) == [[.init(name: "rank", old: 1, new: 10)]])
      let back = try all.move(to: .sequence(moments[0]))
      #expect(back.moves.map { [$0.from, $0.to] } == [[8, 0]])
      #expect(back.updates.map(\.properties) == [[.init(name: "rank", old: 10, new: 1)]])
      #expect(try all.move(to: .sequence(moments[0])).isEmpty)

      let first = try query.limit(2).live(at: .now)
      #expect(first.map(\.rank) == [0, 2])
      let before = try first.move(to: .sequence(moments[1]))
      #expect(before.deletions.map(\.cause) == [.own] && first.map(\.rank) == [2, 3])
      #expect(before.insertions.map(\.cause) == [.own])
      try first.move(to: .sequence(moments[0]))
      #expect(first.map(\.rank) == [1, 2])
      try first.move(to: .now)
      #expect(first.map(\.rank) == [0, 2])
    }
  }

  @Test("stays as it was where the moment is gone")
  func compacted() throws {
    try withDatabase { database in
      let moments = try Self.moments(database)
      let live = try database.query(Job.self).order(by: \.rank).live(at: .sequence(moments[1]))
      let before = Array(live)
      try database.compact(upTo: moments[2])
      #expect(throws: DatabaseError.compacted(oldest: moments[2])) {
        try live.move(to: .sequence(moments[0]))
      }
      #expect(throws: DatabaseError.self) { try live.move(to: .tag("unheard of")) }
      #expect(Array(live) == before && live.sequence == moments[1])
      // Its own moment is gone as well, so the query is run again.
      let diff = try live.move(to: .sequence(moments[2]))
      #expect(diff.deletions.map(\.element.id) == [3] && diff.applied(to: before) == Array(live))
      #expect(live.map(\.rank) == [2, 4, 5, 6, 7, 8, 9, 10] && diff.updates.isEmpty)
    }
  }

  @Test("stays as it was where reading fails")
  func failure() throws {
    try withDatabase { database in
      let moments = try Self.moments(database)
      let fails = Mutex(false)
      let query = database.query(Job.self).order(by: \.rank).filter { job in
        if fails.withLock({ $0 }) { throw Failure() }
        return job.rank != 4
      }
      let live = try query.live(at: .sequence(moments[0]))
      let before = Array(live)
      fails.withLock { $0 = true }
      #expect(throws: Failure.self) { try live.move(to: .now) }
      #expect(Array(live) == before && live.sequence == moments[0])
      fails.withLock { $0 = false }
      let diff = try live.move(to: .sequence(moments[1]))
      #expect(live.map(\.rank) == [2, 3, 5, 6, 7, 8, 9, 10])
      #expect(diff.applied(to: before) == Array(live))
      try live.move(to: .sequence(moments[0]))
      #expect(Array(live) == before)
    }
  }

  @Test("is observed, and follows no snapshot")
  func observation() throws {
    try withDatabase { database in
      let moments = try Self.moments(database)
      let live = try database.query(Job.self).live(at: .now)
      let told = Mutex(0)
      withObservationTracking {
        _ = live.first
      } onChange: {
        told.withLock { $0 += 1 }
      }
      try live.move(to: .sequence(moments[0]))
      #expect(told.withLock { $0 } == 1 && live.count == 9)
      #expect(!database.directory.feed.observers.isObserved)
      #expect(throws: DatabaseError.self) {
        try database.snapshot().query(Job.self).live(at: .now)
      }
    }
  }
}
