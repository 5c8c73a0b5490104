// Goal: a collection that is derived from a live result shows what its source makes, and tells each
// difference to each of its followers.

import Observation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A live collection", .timeLimit(.minutes(2)))
struct LiveCollectionTests {
  struct Issue: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    var isOpen = true
    var labels: [String] = []
    static let schema = ModelSchema<Issue>("issues") { Index(\.rank) }
  }

  struct Comment: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var issue = Issue.ID()
    var text = 0
    static let schema = ModelSchema<Comment>("comments") { Index(\.issue, \.text) }
  }

  struct Board: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var issues: [Issue.ID] = []
    var pinned: Set<Issue.ID>?
    var votes: [Issue.ID: Int] = [:]
    static let schema = ModelSchema<Board>("boards") {}
  }

  static func register(_ database: Database) throws {
    try database.register(Issue.self, Comment.self, Board.self)
  }

  /// A random change of issues, comments and the board.
  static func change(
    _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    for _ in 0...random.below(4) {
      let id = Issue.ID(random.below(14))
      if random.oneIn(5) {
        _ = try tx.delete(id)
      } else if random.oneIn(2) {
        let labels = ["a", "b", "c", "d"].filter { _ in random.oneIn(2) }
        try tx.upsert(
          Issue(
            id: id, rank: random.below(9), isOpen: random.oneIn(2),
            labels: labels.shuffled(using: &random)))
      } else {
        let comment = Comment.ID(random.below(40))
        if random.oneIn(4) {
          _ = try tx.delete(comment)
        } else {
          try tx.upsert(Comment(id: comment, issue: id, text: random.below(5)))
        }
      }
    }
    if random.oneIn(3) { try tx.upsert(board(&random)) }
    if random.oneIn(20) { _ = try tx.delete(Board.ID(1)) }
  }

  private static func board(_ random: inout SeededGenerator) -> Board {
    var board = Board(id: 1)
    for key in (0..<14).shuffled(using: &random) where random.oneIn(2) {
      board.issues.append(Issue.ID(key))
      if random.oneIn(3) { board.issues.append(Issue.ID(key)) }
      board.votes[Issue.ID(random.below(14))] = random.below(3)
    }
    board.pinned = random.oneIn(2) ? nil : Set(board.issues.prefix(3))
    return board
  }

  private static func issues(_ database: Database) -> ModelQuery<Issue> {
    database.query(Issue.self).order(by: \.rank, \.id).limit(9)
  }

  // Finds a derived collection that is told of a step twice or not at all, and one that another's
  // step leaves behind.
  @Test("is what its source makes", arguments: SeededGenerator.seeds(1, 2, 3))
  func derived(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, 18)
    try withDatabase { database in
      try Self.register(database)
      let live = try Self.issues(database).live()
      let open = try live.filterElements { $0.isOpen }
      let labels = try open.flatMapElements { $0.labels }
      let ranks = try live.groupElements(by: { $0.rank }).mapElements { $0.count }
      var views = (StrictListView(open), StrictListView(labels), StrictListView(ranks))
      for _ in 0..<120 {
        try database.write { tx in try Self.change(tx, &random) }
        // Whoever takes the step, all have taken it; the next step tells them nothing.
        let inboxes = (
          open.observers.inbox(), labels.observers.inbox(), ranks.observers.inbox()
        )
        switch random.below(3) {
        case 0: try live.refresh()
        case 1: try labels.refresh()
        default: try ranks.refresh()
        }
        try views.0.apply(try #require(inboxes.0.take()))
        try views.1.apply(try #require(inboxes.1.take()))
        try views.2.apply(try #require(inboxes.2.take()))
        let stored = try Self.issues(database).fetch()
        #expect(Array(live) == stored, "seed \(seed)")
        #expect(Array(open) == stored.filter(\.isOpen), "seed \(seed)")
        #expect(Array(labels) == stored.filter(\.isOpen).flatMap(\.labels), "seed \(seed)")
        #expect(ranks.reduce(0, +) == stored.count && open.sequence == live.sequence)
        #expect(try labels.refresh().isEmpty)
      }
    }
  }

  // Finds a follower that misses what another one's step brought, and one that outlives its task.
  @Test("tells each of its followers each difference")
  @MainActor
  func followers() async throws {
    let database = try Database.inMemory(for: Issue.self)
    let live = try Self.issues(database).live()
    let ranks = try live.mapElements { $0.rank }
    let odd = try ranks.filterElements { $0 % 2 == 1 }
    var seen = [[Int]](repeating: [], count: 2)
    let tasks = [
      Task { @MainActor in try await ranks.follow { _ in seen[0] = Array(ranks) } },
      Task { @MainActor in try await odd.follow { _ in seen[1] = Array(odd) } },
    ]
    await Task.yield()
    for key in 1...20 {
      try await database.insert(Issue(id: .init(key), rank: key))
      await Task.yield()
    }
    while !Task.isCancelled && (seen[0] != Array(1...9) || seen[1] != [1, 3, 5, 7, 9]) {
      await Task.yield()
    }
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
    try expectSound(database)
    try await database.close()
  }

  @Test("tries again after its closure has failed, and is observed")
  func failing() throws {
    struct Failure: Error {}
    try withDatabase { database in
      try Self.register(database)
      let fails = Toggle()
      let ranks = try Self.issues(database).live().mapElements { issue in
        if fails.isOn { throw Failure() }
        return issue.rank
      }
      let told = Mutex(0)
      withObservationTracking {
        _ = ranks.first
      } onChange: {
        told.withLock { $0 += 1 }
      }
      fails.isOn = true
      try database.insert(Issue(id: 1, rank: 3))
      #expect(throws: Failure.self) { try ranks.refresh() }
      try database.insert(Issue(id: 2, rank: 2))
      #expect(throws: Failure.self) { try ranks.refresh() }
      #expect(ranks.isEmpty && told.withLock { $0 } == 0)
      fails.isOn = false
      #expect(try ranks.refresh().insertions.map(\.element) == [2, 3])
      #expect(Array(ranks) == [2, 3] && told.withLock { $0 } == 1)
    }
  }
}
