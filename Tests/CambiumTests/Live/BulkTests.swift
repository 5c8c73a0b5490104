// Goal: during a bulk write no live result takes a step by itself, and afterwards each takes one,
// from which nothing is missing; feeds have every transaction. Random histories are held against
// fresh queries.

import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A bulk write", .timeLimit(.minutes(2)))
struct BulkTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Job>("jobs") { Index(\.rank) }
  }

  private struct Failure: Error {}

  /// The differences that a follower was told, as they come.
  private final class Told: Sendable {
    let diffs = Mutex<[LiveDiff<Job>]>([])
    var count: Int { diffs.withLock { $0.count } }
    func add(_ diff: LiveDiff<Job>) { diffs.withLock { $0.append(diff) } }
  }

  /// Follows a query while a body runs, and until the follower has come to the newest moment.
  private func following(
    _ database: Database, limit: Int? = nil,
    _ body: (Told) async throws -> Void
  ) async throws -> [LiveDiff<Job>] {
    let told = Told()
    let ordered = database.query(Job.self).order(by: \.rank, \.id)
    let query = limit.map { ordered.limit($0) } ?? ordered
    let task = Task { for try await diff in query.changes() { told.add(diff) } }
    while told.count == 0 { await Task.yield() }
    try await body(told)
    let wanted = try query.fetch()
    while told.diffs.withLock({ Array($0.last?.elements ?? LiveElements([])) }) != wanted {
      await Task.yield()
    }
    task.cancel()
    try await task.value
    return told.diffs.withLock { $0 }
  }

  @Test("is told of once, with everything, however much it is", arguments: [3, 60, 600])
  func once(size: Int) async throws {
    try await withDatabase { database in
      try await database.register(Job.self)
      let diffs = try await following(database) { told in
        await Task.yield()
        try await database.bulk {
          for batch in 0..<10 {
            try await database.write { tx in
              for number in 0..<size { try tx.insert(Job(rank: batch * size + number)) }
            }
            try await Task.sleep(for: .milliseconds(2))
            #expect(told.count == 1)
          }
        }
      }
      #expect(diffs.count == 2 && diffs[1].insertions.count == 10 * size)
    }
  }

  @Test("lets steps that are asked for through, and new results begin with what is there")
  func steps() throws {
    try withDatabase { database in
      try database.register(Job.self)
      let live = try database.query(Job.self).order(by: \.rank).live()
      try database.bulk {
        try database.insert(Job(rank: 1))
        #expect(live.isEmpty)
        #expect(try live.refresh().insertions.count == 1)
        try database.insert(Job(rank: 2))
        let other = try database.query(Job.self).live()
        #expect(other.count == 2)
        try database.insert(Job(rank: 3))
        #expect(try other.refresh().insertions.count == 1)
      }
      #expect(try live.refresh().insertions.count == 2 && live.count == 3)
    }
  }

  @Test("that fails or nests is told of when the last one ends")
  func nesting() async throws {
    try await withDatabase { database in
      try await database.register(Job.self)
      let diffs = try await following(database) { told in
        await #expect(throws: Failure.self) {
          try await database.bulk {
            try await database.insert(Job(rank: 1))
            try await database.bulk { _ = try await database.insert(Job(rank: 2)) }
            try await Task.sleep(for: .milliseconds(5))
            #expect(told.count == 1)
            throw Failure()
          }
        }
      }
      #expect(diffs.count == 2 && diffs[1].insertions.count == 2)
    }
  }

  @Test("reaches feeds transaction by transaction, while it goes on")
  func feeds() async throws {
    try await withDatabase { database in
      try await database.register(Job.self)
      let head = try database.head
      try await database.bulk {
        var commits = database.changes(after: head).makeAsyncIterator()
        for number in 1...5 {
          try await database.insert(Job(rank: number))
          let commit = try #require(await commits.next())
          #expect(try commit.changes.fetch().count == 1)
        }
      }
    }
  }

  @Test("wakes other processes once, at the end")
  func others() throws {
    try withDatabase { database in
      let wake = WakeFile(watching: "\(database.path)/wake")
      let calls = Mutex(0)
      let watch = FileWatch(wake) { calls.withLock { $0 += 1 } }
      try database.write { try $0.set("a", to: 1) }
      let before = wake.read()
      #expect(before == (try database.head.rawValue))
      try database.bulk {
        for number in 2...9 {
          try database.write { try $0.set("a", to: .integer(Int64(number))) }
        }
        #expect(wake.read() == before)
      }
      #expect(wake.read() == (try database.head.rawValue))
      database.bulk {}
      #expect(wake.read() == (try database.head.rawValue))
      withExtendedLifetime(watch) {}
    }
  }

  @Test("leaves nothing out of any live result", arguments: [1, 2, 3] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    try withDatabase { database in
      try database.register(Job.self)
      let ordered = database.query(Job.self).order(by: \.rank, \.id)
      let queries = [
        ordered, ordered.limit(5), ordered.where { $0.rank > 5 },
      ]
      let lives = try queries.map { try $0.live() }
      var mirrors = lives.map { Array($0) }
      func change() throws {
        try database.write { tx in
          for _ in 0..<(1 + below(below(8) == 0 ? 400 : 4)) {
            let id = Job.ID(below(60))
            if below(3) == 0 {
              try tx.delete(id)
            } else {
              try tx.upsert(Job(id: id, rank: below(12)))
            }
          }
        }
      }
      func check(_ index: Int) throws {
        mirrors[index] = try lives[index].refresh().applied(to: mirrors[index])
        try #require(mirrors[index] == (try queries[index].fetch()))
        try #require(Array(lives[index]) == mirrors[index])
      }
      for _ in 0..<60 {
        if below(2) == 0 { try change() }
        try database.bulk {
          for _ in 0..<below(6) {
            try change()
            if below(3) == 0 { try check(below(lives.count)) }
          }
        }
        for index in lives.indices where below(3) > 0 { try check(index) }
      }
    }
  }
}
