// Goal: a query gives what it means, whatever indexes there are, at present, in the past and inside
// a transaction. Method: random databases with random indexes, random changes, and random queries
// against an evaluation over all records in memory; each query is also run as pages.
//
// CAMBIUM_QUERIES sets how many queries are asked in all; 6,000 unless it does.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A query", .timeLimit(.minutes(30)))
struct QueryRunTests {
  private static let total =
    ProcessInfo.processInfo.environment["CAMBIUM_QUERIES"].flatMap { Int($0) } ?? 6_000

  /// One database with what should be in it, now and at earlier moments.
  private struct Trial {
    let seed: UInt64
    let database: Database
    var random: RandomConditions
    var world = NaiveCondition(definitions: RandomConditions.definitions)
    var past: [(sequence: SequenceNumber, world: NaiveCondition)] = []

    init(_ database: Database, seed: UInt64) throws {
      (self.database, self.seed) = (database, seed)
      random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      var definition = random.thingDefinition()
      world.definitions[RandomConditions.things] = definition
      let before = random.random.chance(oneIn: 3)
      if !before { try declare(definition) }
      for _ in 0..<4 { try change(60) }
      if before {
        try declare(definition)
      } else if random.random.chance(oneIn: 3) {
        definition.indexes.append(contentsOf: random.thingDefinition().indexes)
        world.definitions[RandomConditions.things] = definition
        try declare(definition)
      }
    }

    private func declare(_ definition: CollectionDefinition) throws {
      try database.write { tx in
        try tx.declare(
          RandomConditions.people, RandomConditions.definitions[RandomConditions.people])
        try tx.declare(RandomConditions.things, definition)
      }
    }

    mutating func change(_ count: Int) throws {
      var copy = self
      try database.write { tx in
        for _ in 0..<count { try copy.change(tx) }
      }
      self = copy
      past.append((try database.snapshot().sequence, world))
    }

    /// Makes one change in a transaction, and in the world.
    mutating func change(_ tx: borrowing Database.Transaction) throws {
      let isPerson = random.random.chance(oneIn: 6)
      let number = random.random.below(isPerson ? 5 : 90)
      let key: Key = isPerson || number % 3 > 0 ? .text("p\(number)") : .integer(Int64(number))
      let path = (isPerson ? RandomConditions.people : RandomConditions.things).appending(key)
      if world.records[path] != nil, random.random.chance(oneIn: 4) {
        try tx.remove(path)
        world.records[path] = nil
      } else {
        let record = isPerson ? random.person() : random.thing()
        try tx.set(path, to: .map(record))
        world.records[path] = record
      }
    }
  }

  @Test("gives what it means", arguments: SeededGenerator.seeds(Array(1...6)))
  func meaning(_ seed: UInt64) throws {
    for round in 0..<3 {
      try withDatabase { database in
        var trial = try Trial(database, seed: seed * 100 + UInt64(round))
        let queries = Self.total / 36
        let present = try database.snapshot()
        for _ in 0..<(queries / 2) {
          let selection = trial.random.selection()
          try check(trial.random.query(), selection, on: present, trial.world, trial.seed)
        }
        for _ in 0..<4 {
          guard
            let moment = trial.random.random.pick(trial.past) as (SequenceNumber, NaiveCondition)?
          else { continue }
          let snapshot = try database.snapshot(at: .sequence(moment.0))
          for _ in 0..<(queries / 16) {
            let selection = trial.random.selection()
            try check(trial.random.query(), selection, on: snapshot, moment.1, trial.seed)
          }
        }
        try database.write { tx in
          for _ in 0..<4 {
            for _ in 0..<10 { try trial.change(tx) }
            for _ in 0..<(queries / 16) {
              let selection = trial.random.selection()
              try check(
                trial.random.query(), selection, on: tx[RandomConditions.things].snapshot,
                trial.world, trial.seed)
            }
          }
        }
      }
    }
  }

  private func check(
    _ query: QueryDescription, _ selection: [PropertyPath], on snapshot: Snapshot,
    _ world: NaiveCondition, _ seed: UInt64
  ) throws {
    let naive = NaiveQuery(world: world)
    let expected = Result { try naive.accepted(query) }
    let run = Result { try QueryRun(query, on: snapshot) }
    var found: [(key: Key, record: ValueMap)] = []
    let result = Result {
      try run.get().forEach { key, record in
        found.append((try Key(key), try ValueMap(stored: record, snapshot.names)))
        return true
      }
    }
    guard case .success(let accepted) = expected else {
      // A condition that may not be tested need not be: it depends on the way.
      return
    }
    let what = "seed \(seed): \(query)\n\((try? run.get().plan.explained(nil)) ?? "")"
    switch result {
    case .failure(let error):
      Issue.record("\(error) for \(what)")
      return
    case .success: break
    }
    try compare(found, accepted, query, naive, what)
    if query.limit != nil { try checkPages(query, on: snapshot, accepted.map(\.key), what) }
    if query.orderings.isEmpty { try checkGroups(query, on: snapshot, accepted, what) }
    try checkSelection(query, selection, on: snapshot, accepted, naive, what)
  }

  /// Checks that the selected values are those of the records, and in the right order.
  private func checkSelection(
    _ query: QueryDescription, _ selection: [PropertyPath], on snapshot: Snapshot,
    _ accepted: [(key: Key, record: ValueMap)], _ naive: NaiveQuery, _ what: String
  ) throws {
    var query = query
    (query.limit, query.offset) = (nil, 0)
    query.selection = [PropertyPath(nil)] + selection
    let run = try QueryRun(query, on: snapshot)
    var found: [Value: [Value]] = [:]
    var keys: [Value] = []
    try run.forEachValues { values in
      found[values[0]] = Array(values.dropFirst())
      keys.append(values[0])
      return true
    }
    let how = "\(selection) of \(what)\n\(run.plan.explained(run.work.counts))"
    try #require(keys.count == accepted.count, "selection: \(how)")
    var places: [Value: [Value]] = [:]
    for (key, record) in accepted {
      let values = try selection.map {
        try naive.world.plainValue($0, record, key, query.collection) ?? .null
      }
      let id = StoredKey.value(of: key)
      try #require(found[id] == values, "\(key) has \(values): \(how)")
      places[id] = try naive.places(query, key, record)
    }
    for (one, other) in zip(keys, keys.dropFirst()) {
      let isRight = naive.mayPrecede(places[one] ?? [], places[other] ?? [], query.orderings)
      try #require(isRight, "\(one) before \(other): \(how)")
    }
  }

  /// Checks that the found records are the right ones after limit and offset, and in the right
  /// order.
  private func compare(
    _ found: [(key: Key, record: ValueMap)], _ accepted: [(key: Key, record: ValueMap)],
    _ query: QueryDescription, _ naive: NaiveQuery, _ what: String
  ) throws {
    let records = Dictionary(accepted.map { ($0.key, $0.record) }) { a, _ in a }
    let wanted = min(max(0, accepted.count - query.offset), query.limit ?? .max)
    try #require(found.count == wanted, "\(what)")
    try #require(Set(found.map(\.key)).count == found.count, "repeats: \(what)")
    var places: [[Value]] = []
    for (key, record) in found {
      try #require(records[key] == record, "\(key) in \(what)")
      places.append(try naive.places(query, key, record))
    }
    for index in places.indices.dropFirst() {
      let isRight = naive.mayPrecede(places[index - 1], places[index], query.orderings)
      try #require(
        isRight, "\(places[index - 1]) before \(places[index]) in \(what)")
    }
    // Nothing that is left out comes before what is found.
    guard let last = places.last, query.offset == 0, !query.orderings.isEmpty else { return }
    let keys = Set(found.map(\.key))
    for (key, record) in accepted where !keys.contains(key) {
      let place = try naive.places(query, key, record)
      let isRight = naive.mayPrecede(last, place, query.orderings)
      try #require(
        isRight, "\(key) is left out in \(what)")
    }
  }

  /// One page after the other, all results come once.
  private func checkPages(
    _ query: QueryDescription, on snapshot: Snapshot, _ accepted: [Key], _ what: String
  ) throws {
    var query = query
    (query.offset, query.limit) = (0, 7)
    var keys: [Key] = []
    repeat {
      let run = try QueryRun(query, on: snapshot)
      try run.forEach { key, _ in
        keys.append(try Key(key))
        return true
      }
      query.after = run.cursor.flatMap { QueryCursor($0.description) }
      try #require(keys.count <= accepted.count, "pages repeat: \(what)")
    } while query.after != nil
    try #require(keys.sorted() == accepted, "pages: \(what)")
  }

  /// Groups have as many records, and the right sums.
  private func checkGroups(
    _ query: QueryDescription, on snapshot: Snapshot, _ accepted: [(key: Key, record: ValueMap)],
    _ what: String
  ) throws {
    var query = query
    (query.limit, query.offset) = (nil, 0)
    query.grouping = .init(
      [PropertyPath("title")],
      [
        QueryAggregate(.count), QueryAggregate(.sum, PropertyPath("count")),
        QueryAggregate(.maximum, PropertyPath("made")),
      ])
    var expected: [Value: [Value]] = [:]
    for (_, record) in accepted {
      let title = record["title"] ?? .null
      var aggregates = expected[title] ?? [.integer(0), .null, .null]
      if case .integer(let count) = aggregates[0] { aggregates[0] = .integer(count + 1) }
      if case .integer(let number) = record["count"] ?? .integer(1) {
        if case .integer(let sum) = aggregates[1] {
          let (total, overflow) = sum.addingReportingOverflow(number)
          if overflow { return }
          aggregates[1] = .integer(total)
        } else {
          aggregates[1] = .integer(number)
        }
      }
      if case .date(let made)? = record["made"] {
        if case .date(let latest) = aggregates[2], latest.microseconds >= made.microseconds {
        } else {
          aggregates[2] = .date(made)
        }
      }
      expected[title] = aggregates
    }
    var found: [Value: [Value]] = [:]
    try QueryRun(query, on: snapshot).forEachValues { values in
      found[values[0]] = Array(values.dropFirst())
      return true
    }
    try #require(found == expected, "groups: \(what)")
    try checkTotals(query, on: snapshot, Array(expected.values), what)
  }

  /// The aggregates of all groups together are those of all records, of which a view may have kept
  /// them.
  private func checkTotals(
    _ query: QueryDescription, on snapshot: Snapshot, _ groups: [[Value]], _ what: String
  ) throws {
    var query = query
    query.grouping?.paths = []
    let count = groups.reduce(Int64(0)) {
      if case .integer(let one) = $1[0] { $0 + one } else { $0 }
    }
    let latest = groups.map { $0[2] }.max {
      guard case .date(let one) = $0, case .date(let other) = $1 else { return $0 == .null }
      return one.microseconds < other.microseconds
    }
    var rows: [[Value]] = []
    do {
      try QueryRun(query, on: snapshot).forEachValues { values in
        rows.append(values)
        return true
      }
    } catch let error as QueryError where error.reason.contains("sum") {
      return  // a sum that fits no integer
    }
    try #require(rows.count == 1, "totals: \(what)")
    try #require(rows[0][0] == .integer(count), "totals: \(what)")
    try #require(rows[0][2] == latest ?? .null, "totals: \(what)")
  }
}
