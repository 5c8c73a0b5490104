// Goal: whoever observes one row of a live result is told of that row alone, whoever observes the
// rows of their order alone, and a result that follows by itself does so until it is let go.

import Observation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A row of a live result")
struct LiveItemTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    var note = ""
    static let schema = ModelSchema<Job>("jobs") { Index(\.rank) }

    init() {}

    init(_ key: Int, rank: Int) {
      id = ID(key)
      self.rank = rank
    }
  }

  private static func fill(_ database: Database) throws {
    try database.register(Job.self)
    try database.write { tx in for key in 1...5 { try tx.insert(Job(key, rank: key * 10)) } }
  }

  /// True if a step changes something that is read.
  private static func isTold(of read: () -> Void, by step: () throws -> Void) throws -> Bool {
    let isTold = Mutex(false)
    withObservationTracking(read) { isTold.withLock { $0 = true } }
    try step()
    return isTold.withLock { $0 }
  }

  @Test(
    "is the same as long as it is in the result, and shows its element",
    arguments: 1...3 as ClosedRange<UInt64>)
  func identity(_ seed: UInt64) throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try database.query(Job.self).order(by: \.rank).limit(4).live()
      var known = Dictionary(uniqueKeysWithValues: live.items.map { ($0.element.id, $0) })
      var random = SeededGenerator(seed: seed)
      for step in 0..<200 {
        try database.write { tx in
          for _ in 0..<Int.random(in: 1...3, using: &random) {
            let id = Job.ID(Int.random(in: 1...5, using: &random))
            try tx.update(id) {
              $0.rank = Int.random(in: 0..<60, using: &random)
              $0.note = "\(step)"
            }
          }
        }
        try live.refresh()
        #expect(live.items.map(\.element) == Array(live), "seed \(seed), step \(step)")
        let now = Dictionary(uniqueKeysWithValues: live.items.map { ($0.element.id, $0) })
        for (id, item) in now { if let former = known[id] { #expect(former === item) } }
        known = now
      }
    }
  }

  @Test("is told of its own changes, and the rows of their order")
  func observing() throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try database.query(Job.self).order(by: \.rank).limit(4).live()
      let (first, second) = (live.items[0], live.items[1])
      func change(_ key: Int, _ body: (inout Job) -> Void) throws {
        try database.update(Job.ID(key), body)
        try live.refresh()
      }
      func renameSecond() throws { try change(2) { $0.note += "x" } }
      #expect(try Self.isTold(of: { _ = second.element }, by: renameSecond))
      #expect(try !Self.isTold(of: { _ = first.element }, by: renameSecond))
      #expect(try !Self.isTold(of: { _ = live.items.count }, by: renameSecond))
      #expect(try Self.isTold(of: { _ = live.elements }, by: renameSecond))
      #expect(second.element.note == "xxxx")
      // Behind the window, and then into it.
      #expect(try !Self.isTold(of: { _ = live.items }) { try change(5) { $0.rank = 45 } })
      #expect(try Self.isTold(of: { _ = live.items }) { try change(5) { $0.rank = 5 } })
      #expect(live.items[1] === first && live.items[0].element.rank == 5)
      #expect(try !Self.isTold(of: { _ = first.element }) { try change(5) { $0.rank = 25 } })
      let shown = try live.object(at: 0)
      #expect(shown === (try database.live(first.element.id)) && shown.rank == 10)
    }
  }

  @Test("follows by itself as long as its result is held")
  func following() async throws {
    try await withDatabase { database in
      try Self.fill(database)
      try await Self.follow(database)
    }
  }

  @MainActor
  private static func follow(_ database: Database) async throws {
    let query = database.query(Job.self).order(by: \.rank)
    var held: FollowedResults? = FollowedResults(query.limit(2))
    weak let results = held?.results
    try await steps(#require(held), query, database)
    #expect(results != nil)
    held = nil
    #expect(try await eventually { results == nil })
  }

  @MainActor
  private static func steps(
    _ followed: FollowedResults<ModelQuery<Job>>, _ query: ModelQuery<Job>, _ database: Database
  ) async throws {
    #expect(followed.elements.map(\.rank) == [10, 20] && followed.error == nil)
    try await database.update(5 as Job.ID) { $0.rank = 15 }
    #expect(try await eventually { followed.elements.map(\.rank) == [10, 15] })
    #expect(followed.items.map(\.element) == Array(followed.elements))
    let first = followed.items[0]
    followed.ask(query.limit(3))
    #expect(followed.elements.map(\.rank) == [10, 15, 20] && followed.items[0] === first)
    let results = followed.results
    followed.ask(query.limit(3))
    #expect(followed.results === results)
    // A query that cannot be followed leaves the result, and the next one goes on.
    followed.ask(try page(query.limit(1)))
    #expect(followed.error != nil && followed.elements.count == 3)
    followed.ask(query.limit(1))
    #expect(followed.error == nil && followed.elements.map(\.rank) == [10])
    try await database.update(3 as Job.ID) { $0.rank = 1 }
    #expect(try await eventually { followed.elements.map(\.rank) == [1] })
  }

  private static func page(_ query: ModelQuery<Job>) throws -> ModelQuery<Job> {
    query.after(try query.page().next)
  }
}
