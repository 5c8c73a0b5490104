// Goal: views say what their records say, however these came to be, and their entries do not
// depend on how. Method: random histories of a collection with views of all kinds; what the views
// say is compared with what a plain look at all records gives, their entries with those of views
// declared afterwards, and `verify` compares them with a rebuild from the log.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Views") struct ViewTests {
  @Test("say what the records say, after any history", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func histories(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      try database.write { try $0.declare(ViewHistory.path, ViewHistory.definition) }
      var history = ViewHistory(database, seed: seed)
      for _ in 0..<8 {
        try history.run(25)
        try database.read { try ViewTests.compare($0, &history.random) }
        let moment = SequenceNumber(UInt64(history.random.below(Int(try database.head.rawValue))))
        try database.read(at: .sequence(moment)) { try ViewTests.recompute($0, &history.random) }
        try database.write { tx in
          try tx.set("things/7", to: ["kind": "a", "title": "blue red", "amount": 1.5])
          try ViewTests.compare(tx[.root].snapshot, &history.random)
        }
      }
      try ViewTests.compareWithDeclaringAgain(database)
    }
  }

  @Test("leave nothing behind when their records go")
  func cleaning() throws {
    try withDatabase { database in
      try database.write { try $0.declare(ViewHistory.path, ViewHistory.definition) }
      var history = ViewHistory(database, seed: 9)
      try history.run(40)
      for key in try database.read({ try $0[ViewHistory.path].children.keys() }) {
        try database.write { _ = try $0.remove(ViewHistory.path.appending(key)) }
      }
      let left = try database.read { try ViewTests.entries($0) }
      #expect(left == [])
      try history.run(40)
      try database.write { try $0.declare(ViewHistory.path, nil) }
      let rest = try database.read { try ViewTests.entries($0) }
      #expect(rest == [])
    }
  }

  // MARK: Comparing

  private static func views(_ snapshot: Snapshot) throws -> [ViewPlan] {
    try #require(try snapshot.names.collections[ViewHistory.path]).views
  }

  /// Compares all views with a plain look at the records.
  static func compare(_ snapshot: Snapshot, _ random: inout SeededGenerator) throws {
    let naive = try NaiveViews(snapshot[ViewHistory.path])
    let reader = try snapshot.reader
    try recompute(snapshot, &random)
    for view in try views(snapshot) {
      let naive = try naive.counted(view.definition.condition)
      switch (view.content, view.definition.content) {
      case (.groups(let plan), .groups(let by, let aggregates)):
        let groups = GroupsReader(number: view.number, plan: plan, reader: reader)
        try compare(groups, naive.groups(by, aggregates))
      case (.top(let plan), .top(let by, let terms)):
        let top = TopReader(number: view.number, plan: plan, reader: reader)
        for values in naive.groups(by, []).keys {
          let found = try keys { try top.forEach(at: GroupPlace(plan.by, values: values), $0) }
          #expect(found == naive.top(by, terms, in: values))
        }
      case (.text(let plan), .text(let names, let language)):
        if language != nil { continue }
        let text = try TextReader(view.number, plan, in: snapshot)
        for _ in 0..<20 {
          let query = query(&random, names)
          let made = try TextQueryPlan(query, plan)
          let best = try text.best(made, limit: 1000)
          let found = try best.map { hit in try hit.key.lend { try Key($0) } }.sorted()
          #expect(found == naive.search(query, names), "\(query)")
          #expect(zip(best, best.dropFirst()).allSatisfy { $0.score >= $1.score })
          #expect(try text.best(made, limit: 3) == Array(best.prefix(3)))
        }
      default: Issue.record("a view is not what was declared")
      }
    }
  }

  /// Compares what is computed from the texts of records, as at a past moment, with a plain look at
  /// them, and at present with what the view says.
  static func recompute(_ snapshot: Snapshot, _ random: inout SeededGenerator) throws {
    let naive = try NaiveViews(snapshot[ViewHistory.path])
    for view in try views(snapshot) {
      let records = view.counted { try naive.forEach(snapshot, $0) }
      guard case .text(let plan) = view.content,
        case .text(let names, let language) = view.definition.content
      else { continue }
      let query = query(&random, names)
      let made = try TextQueryPlan(query, plan)
      let found = try plan.best(made, limit: 1000, of: records)
      if language == nil {
        let keys = try found.map { hit in try hit.key.lend { try Key($0) } }.sorted()
        let expected = try naive.counted(view.definition.condition).search(query, names)
        #expect(keys == expected)
      }
      guard snapshot.moment == nil else { continue }
      let text = try TextReader(view.number, plan, in: snapshot)
      #expect(try text.best(made, limit: 1000) == found)
    }
  }

  private static func compare(_ groups: GroupsReader, _ expected: [[Value]: [Value]]) throws {
    var found: [[Value]: [Value]] = [:]
    var last: [Value]?
    try groups.forEach { group in
      #expect(found.updateValue(group.aggregates, forKey: group.values) == nil)
      if let last, groups.plan.by.count == 1 {
        #expect(NaiveViews.precedes(last[0], group.values[0]))
      }
      last = group.values
      return true
    }
    #expect(found == expected)
    for (values, aggregates) in expected {
      #expect(
        try groups.group(at: GroupPlace(groups.plan.by, values: values))?.aggregates == aggregates)
    }
    #expect(
      try groups.group(
        at: GroupPlace(
          groups.plan.by, values: groups.plan.by.map { _ in .string("none such") })) == nil
        || groups.plan.by.isEmpty)
  }

  private static func keys(
    _ walk: ((RawSpan) throws -> Bool) throws -> Void
  ) throws -> [Key] {
    var keys: [Key] = []
    try walk { key in
      keys.append(try Key(key))
      return true
    }
    return keys
  }

  /// A random query.
  private static func query(
    _ random: inout SeededGenerator, _ names: [String], depth: Int = 0
  ) -> TextQuery {
    let word = random.pick(ViewHistory.words)
    switch random.below(depth < 3 ? 9 : 4) {
    case 0, 1: return .word(word)
    case 2: return .prefix(String(word.prefix(1 + random.below(3))))
    case 3:
      let isPrefix = random.oneIn(3)
      return .phrase("\(word) \(random.pick(ViewHistory.words))", isPrefix: isPrefix)
    case 4, 5:
      return .all((0...random.below(3)).map { _ in query(&random, names, depth: depth + 1) })
    case 6: return .any((0...random.below(3)).map { _ in query(&random, names, depth: depth + 1) })
    case 7: return .within(random.pick(names), query(&random, names, depth: 3))
    default: return .not(query(&random, names, depth: depth + 1))
    }
  }

  /// The entries of all views, each without the view's number.
  static func entries(_ snapshot: Snapshot) throws -> [[UInt8]] {
    let reader = try snapshot.reader
    var entries: [[UInt8]] = []
    var cursor = try Cursor(reader.access, reader.tables.views)
    var isThere = try cursor.first()
    while isThere {
      entries.append(
        cursor.withEntry { $0.extracting(droppingFirst: 4).array() + [0xFE, 0xFE] + $1.array() })
      isThere = try cursor.next()
    }
    return entries
  }

  /// Takes the declaration back and declares the same again.
  static func compareWithDeclaringAgain(_ database: Database) throws {
    let kept = try database.read { try entries($0) }
    try database.write { try $0.declare(ViewHistory.path, nil) }
    try database.write { try $0.declare(ViewHistory.path, ViewHistory.definition) }
    let made = try database.read { try entries($0) }
    #expect(made.count == kept.count)
    #expect(made == kept)
  }
}

extension GroupPlace {
  /// The group with certain values.
  fileprivate init(_ by: [ViewProperty], values: [Value]) throws {
    var bytes = ByteBuffer(capacity: 64)
    for (property, value) in zip(by, values) {
      try value.stored().lend { try property.appendOrder(of: $0, to: &bytes) }
    }
    self.init(order: bytes.array())
  }
}
