// Goal: the pages that are loaded are the rows of the whole result from their first place on,
// whatever happens before, in and behind them; and turning them forward and back shows each row
// once. Method: random changes, turns and declarations from a printed seed, with and without an
// index, in several orders; the whole result is fetched each time, and the first place is a pair of
// numbers.
//
// It finds, planted: a start that is forgotten when the query is run again, a page back that
// misses its last row, rows before the start that are taken in.

import Simulation
import Testing

@testable import Cambium

@Suite("Live pages", .timeLimit(.minutes(10)))
struct LivePagesTests {
  /// A row's place: its rank and its key, so that they ascend.
  private struct Place: Comparable {
    var rank: Int
    var key: Int

    static func < (a: Place, b: Place) -> Bool { (a.rank, a.key) < (b.rank, b.key) }
  }

  /// An order of tasks, as the query has it and as a pair of numbers.
  private struct Order {
    var isDescending: Bool
    var nulls: Ordering.Nulls?

    static let all = [
      Order(isDescending: false), Order(isDescending: true),
      Order(isDescending: false, nulls: .last), Order(isDescending: true, nulls: .first),
    ]

    var query: QueryDescription {
      var query = QueryDescription("tasks")
      query.orderings = [
        Ordering(PropertyPath("rank"), isDescending: isDescending, nulls: nulls),
        Ordering(PropertyPath(nil), isDescending: isDescending),
      ]
      query.condition = Condition(.compare(PropertyPath("isOpen"), .equal, .bool(true)))
      return query
    }

    func place(_ record: DynamicRecord) -> Place {
      let sign = isDescending ? -1 : 1
      var key = 0
      if case .integer(let number)? = record.path.last { key = Int(number) }
      guard case .integer(let rank)? = record["rank"] else {
        let isFirst = nulls.map { $0 == .first } ?? !isDescending
        return Place(rank: isFirst ? .min : .max, key: sign * key)
      }
      return Place(rank: sign * Int(rank), key: sign * key)
    }
  }

  /// Pages, and what they should be.
  private struct Followed {
    let order: Order
    let pages: LivePages<DynamicQuery>
    let most: Int?
    var elements: [DynamicRecord] = []
    var start: Place?
    var limit: Int

    init(_ order: Order, size: Int, keeping count: Int?, _ database: Database) throws {
      self.order = order
      pages = try DynamicQuery(order.query, .database(database)).livePages(of: size, keeping: count)
      (most, limit, elements) = (count.map { $0 * size }, size, Array(pages))
    }

    private func all(_ database: Database) throws -> [DynamicRecord] {
      try DynamicQuery(order.query, .database(database)).fetch()
    }

    private func rank(in all: [DynamicRecord]) -> Int {
      start.map { start in all.firstIndex { order.place($0) >= start } ?? all.count } ?? 0
    }

    /// Takes a difference, which must lead to the rows from the first place on.
    mutating func take(
      _ diff: LiveDiff<DynamicRecord>, _ database: Database, _ comment: Comment
    ) throws {
      let all = try all(database)
      let rank = rank(in: all)
      let wanted = Array(all[rank...].prefix(limit))
      elements = try diff.strictlyApplied(to: elements)
      try #require(elements == wanted && Array(pages) == wanted, comment)
      #expect(pages.hasNext == (rank + limit < all.count), comment)
      #expect(pages.hasPrevious == (start != nil), comment)
    }

    mutating func next(_ database: Database, _ comment: Comment) throws {
      let all = try all(database)
      let rank = rank(in: all)
      if rank + limit < all.count {
        let excess = most.map { max(0, limit + pages.pageSize - $0) } ?? 0
        limit += pages.pageSize - excess
        if excess > 0 { start = order.place(all[rank + excess]) }
      }
      try take(pages.next(), database, comment)
    }

    mutating func previous(_ database: Database, _ comment: Comment) throws {
      let all = try all(database)
      let rank = rank(in: all)
      if start != nil {
        let count = min(rank, pages.pageSize)
        limit = min(limit + count, most ?? .max)
        start = count == rank ? nil : order.place(all[rank - count])
      }
      try take(pages.previous(), database, comment)
    }
  }

  private static func definition(hasIndex: Bool, _ random: inout SeededGenerator)
    -> CollectionDefinition
  {
    var definition = CollectionDefinition()
    definition.properties = [
      PropertyDefinition("rank", .integer), PropertyDefinition("isOpen", .bool),
    ]
    if hasIndex {
      definition.indexes = [
        IndexDefinition([.init("isOpen"), .init("rank")]),
        IndexDefinition([.init("rank", isDescending: random.oneIn(2))]),
      ]
    }
    return definition
  }

  private static func set(
    _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let rank: Value = random.oneIn(6) ? .null : .integer(Int64(random.below(40)))
    try tx.set(
      NodePath(keys: ["tasks", .integer(Int64(random.below(150)))]),
      to: ["rank": rank, "isOpen": .bool(!random.oneIn(4))])
  }

  /// Changes a few tasks, or all of those that are shown.
  private static func change(
    _ database: Database, _ shown: [DynamicRecord], _ random: inout SeededGenerator
  ) throws {
    switch random.below(12) {
    case 0: _ = try? database.undoLast(onConflict: .overwrite)
    case 1:
      try database.write { tx in for record in shown { try tx.remove(record.path) } }
    case 2:
      let definition = definition(hasIndex: !random.oneIn(3), &random)
      try database.write { try $0.declare("tasks", definition) }
    default:
      let (count, removals) = (random.below(5), random.below(3))
      try database.write { tx in
        for _ in 0...count { try set(tx, &random) }
        for _ in 0..<removals {
          try tx.remove(NodePath(keys: ["tasks", .integer(Int64(random.below(150)))]))
        }
      }
    }
  }

  @Test("are the rows from their first place on", arguments: SeededGenerator.seeds(Array(1...8)))
  func random(seed: UInt64) throws {
    try withDatabase { database in
      var random = SeededGenerator(seed: seed)
      let definition = Self.definition(hasIndex: !random.oneIn(3), &random)
      try database.write { try $0.declare("tasks", definition) }
      try database.write { tx in for _ in 0..<200 { try Self.set(tx, &random) } }
      var followed = try Order.all.map { order in
        try Followed(
          order, size: 1 + random.below(12), keeping: random.pick([nil, 1, 2, 3]), database)
      }
      for round in 0..<60 {
        try Self.change(database, followed[random.below(4)].elements, &random)
        for index in followed.indices {
          let comment: Comment = "seed \(seed), round \(round), pages \(index)"
          switch random.below(5) {
          case 0, 1: try followed[index].next(database, comment)
          case 2: try followed[index].previous(database, comment)
          case 3: break
          default: try followed[index].take(followed[index].pages.refresh(), database, comment)
          }
        }
      }
    }
  }

  @Test("cover each row once, forward and back", arguments: [1, 3, 7, 200])
  func coverage(size: Int) throws {
    try withDatabase { database in
      var random = SeededGenerator(seed: 5)
      let definition = Self.definition(hasIndex: true, &random)
      try database.write { try $0.declare("tasks", definition) }
      try database.write { tx in for _ in 0..<200 { try Self.set(tx, &random) } }
      for order in Order.all {
        let query = DynamicQuery(order.query, .database(database))
        let all = try query.fetch()
        let pages = try query.livePages(of: size, keeping: 1)
        var forward = Array(pages)
        while pages.hasNext { forward += try pages.next().insertions.map(\.element) }
        #expect(try forward == all && pages.next().isEmpty)
        var backward = Array(pages)
        while pages.hasPrevious {
          try #require(try !pages.previous().isEmpty)
          // The first page is filled up with rows of the one behind it.
          backward = pages.prefix(all.count - backward.count) + backward
        }
        #expect(try backward == all && pages.previous().isEmpty)
      }
    }
  }

  // MARK: Joined rows

  @Test("have joined rows, also where a page ends between those of one", arguments: 1...4)
  func joined(size: Int) throws {
    try withDatabase { database in
      var random = SeededGenerator(seed: UInt64(size))
      try database.write { tx in
        for key in 0..<12 {
          try tx.set(
            NodePath(keys: ["tasks", .integer(Int64(key))]),
            to: ["kind": .integer(Int64(key % 3)), "rank": .integer(Int64(random.below(4)))])
          try tx.set(
            NodePath(keys: ["kinds", .integer(Int64(key))]),
            to: ["kind": .integer(Int64(key % 4)), "rank": .integer(Int64(random.below(3)))])
        }
      }
      for path in [PropertyPath("rank"), PropertyPath(hops: ["other"], "rank")] {
        var query = QueryDescription("tasks")
        query.joins = [.init("other", "kinds", PropertyPath("kind"), inner: "kind", isLeft: false)]
        query.orderings = [
          Ordering(path, isDescending: true), Ordering(PropertyPath(nil), isDescending: true),
        ]
        query.selection = [PropertyPath(nil), PropertyPath(hops: ["other"], nil)]
        let all = try DynamicQuery(query, .database(database)).fetch()
        let pages = try DynamicQuery(query, .database(database)).livePages(of: size, keeping: 2)
        var count = pages.count
        while pages.hasNext { count += try pages.next().insertions.count }
        #expect(count == all.count && Array(pages) == all.suffix(pages.count))
        var back = 0
        while pages.hasPrevious {
          let count = try pages.previous().insertions.count
          back += count
          #expect(all.contains(pages), "\(size)")
          try #require(count > 0 && back <= all.count)
        }
        #expect(Array(pages) == Array(all.prefix(2 * size)))
      }
    }
  }

  // MARK: Edges

  @Test("stay at their place, and replace what leaves")
  func place() throws {
    try withDatabase { database in
      try database.write { tx in
        for key in 1...20 {
          try tx.set(
            NodePath(keys: ["tasks", .integer(Int64(key * 10))]),
            to: ["rank": .integer(Int64(key * 10)), "isOpen": true])
        }
      }
      let query = DynamicQuery(Order.all[0].query, .database(database))
      let pages = try query.livePages(of: 3, keeping: 1)
      let ranks = { pages.map { $0["rank"] ?? .null } }
      let turn = try pages.next()
      #expect(ranks() == [40, 50, 60] && turn.insertions.map(\.cause).contains(.question))
      // Before the page; in it; in place of its first row.
      try database.write { try $0.set("tasks/35", to: ["rank": 35, "isOpen": true]) }
      #expect(try pages.refresh().isEmpty)
      try database.write { try $0.set("tasks/55", to: ["rank": 55, "isOpen": true]) }
      let arrival = try pages.refresh()
      #expect(ranks() == [40, 50, 55] && arrival.deletions.map(\.cause) == [.window])
      try database.write { tx in
        for key: NodePath in ["tasks/40", "tasks/50", "tasks/55", "tasks/60"] { try tx.remove(key) }
      }
      #expect(try pages.refresh().insertions.map(\.position) == [0, 1, 2])
      #expect(ranks() == [70, 80, 90])
      try pages.previous()
      #expect(ranks() == [20, 30, 35] && pages.hasPrevious)
      try pages.previous()
      #expect(ranks() == [10, 20, 30] && !pages.hasPrevious)
      // The first page begins with whatever is first.
      try database.write { try $0.set("tasks/5", to: ["rank": 5, "isOpen": true]) }
      try pages.refresh()
      #expect(ranks() == [5, 10, 20])
    }
  }

  @Test("stay where they are when a declaration gives places another form")
  func declaration() throws {
    try withDatabase { database in
      try database.write { tx in
        for key in 1...30 {
          try tx.set(
            NodePath(keys: ["tasks", .integer(Int64(key))]),
            to: ["rank": .integer(Int64(key)), "isOpen": true])
        }
      }
      let query = DynamicQuery(Order.all[1].query, .database(database))
      let pages = try query.livePages(of: 5, keeping: 1)
      try pages.next()
      let shown = Array(pages)
      for type in [PropertyType.integer, .double, .decimal] {
        var definition = CollectionDefinition()
        definition.properties = [PropertyDefinition("rank", type)]
        try database.write { [definition] in try $0.declare("tasks", definition) }
        try pages.refresh()
        #expect(pages.map(\.path) == shown.map(\.path) && pages.hasPrevious)
      }
      try pages.next()
      #expect(pages.first?.path == "tasks/20")
    }
  }

  @Test("refuse results that have no place")
  func refused() throws {
    try withDatabase { database in
      func query(_ text: String) throws -> DynamicQuery {
        DynamicQuery(try QueryDescription(parsing: text), .database(database))
      }
      for text in ["tasks limit 3", "tasks group by rank select rank, count", "tasks count"] {
        guard let query = try? query(text) else { continue }
        #expect(throws: DatabaseError.self, "\(text)") { try query.livePages(of: 5) }
      }
      let pages = try query("tasks").livePages(of: .max, keeping: .max)
      #expect(try pages.isEmpty && !pages.hasNext && pages.next().isEmpty)
    }
  }
}
