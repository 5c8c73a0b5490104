// Goal: a query puts beside each other what a look at all pairs puts there, whatever indexes there
// are, at present, in the past and inside a transaction. Method: random things and people, up to
// two joins by keys, references and plain properties, inner and left, with conditions on all sides,
// against loops over records in memory.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A query with joins", .timeLimit(.minutes(5)))
struct QueryJoinTests {
  @Test("gives what a look at all pairs gives", arguments: SeededGenerator.seeds(Array(1...6)))
  func meaning(_ seed: UInt64) throws {
    try withDatabase { database in
      var random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      var world = NaiveCondition(definitions: RandomConditions.definitions)
      try declare(database, &random, &world)
      try database.write { tx in try change(tx, &random, &world, 120) }
      let (earlier, past) = (try database.snapshot().sequence, world)
      try database.write { tx in try change(tx, &random, &world, 40) }
      let before = try database.snapshot(at: .sequence(earlier))
      for _ in 0..<120 { try check(&random, on: before, past, seed) }
      let present = try database.snapshot()
      for _ in 0..<240 { try check(&random, on: present, world, seed) }
      try database.write { tx in
        try change(tx, &random, &world, 20)
        let snapshot = try tx.readingSnapshot()
        for _ in 0..<60 { try check(&random, on: snapshot, world, seed) }
      }
    }
  }

  // MARK: Order

  private typealias Pair = [[UInt8]]

  private static func keys(_ names: [String]) -> [[UInt8]] {
    names.map { Key.text($0).stored }
  }

  private static func fill(_ database: Database) throws {
    try database.write { tx in
      // By the lengths of the keys, and by their ranks, the order is another.
      for (rank, name) in ["c", "a\u{1}", "b", "aa", "a"].enumerated() {
        try tx.set(
          NodePath(keys: ["people", .text(name)]), to: ["name": "x", "rank": .integer(Int64(rank))])
      }
      for name in ["a", "a\u{1}", "ab"] {
        try tx.set(NodePath(keys: ["things", .text(name)]), to: ["title": "x", "count": 1])
      }
      for number in 0..<200 {
        try tx.set(
          NodePath(keys: ["things", .integer(Int64(number))]), to: ["title": "y", "count": 0])
      }
    }
  }

  private static func query(_ orderings: [Ordering] = []) -> QueryDescription {
    var query = QueryDescription("things")
    query.condition = Condition(.compare(PropertyPath("count"), .greater, 0))
    query.joins = [.init("p", "people", PropertyPath("title"), inner: "name")]
    query.orderings = orderings
    return query
  }

  /// The keys of both sides; and where the run stopped.
  private static func pairs(
    _ query: QueryDescription, _ database: Database
  ) throws -> (pairs: [Pair], isSorted: Bool, next: QueryCursor?) {
    let run = try QueryRun(query, on: try database.snapshot())
    var pairs: [Pair] = []
    try run.forEach { key, _ in
      pairs.append([key.array()] + run.records.joinedKeys)
      return true
    }
    return (pairs, run.plan.order != nil, run.cursor)
  }

  @Test("comes in the order of all keys, sorted or not, page by page")
  func order() throws {
    try withDatabase { database in
      try Self.fill(database)
      let (things, people) = (["a", "a\u{1}", "ab"], ["a", "a\u{1}", "aa", "b", "c"])
      let each = Self.keys(things).map { thing in Self.keys(people).map { [thing, $0] } }
      let (up, down) = (each.flatMap(\.self), each.reversed().flatMap(\.self))
      let byCount = try Self.pairs(Self.query([Ordering(PropertyPath("count"))]), database)
      #expect(byCount.pairs == up && byCount.isSorted)
      var definition = CollectionDefinition()
      definition.indexes = [IndexDefinition([.init("count")])]
      let orderings = [[], [Ordering(PropertyPath(nil), isDescending: true)]]
      for (orderings, wanted) in zip(orderings, [up, down]) {
        var query = Self.query(orderings)
        query.limit = 2
        let first = try Self.pairs(query, database)
        var (found, next) = (first.pairs, first.next)
        try database.write { [definition] tx in try tx.declare("things", definition) }
        while next != nil {
          query.after = next
          let page = try Self.pairs(query, database)
          found += page.pairs
          next = page.next
        }
        #expect(found == wanted)
        try database.write { tx in try tx.declare("things", nil) }
      }
    }
  }

  @Test("is sorted by what is joined to one record")
  func ofOne() throws {
    try withDatabase { database in
      try Self.fill(database)
      let rank = Ordering(PropertyPath(hops: ["p"], "rank"))
      let wanted = Self.keys(["c", "a\u{1}", "b", "aa", "a"])
      var query = Self.query([rank])
      query.condition = Condition(.compare(PropertyPath(nil), .equal, "ab"))
      #expect(try Self.pairs(query, database).pairs.map { $0[1] } == wanted)
      let each = try Self.pairs(Self.query([Ordering(PropertyPath(nil)), rank]), database)
      #expect(each.pairs.map { $0[1] } == wanted + wanted + wanted)
    }
  }

  // MARK: Records

  private func declare(
    _ database: Database, _ random: inout RandomConditions, _ world: inout NaiveCondition
  ) throws {
    let things = random.thingDefinition()
    var people = RandomConditions.definitions[RandomConditions.people] ?? CollectionDefinition()
    for name in ["name", "age", "since"] where random.random.chance(oneIn: 2) {
      people.indexes.append(
        IndexDefinition([.init(name, isDescending: random.random.chance(oneIn: 2))]))
    }
    world.definitions = [RandomConditions.things: things, RandomConditions.people: people]
    try database.write { tx in
      try tx.declare(RandomConditions.people, people)
      try tx.declare(RandomConditions.things, things)
    }
  }

  private func change(
    _ tx: borrowing Database.Transaction, _ random: inout RandomConditions,
    _ world: inout NaiveCondition,
    _ count: Int
  ) throws {
    for _ in 0..<count {
      let isPerson = random.random.chance(oneIn: 4)
      let number = random.random.below(isPerson ? 8 : 40)
      let key: Key = number % 4 > 0 ? .text("p\(number)") : .integer(Int64(number))
      let path = (isPerson ? RandomConditions.people : RandomConditions.things).appending(key)
      let isThere = world.records[path] != nil
      let record = isPerson ? random.person() : random.thing()
      world.records[path] = isThere && random.random.chance(oneIn: 4) ? nil : record
      if let record = world.records[path] {
        try tx.set(path, to: .map(record))
      } else {
        try tx.remove(path)
      }
    }
  }

  // MARK: Queries

  /// The pairs of properties by which a thing, or the person joined as `name`, may be joined to a
  /// person; a nil `inner` is that person's key.
  private static func sides(_ name: String?) -> [(outer: PropertyPath, inner: String?)] {
    guard let name else {
      return [
        (PropertyPath("owner"), nil), (PropertyPath("title"), "name"),
        (PropertyPath("count"), "age"), (PropertyPath("made"), "since"),
        (PropertyPath(nil), "boss"),
        (PropertyPath("owner"), "boss"), (PropertyPath(hops: ["owner"], "name"), "name"),
      ]
    }
    return [
      (PropertyPath(hops: [name], "boss"), nil), (PropertyPath(hops: [name], "name"), "name"),
      (PropertyPath(hops: [name], nil), "boss"), (PropertyPath(hops: [name], "age"), "age"),
    ]
  }

  private func query(_ random: inout RandomConditions) -> QueryDescription {
    var query = QueryDescription(RandomConditions.things)
    var selection = [PropertyPath(nil)]
    for name in ["p", "q"].prefix(1 + random.random.below(2)) {
      let known = query.joins.last.map(\.name)
      let side = random.random.pick(Self.sides(random.random.chance(oneIn: 3) ? nil : known))
      query.joins.append(
        .init(
          name, RandomConditions.people, side.outer, inner: side.inner,
          isLeft: random.random.chance(oneIn: 2)))
      selection += [PropertyPath(hops: [name], nil), PropertyPath(hops: [name], "name")]
    }
    query.selection = selection
    query.condition = condition(&random, query.joins.map(\.name))
    if random.random.chance(oneIn: 3) {
      query.limit = random.random.below(9)
      query.offset = random.random.below(3)
    }
    return query
  }

  /// Tests of the thing, and of those that are put beside it.
  private func condition(_ random: inout RandomConditions, _ names: [String]) -> Condition? {
    var tests: [Condition.Test] = []
    for _ in 0..<random.random.below(3) {
      guard random.random.chance(oneIn: 2) else {
        tests.append(random.test(depth: 0))
        continue
      }
      let name = random.random.pick(names)
      tests.append(
        random.test(fromPerson: true, depth: 0).mapping { path in
          PropertyPath(hops: [name] + path.hops, path.property, path.function)
        })
    }
    if tests.isEmpty { return nil }
    return Condition(random.random.chance(oneIn: 3) ? .any(tests) : .all(tests))
  }

  // MARK: Answers

  private func check(
    _ random: inout RandomConditions, on snapshot: Snapshot, _ world: NaiveCondition,
    _ seed: UInt64
  ) throws {
    let query = query(&random)
    guard let expected = try? answers(query, world) else { return }
    var found: [[Value]] = []
    let results = try QueryRun(query, on: snapshot)
    try results.visit { found.append($0) }
    let what = "seed \(seed): \(query)\n\(results.explanation)"
    let wanted = min(max(0, expected.count - query.offset), query.limit ?? .max)
    try #require(found.count == wanted, "\(what)")
    try #require(try QueryRun(query, on: snapshot).count() == wanted, "\(what)")
    var left: [[Value]: Int] = [:]
    for answer in expected { left[answer, default: 0] += 1 }
    for answer in found {
      let count = left[answer] ?? 0
      try #require(count > 0, "\(answer) in \(what)")
      left[answer] = count - 1
    }
  }

  /// All pairs, or triples, that pass.
  private func answers(_ query: QueryDescription, _ world: NaiveCondition) throws -> [[Value]] {
    var answers: [[Value]] = []
    for (path, record) in world.records where path.parent == query.collection {
      guard let key = path.last else { continue }
      func value(_ path: PropertyPath, _ world: NaiveCondition) throws -> NaiveCondition.Found {
        try world.value(path, record, key, query.collection)
      }
      func visit(_ world: NaiveCondition) throws {
        if world.joined.count == query.joins.count {
          if let test = query.condition?.test,
            try !world.holds(test, record, key: key, in: query.collection)
          {
            return
          }
          answers.append(try (query.selection ?? []).map { try value($0, world).value ?? .null })
          return
        }
        let join = query.joins[world.joined.count]
        let outer = try value(join.outer, world)
        var world = world
        var isAlone = true
        for (path, other) in world.records where path.parent == join.collection {
          guard let own = path.last else { continue }
          let inner = try world.value(PropertyPath(join.inner), other, own, join.collection)
          guard Self.areSame(outer, inner) else { continue }
          isAlone = false
          world.joined[join.name] = (own, other, join.collection)
          try visit(world)
        }
        guard isAlone, join.isLeft else { return }
        world.joined[join.name] = .some(nil)
        try visit(world)
      }
      try visit(world)
    }
    return answers
  }

  private static func areSame(_ a: NaiveCondition.Found, _ b: NaiveCondition.Found) -> Bool {
    guard let one = a.value, let other = b.value, one != .null, other != .null else { return false }
    if b.isKey {
      guard let key = NaiveCondition.key(one) else { return false }
      return NaiveCondition.key(other) == key
    }
    return NaiveCondition.order(one, other) == 0
  }
}
