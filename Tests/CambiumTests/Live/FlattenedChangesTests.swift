// Goal: the inner live results of an outer one's elements come out as one result, which is right
// after each transaction, whichever of them it concerns. Method: issues and their comments, changed
// at random; the differences are taken until the result is what a query finds.

import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Live results of live results", .timeLimit(.minutes(2)))
struct FlattenedChangesTests {
  typealias Issue = LiveCollectionTests.Issue
  typealias Comment = LiveCollectionTests.Comment

  private static func comments(_ database: Database, of issue: Issue) -> ModelQuery<Comment> {
    database.query(Comment.self).where { $0.issue == issue.id }.order(by: \.text, \.id).limit(3)
  }

  private static func open(_ database: Database) -> ModelQuery<Issue> {
    database.query(Issue.self).where { $0.isOpen == true }.order(by: \.rank, \.id).limit(6)
  }

  private static func stored(_ database: Database) throws -> [Comment] {
    try open(database).fetch().flatMap { try comments(database, of: $0).fetch() }
  }

  private static func change(_ database: Database, _ random: inout SeededGenerator) throws {
    try database.write { tx in
      for _ in 0...random.below(4) {
        let issue = Issue.ID(random.below(9))
        if random.oneIn(3) {
          try tx.upsert(Issue(id: issue, rank: random.below(5), isOpen: !random.oneIn(3)))
        } else if random.oneIn(4) {
          _ = try tx.delete(Comment.ID(random.below(40)))
        } else {
          let comment = Comment(
            id: .init(random.below(40)), issue: issue, text: random.below(5))
          try tx.upsert(comment)
        }
      }
    }
  }

  // Finds an inner result that is followed after its element left, or not from where it began, and
  // one whose differences come out at another's place.
  @Test("follow both", arguments: SeededGenerator.seeds(1, 2, 3))
  func follow(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed, 21)
    try await withDatabase { database in
      try await database.register(Issue.self, Comment.self)
      for _ in 0..<30 { try Self.change(database, &random) }
      let changes = Self.open(database).changes().flatMapElements(following: { issue in
        Self.comments(database, of: issue).changes()
      })
      var iterator = changes.makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(try Array(first.elements) == Self.stored(database), "seed \(seed)")
      var (view, shown) = (StrictListView(first.elements), first.elements)
      for _ in 0..<80 {
        for _ in 0...random.below(3) { try Self.change(database, &random) }
        let wanted = try Self.stored(database)
        while Array(shown) != wanted {
          let diff = try #require(try await iterator.next())
          try view.apply(diff)
          shown = diff.elements
        }
      }
    }
  }

  // Finds inner results that stay when nobody asks any more.
  @Test("end with their observer")
  func end() async throws {
    try await withDatabase { database in
      try await database.register(Issue.self, Comment.self)
      for key in 0..<5 { try await database.insert(Issue(id: .init(key), rank: key)) }
      let changes = Self.open(database).changes().flatMapElements(following: { issue in
        Self.comments(database, of: issue).changes()
      })
      let task = Task {
        var count = 0
        for try await _ in changes { count += 1 }
        return count
      }
      while !Task.isCancelled && !database.directory.feed.observers.isObserved {
        await Task.yield()
      }
      task.cancel()
      #expect(try await task.value <= 1)
      while !Task.isCancelled && database.directory.feed.observers.isObserved { await Task.yield() }
    }
  }

  // Finds an inner result that is followed after its element has left.
  @Test("end with their element")
  func ending() async throws {
    try await withDatabase { database in
      try await database.register(Issue.self, Comment.self)
      for key in 1...3 { try await database.insert(Issue(id: .init(key), rank: key)) }
      let ended = Mutex<[Int]>([])
      let changes = Self.open(database).changes().flatMapElements(following: { issue in
        AsyncStream<LiveDiff<Int>> { stream in
          stream.onTermination = { _ in ended.withLock { $0.append(issue.rank) } }
          stream.yield(.appearing(LiveElements([issue.rank]), at: 1))
        }
      })
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next().map { Array($0.elements) } == [1, 2, 3])
      try await database.update(Issue.ID(2)) { $0.isOpen = false }
      #expect(try await iterator.next().map { Array($0.elements) } == [1, 3])
      while !Task.isCancelled && ended.withLock({ $0 }) != [2] { await Task.yield() }
      // An update of the element leaves its inner result as it is.
      try await database.update(Issue.ID(3)) { $0.rank = 0 }
      #expect(try await iterator.next().map { Array($0.elements) } == [3, 1])
      #expect(ended.withLock { $0 } == [2])
    }
  }

  // Finds a failure that is lost on its way out of a task.
  @Test("fail with one of them")
  func failing() async throws {
    struct Failure: Error {}
    try await withDatabase { database in
      try await database.register(Issue.self, Comment.self)
      try await database.insert(Issue(id: 1, rank: 1))
      let changes = Self.open(database).changes().flatMapElements(following: { issue in
        Self.comments(database, of: issue).changes().mapElements { comment in
          if comment.text == 4 { throw Failure() }
          return comment.text
        }
      })
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next()?.elements.isEmpty == true)
      try await database.insert(Comment(id: 1, issue: 1, text: 3))
      #expect(try await iterator.next().map { Array($0.elements) } == [3])
      try await database.insert(Comment(id: 2, issue: 1, text: 4))
      await #expect(throws: Failure.self) { try await iterator.next() }
      #expect(try await iterator.next() == nil)
    }
  }

  @Test("are a collection")
  @MainActor
  func collection() async throws {
    let database = try Database.inMemory(for: Issue.self, Comment.self)
    try await database.insert(Issue(id: 1, rank: 1))
    let texts = LiveCollection(
      following: Self.open(database).changes().flatMapElements(following: { issue in
        Self.comments(database, of: issue).changes()
      }))
    let sum = try texts.mapElements { $0.text }
    let task = Task { @MainActor in try await sum.follow() }
    for key in 1...3 { try await database.insert(Comment(id: .init(key), issue: 1, text: key)) }
    while !Task.isCancelled && sum.reduce(0, +) != 6 { await Task.yield() }
    try await database.update(Issue.ID(1)) { $0.isOpen = false }
    while !Task.isCancelled && !texts.isEmpty { await Task.yield() }
    task.cancel()
    try await task.value
    try expectSound(database)
    try await database.close()
  }
}
