// Goal: every shape of a query has every way to take results, and each way gives what the same
// Swift code over arrays gives. Method: random items, filters, orders, limits and readers from a
// printed seed; one generic check of all ways, so that a shape which lacks one does not compile.

import FoundationEssentials
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Results")
struct ResultsTests {
  static func fill(_ database: Database, _ random: inout FormatRandom) throws {
    try database.register(Owner.self, Item.self)
    try database.write { tx in
      for number in 1...6 { try tx.insert(Owner(name: "owner \(number % 4)")) }
      for _ in 0..<700 {
        try tx.insert(
          Item(
            shop: random.pick(["north", "south", "west"]),
            price: random.chance(oneIn: 6) ? nil : random.below(90) - 10,
            owner: random.chance(oneIn: 5) ? nil : .init(1 + random.below(6))))
      }
    }
  }

  private static func world(_ snapshot: Snapshot) throws -> World {
    World(
      items: try snapshot.all(Item.self).fetch(), owners: try snapshot.all(Owner.self).fetch())
  }

  // MARK: Shapes

  @Test("of every shape are taken in every way", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func shapes(seed: UInt64) async throws {
    var random = FormatRandom(seed: seed)
    try await withDatabase { database in
      try Self.fill(database, &random)
      let past = try database.snapshot().sequence
      let before = try Self.world(try database.snapshot())
      try await database.write { tx in
        for item in before.items where item.id.key % 5 == 0 { try tx.delete(item.id) }
      }
      let world = try Self.world(try database.snapshot())
      for _ in 0..<5 {
        let present = Question(database.query(), world.items, &random)
        for shape in try Self.shapes(present, world, "seed \(seed): ", { try database.records($0) })
        {
          try shape.check()
          try await shape.checkInBackground()
        }
        let snapshot = try database.snapshot(at: .sequence(past))
        let old = Question(snapshot.query(), before.items, &random)
        for shape in try Self.shapes(
          old, before, "seed \(seed), before: ", { try snapshot.records($0) })
        {
          try shape.check()
          try await shape.checkInBackground()
        }
        let inner = random.next()
        try await database.write { tx in
          var random = FormatRandom(seed: inner)
          let own = Question(try tx.query(), world.items, &random)
          for shape in try Self.shapes(own, world, "seed \(seed), inside: ", { try tx.records($0) })
          {
            try shape.check()
          }
        }
      }
    }
  }

  /// A question in every shape, with what its results are.
  static func shapes(
    _ question: Question, _ world: World, _ start: String,
    _ asText: (String) throws -> DynamicQuery
  ) throws -> [any CheckedShape] {
    let (query, items) = (question.query, question.items)
    func shape<R: Results>(
      _ name: String, _ results: R, _ wanted: [String], _ text: @escaping (R.Element) -> String
    ) -> any CheckedShape where R.Element: Sendable {
      Checked(
        results: question.limited(results), wanted: question.limited(wanted), text: text,
        isOrdered: question.isOrdered || name == "groups",
        comment: "\(start)\(name) of \(question.name)"
      )
    }
    func owner(_ item: Item) -> String { world.owner(item)?.name ?? "-" }
    var shapes = [
      shape("models", query, items.map { "\($0)" }) { "\($0)" },
      shape("loading", query.with(\.owner), items.map { "\($0.id.key) \(owner($0))" }) {
        "\($0.id.key) \($1?.name ?? "-")"
      },
      shape(
        "join", query.join(Owner.self, on: \.owner, \.id),
        items.filter { $0.owner != nil }.map { "\($0.id.key) \(owner($0))" }
      ) { "\($0.id.key) \($1.name)" },
      shape(
        "left join", query.leftJoin(Owner.self, on: \.owner, \.id),
        items.map { "\($0.id.key) \(owner($0))" }
      ) { "\($0.id.key) \($1?.name ?? "-")" },
      shape(
        "selection", query.select(\.id, \.price), items.map { "\($0.id.key) \($0.price ?? -99)" }
      ) { "\($0.key) \($1 ?? -99)" },
      shape("one property", query.select(\.shop), items.map(\.shop)) { $0 },
      shape(
        "distinct", query.select(\.shop, \.price).distinct(),
        firsts(items.map { "\($0.shop) \($0.price ?? -99)" })
      ) { "\($0) \($1 ?? -99)" },
      shape(
        "groups", query.group(by: \.shop).aggregates { ($0.count, $0.sum($0.price)) },
        groups(items)
      ) { "\($0) \($1) \($2 ?? -99)" },
    ]
    if !question.isFiltered {
      shapes.append(
        shape("text", try asText(question.text), items.map { "\($0.id.key)" }) {
          $0.key.map { "\($0)" } ?? "-"
        })
    }
    return shapes
  }

  private static func firsts(_ all: [String]) -> [String] {
    var seen: Set<String> = []
    return all.filter { seen.insert($0).inserted }
  }

  private static func groups(_ items: [Item]) -> [String] {
    Dictionary(grouping: items, by: \.shop).sorted { $0.key < $1.key }.map { shop, items in
      let prices = items.compactMap(\.price)
      return "\(shop) \(items.count) \(prices.isEmpty ? -99 : prices.reduce(0, +))"
    }
  }

  @Test(
    "has aggregates of what its filter and its limit let through",
    arguments: SeededGenerator.seeds(5, 6))
  func aggregates(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try Self.fill(database, &random)
      let world = try Self.world(try database.snapshot())
      for _ in 0..<40 {
        let question = Question(database.query(), world.items, &random)
        let comment: Comment = "seed \(seed): \(question.name)"
        let (query, items) = (question.limited(question.query), question.limited(question.items))
        let prices = items.compactMap(\.price)
        #expect(try query.sum(\.price) == prices.reduce(0, +), comment)
        #expect(try query.minimum(\.price) == prices.min(), comment)
        #expect(try query.maximum(\.price) == prices.max(), comment)
        let mean = prices.isEmpty ? nil : Double(prices.reduce(0, +)) / Double(prices.count)
        #expect(
          try query.average(\.price).map { Int($0 * 1e6) } == mean.map { Int($0 * 1e6) }, comment)
        #expect(try Set(query.ids()) == Set(items.map(\.id)), comment)
      }
    }
  }

  @Test("say in their plan that a filter in Swift is evaluated, and use no view for it")
  func explaining() throws {
    var random = FormatRandom(seed: 7)
    try withDatabase { database in
      try Self.fill(database, &random)
      let filtered = database.query(Item.self).where { $0.shop == "south" }.filter { $0.id.key > 9 }
      let line = "keep those that the filter in Swift accepts"
      #expect(try filtered.limit(5).explain().contains(line))
      #expect(try filtered.select(\.price).explain().contains(line))
      let groups = filtered.group(by: \.shop).aggregates { $0.count }
      #expect(try groups.explain().contains(line) && !groups.explain().contains("a view"))
      let joined = filtered.join(Owner.self, on: \.owner, \.id)
      #expect(try joined.explain().contains(line))
      // Only what may be among the first is decoded.
      let top = Mutex(0)
      let first = database.query(Item.self).order(by: \.owner, \.price).limit(3)
      _ = try first.filter { _ in
        top.withLock { $0 += 1 }
        return true
      }.fetch()
      #expect(top.withLock { $0 } < 200)
    }
  }

  // MARK: Sequences

  struct Refused: Error {}

  @Test("read as a sequence throw what went wrong when the sequence is given back")
  func failures() async throws {
    var random = FormatRandom(seed: 8)
    try await withDatabase { database in
      try Self.fill(database, &random)
      let failing = database.query(Item.self).filter {
        if $0.id.key > 400 { throw Refused() }
        return true
      }
      var seen = 0
      #expect(throws: Refused.self) {
        try failing.withSequence { items in for _ in items { seen += 1 } }
      }
      let some = try failing.withSequence { Array($0.prefix(40)).count }
      #expect(seen == 256 && some == 40)
      #expect(throws: CancellationError.self) {
        try failing.withSequence { _ in throw CancellationError() }
      }
      var escaped: WalkSequence<Item>?
      try failing.withSequence { escaped = $0 }
      #expect(escaped?.next() == nil)
      seen = 0
      await #expect(throws: Refused.self) {
        for try await _ in failing.inBackground { seen += 1 }
      }
      #expect(seen == 256)
      try await database.write { tx in
        let items = try tx.query(Item.self)
        #expect(throws: DatabaseError.self) {
          try items.withSequence { for item in $0 { try tx.delete(item.id) } }
        }
        try items.limit(3).batches(of: 2) { for item in $0 { try tx.delete(item.id) } }
        #expect(try items.count() == 697)
      }
      let stays = try await database.write { try $0.query(Item.self) }
      await #expect(throws: DatabaseError.self) { for try await _ in stays.inBackground {} }
    }
  }

  @Test("read in the background end when the task is cancelled")
  func cancelling() async throws {
    var random = FormatRandom(seed: 9)
    try await withDatabase { database in
      try Self.fill(database, &random)
      let query = database.query(Item.self)
      let task = Task {
        var seen = 0
        for try await _ in query.inBackground {
          seen += 1
          if seen == 10 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
        return seen
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("read as a sequence are read once, also where they are sorted or grouped")
  func cost() throws {
    var random = FormatRandom(seed: 10)
    let read = Mutex(0)
    try withDatabase({ options in
      options.queryTrace = { trace in read.withLock { $0 += trace.recordsRead } }
    }) { database in
      try Self.fill(database, &random)
      func count<R: Results>(_ results: R) throws -> Int {
        read.withLock { $0 = 0 }
        try results.withSequence { for _ in $0 {} }
        return read.withLock { $0 }
      }
      let query = database.query(Item.self)
      #expect(try count(query) < 710)
      #expect(try count(query.order(by: \.owner, \.price)) < 710)
      #expect(try count(query.group(by: \.price, \.owner).aggregates { $0.count }) < 710)
      #expect(try count(query.select(\.price, \.owner).distinct()) < 710)
      #expect(try query.limit(5).withSequence { Array($0).count } == 5)
    }
  }
}
