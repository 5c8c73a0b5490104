// Goal: a step that takes long leaves the executor of its observer free, and is the step that it
// would have been there. Method: a filter in Swift says on which thread it ran; steps of threads
// are mixed with others of the observer, and each difference is applied to a view that is strict.

import Dispatch
import Simulation
import Synchronization
import Testing

@testable import Cambium

@MainActor
@Suite("A long step", .timeLimit(.minutes(2)))
struct LongStepTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    var parent: Job.ID?
    var children: Many<Job> { many(\.parent) }
    static let schema = ModelSchema<Job>("jobs") { Index(\.rank) }
  }

  /// The threads on which a filter ran.
  private final class Filter: Sendable {
    private static let mainKey = DispatchSpecificKey<Bool>()
    private let counts = Mutex((main: 0, others: 0))

    init() { DispatchQueue.main.setSpecific(key: Filter.mainKey, value: true) }

    func accepts(_ job: Job) -> Bool {
      let isMain = DispatchQueue.getSpecific(key: Filter.mainKey) == true
      counts.withLock { if isMain { $0.main += 1 } else { $0.others += 1 } }
      return job.rank >= 0
    }

    /// The calls since this was asked last.
    func take() -> (main: Int, others: Int) {
      counts.withLock { counts in
        defer { counts = (0, 0) }
        return counts
      }
    }
  }

  private final class Calls: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func count() -> Int { number.add(1, ordering: .relaxed).newValue }
  }

  /// A list view, and what its observer showed last.
  @MainActor
  private final class Screen {
    private var view = StrictListView<Job, Int>(EmptyCollection())
    private(set) var shown: [Job] = []

    func show(_ elements: LiveElements<Job>) {
      (view, shown) = (StrictListView(elements), Array(elements))
    }

    func apply(_ diff: LiveDiff<Job>) throws {
      try view.apply(diff)
      shown = Array(diff.elements)
    }
  }

  private nonisolated static func add(_ count: Int, _ database: Database) throws {
    try database.write { tx in for number in 0..<count { try tx.insert(Job(rank: number)) } }
  }

  private nonisolated static func raise(_ count: Int, _ database: Database) throws {
    try database.write { tx in
      for number in 1...count { try tx.update(Job.ID(number)) { $0.rank += 1 } }
    }
  }

  @Test("is computed on another thread, a short one where it is awaited")
  func threads() async throws {
    try await withDatabase { database in
      try Self.add(1_000, database)
      let filter = Filter()
      let query = database.query(Job.self).filter { filter.accepts($0) }.order(by: \.rank, \.id)
      var changes = query.changes().makeAsyncIterator()
      #expect(try await changes.next(isolation: MainActor.shared)?.insertions.count == 1_000)
      #expect(filter.take() == (0, 1_000))
      try Self.raise(1, database)
      #expect(try await changes.next(isolation: MainActor.shared)?.updates.count == 1)
      #expect(filter.take() == (1, 0))
      try Self.raise(900, database)
      #expect(try await changes.next(isolation: MainActor.shared)?.updates.count == 900)
      let long = filter.take()
      #expect(long.main == 0 && long.others >= 900)

      let live = try query.live()
      #expect(filter.take() == (1_000, 0))
      let following = Task { try await live.follow() }
      try Self.raise(900, database)
      while live.sequence < (try database.head) { await Task.yield() }
      #expect(filter.take().main == 0)
      #expect(try Array(live) == query.fetch())
      following.cancel()
      try await following.value
    }
  }

  @Test("that joins, refills or runs again is computed on another thread")
  func shapes() async throws {
    try await withDatabase { database in
      try Self.add(1_000, database)
      let filter = Filter()
      let first = database.query(Job.self).filter { filter.accepts($0) }.order(by: \.rank).limit(4)
      var changes = first.changes().makeAsyncIterator()
      _ = try await changes.next(isolation: MainActor.shared)
      _ = filter.take()
      var removed = 0
      while filter.take().others == 0 {
        removed += 1
        #expect(removed < 40, "nothing was fetched behind the window")
        let id = Job.ID(removed)
        _ = try await database.write { tx in try tx.delete(id) }
        #expect(try await changes.next(isolation: MainActor.shared) != nil)
      }
      let parents = database.query(Job.self).filter { filter.accepts($0) }
        .where { $0.children.none { $0.rank > 5 } }
      var related = parents.changes().makeAsyncIterator()
      _ = try await related.next(isolation: MainActor.shared)
      _ = filter.take()
      try await database.write { tx in try tx.update(Job.ID(900)) { $0.parent = Job.ID(901) } }
      #expect(try await related.next(isolation: MainActor.shared) != nil)
      #expect(filter.take().main == 0)
      let number = database.query(Job.self).filter { filter.accepts($0) }.select(\.rank).distinct()
      let live = try number.live()
      _ = filter.take()
      let following = Task { try await live.follow() }
      try Self.add(600, database)
      while live.sequence < (try database.head) { await Task.yield() }
      #expect(filter.take().main == 0)
      following.cancel()
      try await following.value
    }
  }

  @Test("ends early once nobody waits for it")
  func cancelled() async throws {
    try await withDatabase { database in
      try Self.add(20_000, database)
      let (calls, gate) = (Calls(), DispatchSemaphore(value: 0))
      let query = database.query(Job.self).filter { _ in
        if calls.count() == 1 { gate.wait() }
        return true
      }
      let task = Task {
        var changes = query.changes().makeAsyncIterator()
        return try await changes.next(isolation: MainActor.shared)?.elements.count
      }
      while calls.value == 0 { await Task.yield() }
      task.cancel()
      gate.signal()
      #expect(try await task.value == nil)
      #expect(calls.value < 20_000)
    }
  }

  /// The step has taken its changes: the mailbox has nothing to wake the others by.
  @Test("is heard of by a loop that begins beside it, or after it was cancelled")
  func heard() async throws {
    for isCancelled in [false, true] {
      try await withDatabase({ $0.stepSizes.shortRecords = 0 }) { database in
        try Self.add(10, database)
        let (calls, gate) = (Calls(), DispatchSemaphore(value: 0))
        let live = try database.query(Job.self).filter { _ in
          if calls.count() == 11 { gate.wait() }
          return true
        }.live()
        let first = Task { try await live.follow() }
        try Self.raise(1, database)
        while calls.value < 11 { await Task.yield() }
        if isCancelled {
          first.cancel()
          gate.signal()
          try await first.value
        }
        let heard = Calls()
        let second = Task { try await live.follow { _ in _ = heard.count() } }
        for _ in 0..<100 { await Task.yield() }
        if !isCancelled { gate.signal() }
        var turns = 0
        while heard.value == 0, turns < 100_000 {
          turns += 1
          await Task.yield()
        }
        #expect(heard.value == 1 && live.first?.rank == 1)
        for task in [first, second] { task.cancel() }
        for task in [first, second] { try await task.value }
      }
    }
  }

  /// The observer takes steps, asks other questions and turns pages while threads finish steps.
  @Test("is mixed with steps of its observer", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func mixed(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    try await withDatabase({ $0.stepSizes.shortRecords = seed % 2 == 0 ? 4 : 0 }) { database in
      try Self.add(50, database)
      let all = database.query(Job.self).order(by: \.rank, \.id)
      let (live, pages) = (try all.live(), try all.livePages(of: 7, keeping: 3))
      let (list, table) = (Screen(), Screen())
      let following = [
        Task {
          list.show(live.elements)
          try await live.follow { try list.apply($0) }
        },
        Task {
          table.show(pages.elements)
          try await pages.follow { try table.apply($0) }
        },
        Task { try await live.follow() },
      ]
      let writing = Task.detached {
        var random = SeededGenerator(seed: seed &+ 1)
        for _ in 0..<200 {
          let (count, rank) = (1 + random.below(30), random.below(90))
          try database.write { tx in
            for _ in 0..<count {
              try tx.upsert(Job(id: Job.ID(1 + random.below(80)), rank: rank + random.below(9)))
            }
          }
        }
      }
      for _ in 0..<300 {
        switch random.below(5) {
        case 0: try live.refresh()
        case 1:
          let limit = random.below(60)
          try live.ask(limit < 20 ? all : all.limit(limit))
        case 2: try pages.next()
        case 3: try pages.previous()
        default: await Task.yield()
        }
      }
      try await writing.value
      try live.refresh()
      try pages.refresh()
      var turns = 0
      while list.shown != Array(live) || table.shown != Array(pages), turns < 100_000 {
        turns += 1
        await Task.yield()
      }
      #expect(try Array(live) == live.query.fetch())
      let rows = try all.fetch()
      let start = rows.firstIndex { $0 == pages.first } ?? 0
      #expect(Array(pages) == Array(rows[start..<min(rows.count, start + pages.count)]))
      for task in following { task.cancel() }
      for task in following { try await task.value }
      #expect(list.shown == Array(live) && table.shown == Array(pages))
    }
  }
}
