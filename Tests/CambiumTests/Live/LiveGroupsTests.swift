// Goal: groups and distinct values that follow single records are those of the query run again: the
// same values in the same form and order, and changes that lead from one list to the next. Method:
// random steps from a printed seed over few keys, so that groups appear, empty and lose their
// extremes; values that are equal in several forms, not numbers, or too large for an integer. After
// each step the query is run again.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Live groups")
struct LiveGroupsTests {
  private static let questions = [
    "items | group by kind select count, sum(price), avg(price), min(price), max(price)",
    "items | group by kind select count, max(price) having count > 2 sort -count",
    "items | group by kind select min(price), max(price) having `max(price)` > 1 sort `min(price)`",
    "items | group by kind, note select count, avg(price) sort -`avg(price)`, note",
    "items | group by note select count, sum(price) having count = 1",
    "items | count, sum(price), avg(price), min(price), max(price)",
  ]

  @Test("are those of the query run again", arguments: SeededGenerator.seeds(1, 2, 3, 4, 5, 6))
  func again(seed: UInt64) throws {
    print("seed \(seed)")
    try withItems(seed, areDecimals: seed % 3 == 0) { items in
      for question in LiveGroupsTests.questions { try follow(question, steps: 60, items, seed) }
    }
  }

  /// Follows a query over random steps, in memory or in files.
  private func follow(_ question: String, steps: Int, _ items: Items, _ seed: UInt64) throws {
    let query = try QueryDescription(parsing: question)
    let hasPlaces = items.random.oneIn(2)
    let memoryMax = items.random.pick([0, 2_000, .max])
    var live = try FollowedGroups(query, memoryMax: memoryMax, hasPlaces: hasPlaces, items)
    for step in 0..<steps {
      try live.step(items)
      let wanted = try items.results(of: query)
      #expect(live.shown == wanted, "seed \(seed), step \(step): \(question)")
      #expect(try live.all() == wanted, "seed \(seed), step \(step): \(question)")
      guard hasPlaces else { continue }
      let (count, most) = (items.random.below(wanted.count + 1), 1 + items.random.below(4))
      let some = Array(wanted.dropFirst(count).prefix(most))
      #expect(try live.some(behind: count, most: most) == some, "seed \(seed): \(question)")
    }
    #expect(live.kept.areInFiles || memoryMax > 0)
  }

  @Test("have values of any length, in memory and in files")
  func long() throws {
    try withDatabase({ $0.stepSizes.keptBytes = 0 }) { database in
      try database.write { try $0.declare("docs", CollectionDefinition()) }
      let lives = try [
        "docs | group by body select count sort -count", "docs select body distinct",
        "docs | group by body select count sort -count, body limit 2",
        "docs select body distinct limit 2",
      ].map { (text: $0, live: try database.records($0).live()) }
      func text(_ end: String) -> String { String(repeating: "x", count: 70_000) + end }
      let steps: [(String, String?)] = [
        ("a", text("1")), ("b", text("2")), ("c", text("2")), ("d", "y"), ("b", text("1")),
        ("a", nil), ("c", "y"), ("b", nil),
      ]
      for (key, body) in steps {
        try database.write { tx in
          let path = NodePath(keys: ["docs", .text(key)])
          if let body { try tx.set(path, to: ["body": .string(body)]) } else { try tx.remove(path) }
        }
        for (text, live) in lives {
          try live.refresh()
          #expect(try Array(live.elements) == database.records(text).fetch(), "\(text)")
        }
      }
    }
  }

  @Test("have the values that a view has, and the records themselves")
  func views() throws {
    try withDatabase { database in
      var (teams, players) = (CollectionDefinition(), CollectionDefinition())
      teams.keys = .string
      players.properties = [
        PropertyDefinition("team", .reference("teams")), PropertyDefinition("rank", .double),
      ]
      players.views = [ViewDefinition(.groups(by: ["team"], [.count, .maximum("rank")]))]
      try database.write { [teams, players] tx in
        try tx.declare("teams", teams)
        try tx.declare("players", players)
        for (key, team, rank) in [("a", "42", 2), ("b", "x", -0.0), ("c", "42", 1.5)] {
          try tx.set(
            NodePath(keys: ["players", .text(key)]),
            to: ["team": .string(team), "rank": .double(rank)])
        }
      }
      let query = try database.records("players | group by team select count, max(rank)")
      let words = try query.explain()
      #expect(words.contains("view"), "\(words)")
      let wanted: [[Value]] = [["42", 2, .double(2)], ["x", 1, .double(0)]]
      func rows(_ found: [DynamicRecord]) -> [[Value]] {
        found.map { [$0["team"] ?? .null, $0["count"] ?? .null, $0["max(rank)"] ?? .null] }
          .sorted { "\($0)" < "\($1)" }
      }
      #expect(try rows(query.fetch()) == wanted)
      #expect(try rows(Array(query.live().elements)) == wanted)
      try database.write { try $0.set("other", to: 1) }
      let past = try database.snapshot(at: .sequence(1))
      let then = try past.records("players | group by team select count, max(rank)")
      #expect(try rows(then.fetch()) == wanted)
    }
  }

  @Test("leave with their last record, and give the next extreme")
  func last() throws {
    try withItems(0) { items in
      let query = try QueryDescription(
        parsing: "items | group by kind select count, sum(price), min(price), max(price)")
      var live = try FollowedGroups(query, memoryMax: .max, hasPlaces: true, items)
      #expect(live.shown == [[.null, 1, .null, .null, .null]])
      func step(_ changes: (Int, Value?)...) throws -> [[Value]] {
        for (key, value) in changes {
          try items.change(key, to: value) { try live.replace($0, $1, $2) }
        }
        try live.finish(items)
        return live.shown
      }
      let first: Value = ["kind": "a", "price": 7]
      _ = try step((0, nil))
      #expect(try step((1, first)) == [["a", 1, 7, 7, 7]])
      #expect(try step((2, ["kind": "a", "price": -2])) == [["a", 2, 5, -2, 7]])
      #expect(try step((3, ["kind": "a", "price": 7.0])) == [["a", 3, 12.0, -2, 7]])
      #expect(try step((1, nil)) == [["a", 2, 5.0, -2, 7]])
      #expect(try step((3, nil)) == [["a", 1, -2, -2, -2]])
      #expect(try step((2, nil), (4, ["kind": "b"])) == [["b", 1, .null, .null, .null]])
      #expect(try step((4, nil)) == [])
    }
  }

  @Test("are one without paths, over no records as well")
  func none() throws {
    try withItems(0) { items in
      let query = try QueryDescription(parsing: "items | count, sum(price)")
      var live = try FollowedGroups(query, memoryMax: .max, hasPlaces: false, items)
      #expect(live.shown == [[1, .null]])
      try items.change(0, to: nil) { try live.replace($0, $1, $2) }
      try live.finish(items)
      #expect(live.shown == [[0, .null]])
    }
  }

  @Test(
    "are distinct values, too, at the place of the first", arguments: SeededGenerator.seeds(7, 8))
  func distinct(seed: UInt64) throws {
    print("seed \(seed)")
    let questions = [
      "items select kind distinct", "items select kind, note distinct sort -price, note",
      "items select note distinct sort price nulls last",
    ]
    try withItems(seed) { items in
      for question in questions { try follow(question, steps: 100, items, seed) }
    }
  }

  private func withItems(
    _ seed: UInt64, areDecimals: Bool = false, _ body: (Items) throws -> Void
  ) throws {
    try withDatabase { try body(try Items($0, seed, areDecimals: areDecimals)) }
  }
}
