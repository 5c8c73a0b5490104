// Goal: applying the differences of a live query to the result before gives what running the query
// again at that moment gives. Method: random databases, queries of all shapes and windows, and
// histories from a printed seed; each live query is stepped now and then, so that it also lags.
//
// It finds a refill that is left out, a bound that is off by one, a change of a far record that is
// missed, a duplicate in a join, a group that stays when it is empty: each was planted.
//
// CAMBIUM_LIVE_COMMITS sets how many transactions there are in all; 1,500 unless it does.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A live query", .timeLimit(.minutes(30)))
struct LiveQueryTests {
  private static let total =
    ProcessInfo.processInfo.environment["CAMBIUM_LIVE_COMMITS"].flatMap { Int($0) } ?? 1_500

  /// A live query with the result that its differences lead to.
  private final class Followed {
    let run: LiveRun
    let again: DynamicQuery
    var elements: [DynamicRecord] = []
    /// True after a difference was wrong: those that follow are, too.
    private var isBroken = false

    init(_ description: QueryDescription, _ database: Database) throws {
      let query = DynamicQuery(description, .database(database))
      run = try LiveRun(BoxedQuery(query))
      again = DynamicQuery(description.orderedByKeyLast, .database(database))
    }

    /// Takes a part of a step as a task that follows does, which others may write after.
    ///
    /// - Parameter way: 0 begins the step, which leaves nothing open where it is a short one; 1 has
    ///   it finished as well, as another thread does; 2 shows it then.
    /// - Throws: As ``LiveRun/step(then:)``.
    func begin(_ way: Int) throws {
      if isBroken { return }
      if let step = try run.having({ try $0.shortStep(from: run.elements) }) {
        return try show(run.take(step))
      }
      if way > 0 { try run.having { try $0.finish(from: run.elements) } }
      if way > 1, let step = try run.having({ $0.takeFinished() }) { try show(run.take(step)) }
    }

    private func show(_ diff: BoxedDiff) throws {
      elements = try LiveDiff<DynamicRecord>(diff).strictlyApplied(to: elements)
    }

    func step(_ comment: String) throws {
      if isBroken { return }
      try show(run.step())
      let live = LiveElements<DynamicRecord>(boxes: run.elements)
      let wanted = try again.fetch()
      isBroken = elements != wanted || Array(live) != wanted
      let texts = (elements.map(\.text), live.map(\.text), wanted.map(\.text))
      #expect(!isBroken, "\(comment): \(again)\n\(texts.0)\n\(texts.1)\n\(texts.2)")
    }
  }

  @Test("equals running it again", arguments: SeededGenerator.seeds(Array(1...9)))
  func equals(seed: UInt64) throws {
    // The lengths of steps that another thread would finish; each way follows from the seed.
    try withDatabase({ $0.stepSizes.shortRecords = [256, 0, 2][Int(seed % 3)] }) { database in
      var trial = try Trial(database, seed)
      var live = try (0..<12).map { _ in try Followed(trial.query(), database) }
      for followed in live { try followed.step("seed \(seed), first") }
      for round in 0..<(Self.total / 12) {
        try trial.change()
        for followed in live where trial.random.random.chance(oneIn: 3) {
          try followed.begin(trial.random.random.below(3))
        }
        if trial.random.random.chance(oneIn: 2) { try trial.change() }
        for followed in live where trial.random.random.chance(oneIn: 2) {
          try followed.step("seed \(seed), round \(round)")
        }
        if trial.random.random.chance(oneIn: 10) {
          live[trial.random.random.below(live.count)] = try Followed(trial.query(), database)
        }
      }
      for followed in live { try followed.step("seed \(seed), end") }
    }
  }

  @Test("has a window that moves over many rows", arguments: SeededGenerator.seeds(1, 2, 3))
  func windows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.properties = [
        PropertyDefinition("rank", .integer), PropertyDefinition("isOpen", .bool),
      ]
      definition.indexes = [IndexDefinition([.init("rank")])]
      try database.write { [definition] tx in
        try tx.declare("tasks", definition)
        for key in 0..<300 { try Self.set(tx, key, key) }
      }
      let open = Condition(.compare(PropertyPath("isOpen"), .equal, .bool(true)))
      let live = try [(nil, false, 0), (open, false, 0), (open, true, 2), (nil, true, 0)].map {
        condition, isDescending, offset in
        var query = QueryDescription("tasks", where: condition)
        query.orderings = [Ordering(PropertyPath("rank"), isDescending: isDescending)]
        (query.limit, query.offset) = (4, offset)
        return try Followed(query, database)
      }
      for followed in live { try followed.step("seed \(seed), first") }
      for round in 0..<400 {
        let random = (key: random.below(340), rank: random.below(300), kind: random.below(6))
        try database.write { tx in
          // The first and the last are removed, so that windows run short, and their bounds move.
          let all = try tx["tasks"].children.fetch().count
          if random.kind < 3, all > 60 {
            for number in 0..<3 {
              let first = try tx.records("tasks sort rank, id limit 1").fetch()
              let last = try tx.records("tasks sort -rank, -id limit 1").fetch()
              for record in number == 0 ? first + last : first { try tx.remove(record.path) }
            }
          } else {
            try Self.set(tx, random.key, random.rank)
          }
        }
        for followed in live { try followed.step("seed \(seed), round \(round)") }
      }
    }
  }

  @Test("follows transactions of many changes", arguments: SeededGenerator.seeds(1, 2))
  func bulk(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.properties = [
        PropertyDefinition("rank", .integer), PropertyDefinition("isOpen", .bool),
      ]
      definition.indexes = [IndexDefinition([.init("rank")])]
      try database.write { [definition] tx in
        try tx.declare("tasks", definition)
        for key in 0..<1_000 { try Self.set(tx, key, key) }
      }
      let open = Condition(.compare(PropertyPath("isOpen"), .equal, .bool(true)))
      var live = try [(nil, nil), (open, nil), (open, 20), (nil, 2_000)].map {
        condition, limit in
        var query = QueryDescription("tasks", where: condition)
        (query.orderings, query.limit) = ([Ordering(PropertyPath("rank"))], limit)
        return try Followed(query, database)
      }
      var groups = QueryDescription("tasks")
      groups.grouping = .init([PropertyPath("isOpen")], [QueryAggregate(.count)])
      live.append(try Followed(groups, database))
      for followed in live { try followed.step("seed \(seed), first") }
      for round in 0..<30 {
        for _ in 0...random.below(3) {
          let (first, count) = (random.below(2_000), 1 + random.below(600))
          let (stride, shift) = (1 + random.below(7), random.below(3_000))
          let isRemoval = random.oneIn(4)
          try database.write { tx in
            for number in 0..<count {
              let key = (first + number * stride) % 2_000
              let path = NodePath(keys: ["tasks", .integer(Int64(key))])
              if isRemoval, try tx[path].exists {
                try tx.remove(path)
              } else {
                try Self.set(tx, key, (key + shift) % 2_500)
              }
            }
          }
        }
        for followed in live { try followed.step("seed \(seed), round \(round)") }
      }
    }
  }

  private static func set(
    _ tx: borrowing Database.Transaction, _ key: Int, _ rank: Int
  ) throws {
    try tx.set(
      NodePath(keys: ["tasks", .integer(Int64(key))]),
      to: ["rank": .integer(Int64(rank)), "isOpen": .bool(key % 3 > 0)])
  }

  /// A database of things and people that changes at random.
  private struct Trial {
    let database: Database
    var random: RandomConditions

    init(_ database: Database, _ seed: UInt64) throws {
      self.database = database
      random = RandomConditions(seed: seed)
      try RandomConditions.storeBlobs(in: database)
      let definition = random.thingDefinition()
      try database.write { tx in
        try tx.declare(
          RandomConditions.people, RandomConditions.definitions[RandomConditions.people])
        try tx.declare(RandomConditions.things, definition)
      }
      for _ in 0..<4 { try change(40) }
    }

    mutating func change() throws {
      if random.random.chance(oneIn: 40) {
        let definition = random.thingDefinition()
        return try database.write { try $0.declare(RandomConditions.things, definition) }
      }
      try change(1 + random.random.below(random.random.chance(oneIn: 8) ? 30 : 3))
    }

    private mutating func change(_ count: Int) throws {
      var copy = random
      try database.write { tx in
        for _ in 0..<count { try copy.change(tx) }
      }
      random = copy
    }

    /// A query whose result can be compared: a condition that compares a key with what is no key is
    /// refused, also when it is run again.
    mutating func query() throws -> QueryDescription {
      while true {
        var query = random.query()
        random.shape(&query)
        let asked = DynamicQuery(query.orderedByKeyLast, .database(database))
        if (try? asked.fetch()) != nil { return query }
      }
    }
  }
}

extension RandomConditions {
  /// Makes one change in a transaction.
  mutating func change(_ tx: borrowing Database.Transaction) throws {
    let isPerson = random.chance(oneIn: 4)
    let number = random.below(isPerson ? 5 : 60)
    let key: Key = isPerson || number % 3 > 0 ? .text("p\(number)") : .integer(Int64(number))
    let path = (isPerson ? Self.people : Self.things).appending(key)
    switch random.below(5) {
    case 0: try tx.remove(path)
    case 1: try tx.set(path, to: .map(isPerson ? person() : thing()))
    default:
      guard var record = try tx[path].record else {
        return try tx.set(path, to: .map(isPerson ? person() : thing()))
      }
      let name = random.pick(isPerson ? ["name", "age", "boss", "since"] : Self.properties)
      record[name] = (isPerson ? person() : thing())[name]
      try tx.set(path, to: .map(record.values))
    }
  }

  /// Gives a query one of the shapes that there are.
  mutating func shape(_ query: inout QueryDescription) {
    switch random.below(8) {
    case 0: query.selection = selection()
    case 1:
      query.selection = selection()
      query.isDistinct = true
    case 2:
      query.orderings = []
      query.grouping = .init(
        [PropertyPath(random.pick(["title", "count", "isNew"]))],
        [.init(.count), .init(.sum, PropertyPath("weight")), .init(.maximum, PropertyPath("made"))])
    case 3: query.outcome = random.chance(oneIn: 2) ? .count : .exists
    case 4:
      query.joins = [
        .init(
          "other", Self.people, PropertyPath("owner"), inner: nil, isLeft: random.chance(oneIn: 2))
      ]
      query.selection = [
        PropertyPath(nil), PropertyPath("title"), PropertyPath(hops: ["other"], "name"),
      ]
    default: break
    }
  }
}

extension QueryDescription {
  /// The query with the order written out in which a live query has rows that are equal otherwise.
  var orderedByKeyLast: QueryDescription {
    if grouping != nil || outcome != .list { return self }
    var query = self
    if !orderings.contains(where: { $0.path == PropertyPath(nil) }) {
      let isDescending = orderings.last?.isDescending ?? false
      query.orderings.append(Ordering(PropertyPath(nil), isDescending: isDescending))
    }
    return query
  }
}

extension DynamicRecord {
  fileprivate var text: String {
    "\(path.last.map { "\($0)" } ?? "") \(values.members.map { "\($0.name) \($0.value)" })"
  }
}

extension LiveDiff where Element: Equatable {
  /// The result after the difference, made of its parts alone, each of which is checked.
  func strictlyApplied(to before: [Element]) throws -> [Element] {
    let lost = deletions.map(\.position) + moves.map(\.from)
    #expect(Set(lost).count == lost.count, "a row leaves twice: \(self)")
    for deletion in deletions {
      #expect(before[deletion.position] == deletion.element, "\(self)")
    }
    var rows = before.enumerated().filter { !Set(lost).contains($0.offset) }.map(\.element)
    let gained = insertions.map { ($0.position, $0.element) } + moves.map { ($0.to, $0.element) }
    for (position, element) in gained.sorted(by: { $0.0 < $1.0 }) {
      try #require(position <= rows.count, "a row comes behind the end: \(self)")
      rows.insert(element, at: position)
    }
    for update in updates {
      #expect(before[update.before] == update.old)
      rows[update.after] = update.new
    }
    return rows
  }
}
