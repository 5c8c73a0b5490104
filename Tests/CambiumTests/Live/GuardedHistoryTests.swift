// Goal: a window that is woken by its guards alone, which go with its rows, is as one that sees
// every change. Method: random declarations, queries along all relations, and histories from a
// printed seed. Each query is stepped now and then by the changes that the router has brought; its
// rows must be those of a new run, and of the rows that stay each must be looked at of which
// anything is shown otherwise, records that are loaded along included. Far fewer changes must come
// than there are.
//
// It fails where points of rows that come are left out and those that others have are removed, and
// where a back reference is looked for by its key and one property alone is compared: both pairs
// were planted.

import Simulation
import Testing

@testable import Cambium

@Suite("A window that is woken by its guards", .timeLimit(.minutes(10)))
struct GuardedHistoryTests {
  @Test("is as one that sees every change", arguments: SeededGenerator.seeds([1, 3, 4, 5]))
  func history(seed: UInt64) throws {
    try withDatabase { database in
      var relations = RandomRelations(seed: seed)
      try database.write { [relations] tx in
        for (path, definition) in relations.definitions { try tx.declare(path, definition) }
      }
      var world: [NodePath: ValueMap] = [:]
      try DependenciesTests.change(database, &relations, &world, 60)
      var every = EveryChange()
      var windows: [GuardedWindow] = []
      for _ in 0..<120 {
        while windows.count < 12 {
          if let window = try GuardedWindow(&relations, database) { windows.append(window) }
        }
        try DependenciesTests.change(database, &relations, &world, 1 + relations.random.below(3))
        for window in windows where relations.random.chance(oneIn: 2) {
          try window.step("seed \(seed)")
        }
        for window in windows where window.isOver { every.add(window) }
        windows.removeAll { $0.isOver || relations.random.chance(oneIn: 60) }
      }
      for window in windows { every.add(window) }
      print("seed \(seed): \(every.seen) of \(every.possible) changes, \(every.shown) shown")
      #expect(every.shown > 10, "seed \(seed): it proves little")
      #expect(every.seen < every.possible * 3 / 4, "seed \(seed): the guards are too wide")
    }
  }
}

/// Counts the changes that windows have seen, and those that they might have.
private struct EveryChange {
  private(set) var seen = 0
  private(set) var possible = 0
  private(set) var shown = 0

  mutating func add(_ window: GuardedWindow) {
    seen += window.seen
    possible += window.possible
    shown += window.shown
  }
}

/// A query's rows, kept up to date as a live query keeps them.
private final class GuardedWindow {
  private let database: Database
  private let description: QueryDescription
  private let loading: [LoadedPath]
  private let router: LiveRouter
  private let mailbox: LiveMailbox
  private let everything: LiveMailbox
  private let rows: MaintainedRows
  private let dependencies: Dependencies
  private var before: EvaluatedRows
  private(set) var isOver = false
  private(set) var seen = 0
  private(set) var possible = 0
  /// The number of rows that stayed and are shown otherwise.
  private(set) var shown = 0

  /// Nil for a query that cannot be asked, or whose rows are not records.
  init?(_ relations: inout RandomRelations, _ database: Database) throws {
    var description = relations.query()
    if description.isComputed { return nil }
    description.limit = description.limit ?? (relations.random.chance(oneIn: 2) ? 3 : nil)
    (self.database, self.description) = (database, description)
    loading = relations.loading(description)
    router = LiveRouter.of(database)
    let snapshot = try database.snapshot()
    do {
      let reading = try LiveReading.plain(description, loading, snapshot)
      dependencies = try Dependencies(description, loading: loading, reading.records)
      before = try EvaluatedRows(description, loading, dependencies, on: snapshot)
      rows = try MaintainedRows(description, reading)
      _ = try rows.fill(reading)
    } catch is QueryError {
      return nil
    }
    mailbox = try router.add(rows.guards)
    everything = try router.add(
      RandomRelations.collections.map { LiveGuard(collection: $0, test: .any) })
    if rows.watchesAll { isOver = true }
  }

  deinit {
    router.remove(mailbox)
    router.remove(everything)
  }

  func step(_ comment: String) throws {
    let words = "\(comment): \(description) loading \(loading)"
    let snapshot = try database.snapshot()
    try router.advance(to: snapshot.sequence)
    let reading = try LiveReading.plain(description, loading, snapshot)
    guard case .changes(let changes) = mailbox.take(upTo: snapshot.sequence),
      case .changes(let all) = everything.take(upTo: snapshot.sequence)
    else { return isOver = true }
    (seen, possible) = (seen + changes.count, possible + all.count)
    let former = Set(rows.visible.map(\.identity.key))
    let after: EvaluatedRows
    do {
      after = try EvaluatedRows(description, loading, dependencies, on: snapshot)
    } catch is QueryError {
      return isOver = true
    }
    guard try rows.isValid(reading.records), let step = try rows.step(changes, reading) else {
      return isOver = true
    }
    let afresh = try MaintainedRows(description, reading).fill(reading)
    try #require(rows.visible.map(\.identity) == afresh.map(\.identity), "\(words)")
    let differing = after.differing(from: before).intersection(former)
      .intersection(afresh.map(\.identity.key))
    let missed = differing.subtracting(step.candidates.keys)
    try #require(missed.isEmpty, "\(words), missed \(missed)")
    shown += differing.count
    before = after
    switch rows.takeGuardChange() {
    case .edit(let removing, let adding):
      router.edit(removing: removing, adding: adding, of: mailbox)
    case .all: router.replace(rows.guards, of: mailbox)
    }
  }
}

extension LiveReading {
  /// A step's view of the state, of a query without a filter in Swift.
  static func plain(
    _ description: QueryDescription, _ loading: [LoadedPath], _ snapshot: Snapshot
  ) throws -> LiveReading {
    var query = DynamicQuery(description, .snapshot(snapshot))
    query.request.loading = loading
    return try LiveReading(BoxedQuery(query), snapshot)
  }
}
