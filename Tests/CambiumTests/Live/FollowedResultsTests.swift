// Goal: a result that follows by itself asks a question once, also where that fails, and says what
// is wrong until it is tried again.
//
// It finds, planted: a question that is asked again at each redraw after an error, and a retry that
// leaves the error.

import Synchronization
import Testing

@testable import Cambium

@MainActor
@Suite("A result that follows by itself")
struct FollowedResultsTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Job>("jobs") {}
  }

  private struct Failure: Error {}

  /// A query that fails as long as somebody wants it to, and counts the records that it looks at.
  private struct Failing {
    let fails = Toggle()
    let database: Database
    private let looks = Looks()

    private final class Looks: Sendable {
      let count = Mutex(0)
    }

    var count: Int { looks.count.withLock { $0 } }

    var query: ModelQuery<Job> {
      database.query(Job.self).order(by: \.rank).filter { [fails, looks] _ in
        looks.count.withLock { $0 += 1 }
        if fails.isOn { throw Failure() }
        return true
      }
    }

    init(_ database: Database) throws {
      self.database = database
      try database.register(Job.self)
      try database.write { tx in
        for key in 1...5 { try tx.insert(Job(id: .init(key), rank: key)) }
      }
    }
  }

  @Test("asks a question that failed once, until it is tried again")
  func errors() throws {
    try withDatabase { database in
      let failing = try Failing(database)
      let followed = FollowedResults(failing.query.limit(2))
      #expect(followed.elements.map(\.rank) == [1, 2])
      failing.fails.isOn = true
      followed.ask(failing.query.limit(3))
      let count = failing.count
      for _ in 0..<3 {
        followed.ask(failing.query.limit(3))
        #expect(followed.error is Failure && followed.elements.map(\.rank) == [1, 2])
      }
      followed.retry()
      #expect(followed.error is Failure && failing.count > count)
      failing.fails.isOn = false
      followed.ask(failing.query.limit(3))
      #expect(followed.error is Failure && followed.elements.count == 2)
      followed.retry()
      #expect(followed.error == nil && followed.elements.map(\.rank) == [1, 2, 3])
      let settled = failing.count
      followed.retry()
      #expect(failing.count == settled)
    }
  }

  @Test("goes on with the question before, or another one")
  func others() throws {
    try withDatabase { database in
      let failing = try Failing(database)
      let followed = FollowedResults(failing.query.limit(2))
      #expect(followed.elements.count == 2)
      failing.fails.isOn = true
      followed.ask(failing.query.limit(3))
      failing.fails.isOn = false
      followed.ask(failing.query.limit(2))
      #expect(followed.error == nil && followed.elements.map(\.rank) == [1, 2])
    }
  }

  @Test("keeps the error of its first reading until it is tried again")
  func first() throws {
    try withDatabase { database in
      let failing = try Failing(database)
      failing.fails.isOn = true
      let followed = FollowedResults(failing.query)
      #expect(followed.elements.isEmpty && followed.error is Failure)
      failing.fails.isOn = false
      followed.ask(failing.query)
      #expect(followed.elements.isEmpty && followed.error is Failure)
      followed.retry()
      #expect(followed.error == nil && followed.elements.count == 5)
    }
  }
}
