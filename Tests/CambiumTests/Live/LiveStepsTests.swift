// Goal: whoever is told of the steps of a live result gets each of them once and in order, whoever
// takes it and from where; and a step that fails leaves all as it was. Method: observers and loops
// that keep a list of their own by nothing but the differences.
//
// It finds, planted: a difference that is told before an earlier one, one that is not told, a step
// within a step, a page that is turned by a failing step, and a result that is announced twice.

import Observation
import Testing

@testable import Cambium

@Suite("The steps of a live result", .timeLimit(.minutes(2)))
struct LiveStepsTests {
  private struct Job: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    var note = ""
    static let schema = ModelSchema<Job>("jobs") {}
  }

  private struct Worker: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var rank = 0
    static let schema = ModelSchema<Worker>("workers") {}
  }

  private struct Failure: Error {}

  private static func fill(_ database: Database, _ count: Int = 9) throws {
    try database.register(Job.self, Worker.self)
    try database.write { tx in
      for key in 1...count { try tx.insert(Job(id: .init(key), rank: key)) }
      try tx.insert(Worker(id: 1, rank: 1))
    }
  }

  private static func all(_ database: Database) -> ModelQuery<Job> {
    database.query(Job.self).order(by: \.rank)
  }

  // MARK: Observers

  /// A list that is kept by differences.
  private final class Mirror {
    var elements: [Job]
    var sequences: [SequenceNumber] = []

    init(_ live: LiveResults<ModelQuery<Job>>, most: Int = .max) {
      elements = Array(live)
      live.observers.add { [unowned self] diff in
        sequences.append(diff.sequence)
        do { elements = try diff.strictlyApplied(to: elements) } catch { Issue.record(error) }
        return sequences.count < most
      }
    }
  }

  @Test("come to all in their order, also where an observer takes them")
  func nested() throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try Self.all(database).live()
      let derived = try live.mapElements { $0.rank }
      let first = Mirror(live)
      var added: [Mirror] = []
      live.observers.add { _ in
        guard added.count < 4 else { return true }
        do {
          if added.count == 2 {
            #expect(try live.ask(Self.all(database).limit(7)).deletions.count > 0)
          } else {
            try database.update(Job.ID(9 - added.count)) { $0.rank = 0 }
            #expect(try !live.refresh().isEmpty)
          }
        } catch {
          Issue.record(error)
        }
        added.append(Mirror(live))
        return true
      }
      let last = Mirror(live)
      let ended = Mirror(live, most: 2)
      try database.update(1 as Job.ID) { $0.rank = 20 }
      try live.refresh()
      try database.update(2 as Job.ID) { $0.note = "x" }
      try live.refresh()
      let now = Array(live)
      #expect(first.elements == now && last.elements == now && Array(derived) == now.map(\.rank))
      #expect(first.sequences == first.sequences.sorted() && first.sequences == last.sequences)
      #expect(first.sequences.count == 6 && ended.sequences == Array(first.sequences.prefix(2)))
      #expect(added.map(\.sequences.count) == [4, 3, 2, 1])
      for mirror in added { #expect(mirror.elements == now) }
    }
  }

  /// A step that is taken from where none may be.
  private final class Intruder: @unchecked Sendable {
    // Sendable since one thread uses it.
    var live: LiveResults<ModelQuery<Job>>?
    private(set) var refused = 0

    func intrude() {
      do { _ = try live?.refresh() } catch DatabaseError.misuse { refused += 1 } catch {
        Issue.record(error)
      }
    }
  }

  @Test("are not taken within one another")
  func within() throws {
    try withDatabase { database in
      try Self.fill(database)
      let intruder = Intruder()
      let query = Self.all(database).limit(4).filter { _ in
        intruder.intrude()
        return true
      }
      let live = try query.live()
      intruder.live = live
      let mirror = Mirror(live)
      var expected = 0
      for round in 1...5 {
        try database.update(Job.ID(round)) { $0.note += "x" }
        withObservationTracking {
          _ = (live.elements, live.items.first?.element)
        } onChange: {
          // As the result changes, and as if a commit came right then.
          do { try database.update(Job.ID(round + 1)) { $0.rank = 0 } } catch {
            Issue.record(error)
          }
          intruder.intrude()
        }
        try live.refresh()
        #expect(intruder.refused > expected)
        expected = intruder.refused
        try live.refresh()
        #expect(mirror.elements == Array(live) && live.items.map(\.element) == Array(live))
        #expect(try Array(live) == Self.all(database).limit(4).fetch())
      }
      intruder.live = nil
    }
  }

  @Test("are given to each follower, whoever takes them")
  @MainActor
  func followers() async throws {
    let database = try Database.inMemory(for: Job.self, Worker.self)
    try Self.fill(database)
    let live = try Self.all(database).limit(5).live()
    var lists: [[Job]?] = [nil, nil, nil]
    let tasks = lists.indices.map { index in
      Task { @MainActor in
        lists[index] = Array(live)
        var isFirst = true
        try await live.follow { diff in
          lists[index] = try diff.strictlyApplied(to: lists[index] ?? [])
          // The last one asks by itself, which all are given, too.
          if index == 2, isFirst {
            isFirst = false
            try live.ask(Self.all(database).limit(6))
          }
        }
      }
    }
    for key in 1...40 {
      try await database.upsert(Job(id: .init(key % 12), rank: key * 7 % 13))
      switch key % 4 {
      case 0: try live.refresh()
      case 1: try live.ask(Self.all(database).limit(2 + key % 5))
      default: break
      }
      if key % 3 == 0 { await Task.yield() }
    }
    // After these no commit comes.
    while !Task.isCancelled && lists.contains(where: { $0 == nil }) { await Task.yield() }
    for limit in (1...30).map({ 2 + $0 % 6 }) {
      try live.ask(Self.all(database).limit(limit))
      while !Task.isCancelled && lists.contains(where: { $0 != Array(live) }) { await Task.yield() }
    }
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
    try expectSound(database)
    try await database.close()
  }

  // MARK: Failures

  @Test("that fail leave pages as they were")
  func pages() throws {
    try withDatabase { database in
      try Self.fill(database, 60)
      let fails = Toggle()
      let query = Self.all(database).filter { _ in
        if fails.isOn { throw Failure() }
        return true
      }
      let pages = try query.livePages(of: 3, keeping: 2)
      var told = 0
      for round in 0..<40 where pages.hasNext {
        let (before, hasPrevious) = (pages.elements, pages.hasPrevious)
        fails.isOn = true
        if round % 10 == 9 { try database.update(before[1].id) { $0.note += "x" } }
        let isFailing = (try? pages.next()) == nil
        fails.isOn = false
        if isFailing {
          told += 1
          #expect(pages.elements == before && pages.hasNext && pages.hasPrevious == hasPrevious)
          try pages.next()
        }
        let ranks = pages.map(\.rank)
        #expect(ranks == Array((ranks.first ?? 0)...(ranks.last ?? 0)))
      }
      #expect(pages.last?.rank == 60 && told > 2)
    }
  }

  @Test("are announced once, where a page is turned after a commit")
  func announced() throws {
    try withDatabase { database in
      try Self.fill(database, 30)
      let run = try LiveRun(
        BoxedQuery(Self.all(database)), WindowExtent(limit: 3, knowsNext: true))
      var told: [Bool] = []
      run.willTake = { told.append($0) }
      _ = try run.step()
      try database.update(2 as Job.ID) { $0.rank = 0 }
      let diff = try run.goOn(by: 3, keeping: nil)
      #expect(told == [false, false] && diff.countBefore == 3 && diff.elements.count == 6)
      #expect(diff.insertions.count == 3 && diff.moves.count == 1)
    }
  }

  @Test("know the collection of a first question that was another")
  func firstQuestion() throws {
    try withDatabase { database in
      try Self.fill(database)
      let run = try LiveRun(BoxedQuery(Self.all(database)))
      _ = try run.ask(BoxedQuery(database.query(Worker.self)))
      try database.update(1 as Worker.ID) { $0.rank = 2 }
      let update = try #require(try run.step().updates.first)
      #expect(update.cause == .own && update.properties.all.map(\.name) == ["rank"])
      let live = try Self.all(database).limit(2).live()
      let page = try Self.all(database).limit(2).page()
      let elsewhere = BoxedQuery(Self.all(database).limit(2).after(page.next))
      #expect(throws: DatabaseError.self) { try live.run.ask(elsewhere) }
      try database.update(1 as Job.ID) { $0.note = "x" }
      #expect(try live.refresh().updates.map(\.new.note) == ["x"])
    }
  }

  @Test("keep nothing of the changes that they took")
  func released() throws {
    try withDatabase { database in
      try Self.fill(database)
      let rows = try Self.all(database).live()
      let ranks = try database.query(Job.self).select(\.rank).distinct().live()
      try database.update(1 as Job.ID) { $0.rank = 50 }
      #expect(try !rows.refresh().isEmpty && !ranks.refresh().isEmpty)
      #expect((try #require(rows.run.having { $0.result } as? MaintainedRows)).far == nil)
      #expect((try #require(ranks.run.having { $0.result } as? MaintainedValues)).changed.isEmpty)
    }
  }

  // MARK: Updates

  @Test("tell no update of an element that is as it was, also where it is a tuple")
  func tuples() throws {
    try withDatabase { database in
      try Self.fill(database)
      let live = try Self.all(database).select(\.id, \.note).live()
      // It only decides on the order.
      try database.update(1 as Job.ID) { $0.rank = -1 }
      #expect(try live.refresh().isEmpty)
      try database.update(2 as Job.ID) { ($0.rank, $0.note) = (-2, "x") }
      let moved = try live.refresh()
      #expect(moved.moves.count == 1 && moved.updates.map(\.new.1) == ["x"])
      // A declaration has the query run again.
      try database.write { try $0.declare("elsewhere", CollectionDefinition()) }
      #expect(try live.refresh().isEmpty)
      try database.write { tx in
        try tx.declare("others", CollectionDefinition())
        try tx.update(3 as Job.ID) { $0.note = "y" }
      }
      #expect(try live.refresh().updates.map(\.new.1) == ["y"])
    }
  }

  @Test("take a shown change that came while the row was behind the window")
  func leftAndBack() throws {
    try withDatabase { database in
      try Self.fill(database, 200)
      let live = try Self.all(database).limit(3).select(\.id, \.note).live()
      try database.update(1 as Job.ID) { $0.rank = 500 }
      try database.update(1 as Job.ID) { $0.note = "x" }
      try database.write { tx in
        for key in 2...200 { try tx.delete(Job.ID(key)) }
      }
      try live.refresh()
      #expect(live.map(\.1) == ["x"])
    }
  }

  private final class Reference {}

  private struct Parts {
    var number = 1
    var pair = (text: "a", more: [(1, 2)])
    var optional: (Int, Int)?
    var reference: Reference?
  }

  @Test("compare the parts of elements that are not Equatable")
  func parts() {
    func areEqual(_ change: (inout Parts) -> Void) -> Bool {
      var parts = Parts()
      change(&parts)
      return StoredParts.areEqual(Parts(), parts)
    }
    #expect(areEqual { _ in })
    #expect(!areEqual { $0.number = 2 })
    #expect(!areEqual { $0.pair.text = "b" })
    #expect(!areEqual { $0.pair.more = [(1, 3)] })
    #expect(!areEqual { $0.pair.more = [] })
    #expect(!areEqual { $0.optional = (1, 2) })
    #expect(!areEqual { $0.reference = Reference() })
    let optional: Parts? = Parts(optional: (1, 2))
    #expect(StoredParts.areEqual(optional as Any, Parts?.some(Parts(optional: (1, 2))) as Any))
    #expect(!StoredParts.areEqual(optional as Any, Parts?.none as Any))
    #expect(!StoredParts.areEqual((1, Int?.none), (1, Int?.some(1))))
    #expect(StoredParts.areEqual((1, Int?.none), (1, Int?.none)))
    let one = Reference()
    #expect(!StoredParts.areEqual(Parts(reference: one), Parts(reference: one)))
  }
}
