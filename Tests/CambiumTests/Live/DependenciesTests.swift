// Goal: every result that a commit changes is among the candidates that a live query's dependencies
// find, from nothing but the changes that its guards let through.
// Method: random declarations, changes and queries along references, arrays of references, inverse
// relations and joins. All results are evaluated as a whole at the moments before and after a
// commit; those that differ must be candidates. Changes without their old or new bytes must be
// found out, so that the check is known to see such mistakes.

import Simulation
import Testing

@testable import Cambium

@Suite("The dependencies of a live query", .timeLimit(.minutes(10)))
struct DependenciesTests {
  @Test(
    "lead from changes to every result that differs",
    arguments: SeededGenerator.seeds(Array(1...4)))
  func completeness(_ seed: UInt64) throws {
    try withDatabase { database in
      var relations = RandomRelations(seed: seed)
      var random = SeededGenerator(seed: seed, 1)
      var (differing, candidates, refusals) = (0, 0, 0)
      try Self.steps(database, &relations, commits: 60) { step in
        differing += step.differing.count
        for standIns in [false, true] {
          let routed = try step.routed(standIns: standIns)
          guard let found = try step.candidates(routed) else {
            refusals += 1
            continue
          }
          candidates += found.count
          let missed = step.differing.subtracting(found)
          try #require(missed.isEmpty, "seed \(seed): \(step.words), missed \(missed)")
        }
        let most = random.below(30)
        if let found = try step.candidates(step.changes, most: most) {
          try #require(step.differing.isSubset(of: found), "seed \(seed): \(step.words)")
        }
      }
      print("seed \(seed): \(differing) differ, \(candidates / 2) candidates, \(refusals) refused")
      #expect(differing > 100 && refusals == 0, "seed \(seed): it proves little")
    }
  }

  @Test(
    "lead through values of any kind, and paths that nothing declares",
    arguments: SeededGenerator.seeds(Array(1...6)))
  func anyValues(_ seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      try database.write { tx in
        for path in [RandomConditions.people, RandomConditions.things] {
          try tx.declare(path, RandomConditions.definitions[path])
        }
      }
      try database.write { tx in try Self.change(tx, &random, 80) }
      var differing = 0
      for _ in 0..<40 {
        let queries = (0..<12).map { _ in random.query() }
        let watched = try Self.watched(queries.map { ($0, []) }, database)
        let count = 1 + random.random.below(3)
        try Self.commit(database, [RandomConditions.things, RandomConditions.people], watched) {
          try database.write { tx in try Self.change(tx, &random, count) }
        } _: { step in
          differing += step.differing.count
          for standIns in [false, true] {
            guard let found = try step.candidates(try step.routed(standIns: standIns)) else {
              // A path may lead on from a record of which nothing is known.
              let isKnown = step.dependencies.problem == nil
              #expect(!isKnown || !step.dependencies.isCurrent(step.records))
              continue
            }
            let missed = step.differing.subtracting(found)
            try #require(missed.isEmpty, "seed \(seed): \(step.words), missed \(missed)")
          }
        }
      }
      print("seed \(seed): \(differing) differ")
      #expect(differing > 50, "seed \(seed): it proves little")
    }
  }

  @Test("miss results where the bytes before, or after, are left out", arguments: [true, false])
  func plantedMistakes(isOld: Bool) throws {
    try withDatabase { database in
      var flights = CollectionDefinition()
      flights.properties = [
        PropertyDefinition("origin", .reference("airports")), PropertyDefinition("code", .string),
      ]
      try database.write { [flights] tx in
        try tx.declare("airports", CollectionDefinition())
        try tx.declare("flights", flights)
        try tx.set("airports/A", to: ["code": "a"])
        try tx.set("airports/B", to: ["code": "x"])
        try tx.set("flights/one", to: ["origin": "A", "code": "a"])
        try tx.set("flights/two", to: ["code": "b"])
      }
      let inverse = QueryDescription(
        "airports",
        where: Condition(.related(.inverse("flights", property: "origin"), .any, .all([]))))
      var joining = QueryDescription("flights")
      joining.joins = [.init("a", "airports", PropertyPath("code"), inner: "code")]
      let watched = try Self.watched([(inverse, []), (joining, [])], database)
      try Self.commit(database, ["airports", "flights"], watched) {
        try database.write { tx in
          try tx.set("flights/one/origin", to: "B")
          try tx.set("airports/A/code", to: "b")
        }
      } _: { step in
        // Its own changes make candidates of the records in any case.
        let far = step.changes.filter { $0.collection != step.query.collection }
        let halves = far.map { change in
          NetChange(
            collection: change.collection, key: change.key, old: isOld ? nil : change.old,
            new: isOld ? change.new : nil)
        }
        let (right, found) = (try step.candidates(far), try step.candidates(halves))
        #expect(right?.count == 2)
        #expect(found?.count == 1)
      }
    }
  }

  @Test("are looked for only as long as that is shorter than running the query again")
  func bounds() throws {
    try withDatabase { database in
      var airports = CollectionDefinition()
      airports.properties = [PropertyDefinition("name", .string)]
      var flights = CollectionDefinition()
      flights.properties = [
        PropertyDefinition("origin", .reference("airports")), PropertyDefinition("code", .string),
      ]
      try database.write { [airports, flights] tx in
        try tx.declare("airports", airports)
        try tx.declare("flights", flights)
        try tx.set("airports/JFK", to: ["name": "Kennedy"])
        for number in 0..<50 {
          try tx.set(
            NodePath(keys: ["flights", .integer(Int64(number))]),
            to: ["origin": "JFK", "code": "JFK"])
        }
      }
      let byReference = Condition(
        .compare(PropertyPath(hops: ["origin"], "name"), .equal, "Kennedy"))
      var joining = QueryDescription("flights")
      joining.joins = [.init("a", "airports", PropertyPath("code"), inner: nil, isLeft: true)]
      let queries = [
        (QueryDescription("flights", where: byReference), [LoadedPath]()), (joining, []),
      ]
      let watched = try Self.watched(queries, database)
      #expect(watched.map { $0.dependencies.words.count } == [1, 1])
      let words = watched.flatMap(\.dependencies.words)
      #expect(words[0].contains("maintained, by the index (origin)"), "\(words)")
      #expect(words[1].contains("walks all flights: no index on code"), "\(words)")
      try Self.commit(database, ["airports", "flights"], watched) {
        try database.write { tx in try tx.set("airports/JFK", to: ["name": "J. F. Kennedy"]) }
      } _: { step in
        #expect(step.differing.count == 50)
        let found = try step.candidates(step.changes)
        let cut = try step.candidates(step.changes, most: 49)
        #expect(found?.count == 50)
        #expect(cut == nil)
      }
    }
  }

  @Test("are guarded by the narrowest part of the condition")
  func guards() throws {
    try withDatabase { database in
      var flights = CollectionDefinition()
      flights.properties = [
        PropertyDefinition("code", .string), PropertyDefinition("delay", .integer),
        PropertyDefinition("isLate", .bool), PropertyDefinition("origin", .reference("airports")),
      ]
      var airports = CollectionDefinition()
      airports.properties = [PropertyDefinition("name", .string)]
      try database.write { [flights, airports] tx in
        try tx.declare("airports", airports)
        try tx.declare("flights", flights)
      }
      let snapshot = try database.snapshot()
      func words(_ guards: [LiveGuard]) -> [String] {
        guards.map {
          let names = $0.properties.map { " of \($0.joined(separator: " "))" } ?? ""
          switch $0.test {
          case .any: return "any\(names)"
          case .keys(let keys): return "\(keys.count) keys\(names)"
          case .values(let property, _, _, let ranges):
            return "\(property) \(ranges.count)\(names)"
          case .points(let property, let points):
            return "\(property?.name ?? "") \(points.count) points\(names)"
          }
        }
      }
      func dependencies(_ text: String, _ loading: [LoadedPath] = []) throws -> Dependencies {
        try Dependencies(
          try QueryDescription(parsing: text), loading: loading, QueryRecords(snapshot))
      }
      func guards(_ text: String) throws -> [String] { words(try dependencies(text).guards) }
      #expect(try guards("flights") == ["any"])
      #expect(try guards("flights where isLate = true and code = \"A\"") == ["code 1"])
      #expect(try guards("flights where delay > 5 and delay < 9 and isLate = true") == ["delay 1"])
      #expect(try guards("flights where code = \"A\" or delay = 5") == ["code 1", "delay 1"])
      #expect(try guards("flights where code = \"A\" or delay != 5") == ["any"])
      #expect(try guards("flights where id in (1, 2) and delay = 5") == ["2 keys"])
      #expect(try guards("flights where not code = \"A\"") == ["any"])
      #expect(try guards("flights where not (code != \"A\" or isLate = true)") == ["code 1"])
      #expect(try guards("flights where not delay <= 60") == ["delay 2"])
      #expect(
        try guards("flights where code = \"A\" and origin.name = \"B\"")
          == ["name 1 of name", "code 1"])
      let delayed = "flights by origin any (delay > 60)"
      #expect(
        try guards("airports where name = \"B\" and \(delayed)")
          == ["name 1", "delay 1 of delay origin"])
      // A test of one joined record says nothing of those that are joined beside it.
      let pairs = "airports join flights as p on name = p.code join flights as q on name = q.code"
      #expect(try guards("\(pairs) where q.delay = 5").contains("any of code"))
      // Other airports count where the name comes in or goes out, and others' names for the order.
      #expect(
        try guards("flights where origin.name = \"B\" or delay = 1")
          == ["name 1 of name", "any"])
      #expect(
        try guards("flights where origin.name = \"B\" or delay = 1 sort origin.city")
          == ["name 1 of name", "any of city", "any"])
      #expect(try guards("flights where origin.name = null") == ["any of name", "any"])
      // Of an airport that is shown, only those of the window count.
      let loading = LoadedPath(path: PropertyPath("origin"), collection: "airports")
      let loaded = try dependencies("flights sort origin.name", [loading])
      #expect(words(loaded.guards) == ["any of name", "any"])
      #expect(words(loaded.shown.map(\.wide)) == ["any"])
      let selecting = try dependencies("flights select code, origin.name")
      #expect(words(selecting.guards) == ["any of code origin"])
      #expect(words(selecting.shown.map(\.wide)) == ["any of name"])
    }
  }
}

// MARK: Steps

extension DependenciesTests {
  /// A query that is followed, with its dependencies.
  struct Watched {
    let query: QueryDescription
    let loading: [LoadedPath]
    let dependencies: Dependencies
  }

  /// A query before and after a commit.
  struct Step {
    let watched: Watched
    let changes: [NetChange]
    let records: QueryRecords
    let before: EvaluatedRows
    /// The keys of the records whose results differ.
    let differing: Set<[UInt8]>

    var query: QueryDescription { watched.query }
    var dependencies: Dependencies { watched.dependencies }
    var words: String { "\(query) loading \(watched.loading)" }

    /// The changes that the guards let through.
    func routed(standIns: Bool) throws -> [NetChange] {
      if dependencies.watchesAll { return changes }
      return try changes.filter { change in
        try (dependencies.guards + before.shown).contains {
          try $0.matches(change, records, standIns: standIns)
        }
      }
    }

    /// Nil where there are too many, or they are unknown.
    func candidates(_ changes: [NetChange], most: Int = 1_000_000) throws -> Set<[UInt8]>? {
      let found = try dependencies.candidates(changes, of: query, records, most: most)
      if case .keys(let found) = found { return Set(found.keys) }
      return nil
    }
  }

  static func watched(
    _ queries: [(QueryDescription, [LoadedPath])], _ database: Database
  ) throws -> [Watched] {
    let records = try QueryRecords(database.snapshot())
    return try queries.compactMap { query, loading in
      do {
        let dependencies = try Dependencies(query, loading: loading, records)
        return Watched(query: query, loading: loading, dependencies: dependencies)
      } catch is QueryError {
        return nil
      }
    }
  }

  /// Commits, and visits each query that can be evaluated before and after.
  static func commit(
    _ database: Database, _ collections: [NodePath], _ watched: [Watched], write: () throws -> Void,
    _ body: (Step) throws -> Void
  ) throws {
    let sequence = try database.snapshot().sequence
    try write()
    let before = try database.snapshot(at: .sequence(sequence))
    let after = try database.snapshot()
    let changes = try NetChange.all(in: collections, from: before, to: after)
    let records = try QueryRecords(after)
    for watched in watched {
      func evaluated(_ snapshot: Snapshot) throws -> EvaluatedRows {
        try EvaluatedRows(watched.query, watched.loading, watched.dependencies, on: snapshot)
      }
      do {
        let (old, new) = (try evaluated(before), try evaluated(after))
        try body(
          Step(
            watched: watched, changes: changes, records: records, before: old,
            differing: new.differing(from: old)))
      } catch is QueryError {
        // It follows a value that is no reference.
      }
    }
  }

  /// Declares and fills random collections, and visits random queries at random commits.
  static func steps(
    _ database: Database, _ relations: inout RandomRelations, commits: Int,
    _ body: (Step) throws -> Void
  ) throws {
    try database.write { [relations] tx in
      for (path, definition) in relations.definitions { try tx.declare(path, definition) }
    }
    var world: [NodePath: ValueMap] = [:]
    try database.write { tx in try change(tx, &relations, &world, 60) }
    for _ in 0..<commits {
      let queries = (0..<8).map { _ in
        let query = relations.query()
        return (query, relations.loading(query))
      }
      let watched = try watched(queries, database)
      try commit(database, RandomRelations.collections, watched) {
        let count = 1 + relations.random.below(4)
        try database.write { tx in try change(tx, &relations, &world, count) }
      } _: { step in
        try body(step)
      }
    }
  }

  /// Changes random records in one commit.
  static func change(
    _ database: Database, _ relations: inout RandomRelations, _ world: inout [NodePath: ValueMap],
    _ count: Int
  ) throws {
    try database.write { tx in try change(tx, &relations, &world, count) }
  }

  private static func change(
    _ tx: borrowing Database.Transaction, _ relations: inout RandomRelations,
    _ world: inout [NodePath: ValueMap], _ count: Int
  ) throws {
    for _ in 0..<count {
      let path = try relations.path()
      if let record = world[path] {
        let isRemoved = relations.random.chance(oneIn: 6)
        world[path] = isRemoved ? nil : relations.changing(record)
      } else {
        world[path] = relations.record()
      }
      if let record = world[path] {
        try tx.set(path, to: .map(record))
      } else {
        try tx.remove(path)
      }
    }
  }

  private static func change(
    _ tx: borrowing Database.Transaction, _ random: inout RandomConditions, _ count: Int
  ) throws {
    for _ in 0..<count {
      let isPerson = random.random.chance(oneIn: 3)
      let number = random.random.below(isPerson ? 6 : 12)
      let key: Key = number % 4 > 0 ? .text("p\(number)") : .integer(Int64(number))
      let path = (isPerson ? RandomConditions.people : RandomConditions.things).appending(key)
      if random.random.chance(oneIn: 6) {
        if try tx[path].value != nil { try tx.remove(path) }
        continue
      }
      let names = isPerson ? RandomConditions.personNames : RandomConditions.thingNames
      try tx.set(path, to: .map(random.record(names)))
    }
  }
}

extension DependencyRole {
  fileprivate var isInverse: Bool { if case .inverse = edge { true } else { false } }
  fileprivate var isJoin: Bool { if case .join = edge { true } else { false } }
}
