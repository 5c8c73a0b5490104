// Goal: a live result keeps its promises at its edges: when a step fails, when another question is
// asked, when the database closes, and when its observer is cancelled.

import Observation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A live result")
struct LiveResultsTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Job>("jobs") { Index(\.rank) }

    init() {}

    init(_ key: Int, rank: Int) {
      id = ID(key)
      self.rank = rank
    }
  }

  private struct Failure: Error {}

  private static func fill(_ database: Database) throws {
    try database.register(Job.self)
    try database.write { tx in for key in 1...9 { try tx.insert(Job(key, rank: key)) } }
  }

  @Test("is right again after a step that failed")
  func failure() throws {
    try withDatabase { database in
      try Self.fill(database)
      let fails = Mutex(false)
      let query = database.query(Job.self).order(by: \.rank).limit(3).filter { job in
        if fails.withLock({ $0 }) { throw Failure() }
        return job.rank != 2
      }
      let live = try query.live()
      #expect(live.map(\.rank) == [1, 3, 4])
      try database.update(4 as Job.ID) { $0.rank = 0 }
      fails.withLock { $0 = true }
      #expect(throws: Failure.self) { try live.refresh() }
      #expect(throws: Failure.self) { try live.ask(query.limit(5)) }
      #expect(live.map(\.rank) == [1, 3, 4])
      fails.withLock { $0 = false }
      let before = Array(live)
      let diff = try live.refresh()
      #expect(live.map(\.rank) == [0, 1, 3] && diff.applied(to: before) == Array(live))
      try database.delete(1 as Job.ID)
      #expect(try live.refresh().deletions.map(\.position) == [1])
      #expect(live.map(\.rank) == [0, 3, 5])
    }
  }

  @Test("has the order of the records where it shows their keys alone")
  func keys() throws {
    try withDatabase { database in
      try Self.fill(database)
      // The index has all that is asked for, and not what the order of the rows is made of.
      let live = try database.records("jobs sort -rank limit 4 | ids").live()
      let again = try database.records("jobs sort -rank limit 4 | ids").fetch()
      #expect(live.elementsEqual(again) && again.count == 4)
      try database.update(1 as Job.ID) { $0.rank = 7 }
      try database.delete(9 as Job.ID)
      try live.refresh()
      #expect(live.map(\.path) == ["jobs/8", "jobs/7", "jobs/1", "jobs/6"])
    }
  }

  @Test("answers another question with a difference")
  func question() throws {
    try withDatabase { database in
      try Self.fill(database)
      let query = database.query(Job.self).order(by: \.rank)
      let live = try query.limit(4).live()
      let shorter = try live.ask(query.limit(2))
      #expect(shorter.deletions.map(\.position) == [2, 3] && shorter.moves.isEmpty)
      #expect(shorter.deletions.allSatisfy { $0.cause == .question })
      let reversed = try live.ask(database.query(Job.self).order(by: \.rank.descending).limit(9))
      #expect(live.map(\.rank) == Array((1...9).reversed()) && reversed.insertions.count == 7)
      #expect(reversed.updates.isEmpty && reversed.moves.count == 1)
    }
  }

  @Test("tells what has changed, and why")
  func causes() throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try database.query(Job.self).order(by: \.rank).limit(3).live()
      try database.update(1 as Job.ID) { $0.rank = 10 }
      let diff = try live.refresh()
      #expect(diff.deletions.map(\.cause) == [.own] && diff.insertions.map(\.cause) == [.window])
      try database.update(3 as Job.ID) { $0.rank = 1 }
      let moved = try live.refresh()
      #expect(moved.moves.map { [$0.from, $0.to] } == [[1, 0]])
      #expect(moved.updates.map(\.properties) == [[.init(name: "rank", old: 3, new: 1)]])
      #expect(try live.refresh().isEmpty)
    }
  }

  @Test("ends with its task, and with the database")
  func ends() async throws {
    try await withDatabase { database in
      try Self.fill(database)
      let query = database.query(Job.self)
      let cancelled = Task {
        var count = 0
        for try await _ in query.changes() { count += 1 }
        return count
      }
      while !database.directory.feed.observers.isObserved { await Task.yield() }
      cancelled.cancel()
      #expect(try await cancelled.value <= 1)
      #expect(throws: DatabaseError.self) { try database.snapshot().query(Job.self).live() }
    }
    let database = try Database.inMemory(for: Job.self)
    let closed = Task { for try await _ in database.query(Job.self).changes() {} }
    while !database.directory.feed.observers.isObserved { await Task.yield() }
    try await database.close()
    try await closed.value
  }

  @Test("is observed")
  func observation() throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try database.query(Job.self).order(by: \.rank).limit(2).live()
      let told = Mutex(0)
      withObservationTracking {
        _ = live.first
      } onChange: {
        told.withLock { $0 += 1 }
      }
      try database.update(1 as Job.ID) { $0.rank = 20 }
      try live.refresh()
      #expect(told.withLock { $0 } == 1 && live.count == 2)
    }
  }

  @Test("leaves nothing behind")
  func nothingLeft() throws {
    try withDatabase { database in
      try Self.fill(database)
      for number in 0..<500 {
        let live = try database.query(Job.self).where { $0.rank == number % 7 }.live()
        #expect(live.count <= 1)
      }
      #expect(!database.directory.feed.observers.isObserved)
    }
  }
}
