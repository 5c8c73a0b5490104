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
      for question in LiveGroupsTests.questions {
        let query = try QueryDescription(parsing: question)
        var live = try FollowedGroups(query, remembersRows: items.random.oneIn(2), items)
        for step in 0..<60 {
          try items.change { try live.replace($0, $1, $2) }
          try live.finish(items)
          let wanted = try items.results(of: query)
          #expect(live.shown == wanted, "seed \(seed), step \(step): \(question)")
          #expect(live.groups.rows.all == wanted, "seed \(seed), step \(step): \(question)")
        }
      }
    }
  }

  @Test("leave with their last record, and give the next extreme")
  func last() throws {
    try withItems(0) { items in
      let query = try QueryDescription(
        parsing: "items | group by kind select count, sum(price), min(price), max(price)")
      var live = try FollowedGroups(query, remembersRows: true, items)
      try live.finish(items)
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
      #expect(try step((1, nil)) == [["a", 2, 5.0, -2, 7.0]])
      #expect(try step((3, nil)) == [["a", 1, -2, -2, -2]])
      #expect(try step((2, nil), (4, ["kind": "b"])) == [["b", 1, .null, .null, .null]])
      #expect(try step((4, nil)) == [])
    }
  }

  @Test("are one without paths, over no records as well")
  func none() throws {
    try withItems(0) { items in
      let query = try QueryDescription(parsing: "items | count, sum(price)")
      var live = try FollowedGroups(query, remembersRows: false, items)
      try live.finish(items)
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
      for question in questions {
        let query = try QueryDescription(parsing: question)
        var live = try FollowedValues(query, remembersRows: items.random.oneIn(2), items)
        for step in 0..<100 {
          try items.change { try live.replace($0, $1, $2) }
          live.finish()
          let wanted = try items.results(of: query)
          #expect(live.shown == wanted, "seed \(seed), step \(step): \(question)")
          #expect(live.rows.rows.all == wanted, "seed \(seed), step \(step): \(question)")
        }
      }
    }
  }

  @Test("lie in a list that any edit keeps in order", arguments: SeededGenerator.seeds(9, 10))
  func placed(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var (list, model) = (PlacedList<Int>(), [[UInt8]: Int]())
    for step in 0..<60 {
      let count = random.pick([1, 5, 300])
      let places = Set((0..<count).map { _ in [UInt8](bigEndian: UInt16(random.below(2_000))) })
      let removed = places.filter { model[$0] != nil }
      let inserted = places.filter { model[$0] == nil || random.oneIn(2) }
      list.edit(
        removing: removed.map { list.position(of: $0) }.sorted(),
        inserting: inserted.sorted { $0.precedes($1) }.map { .init(place: $0, payload: step) })
      for place in removed { model[place] = nil }
      for place in inserted { model[place] = step }
      let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      #expect((0..<list.count).map { list[$0].place } == sorted.map(\.key), "seed \(seed)")
      #expect((0..<list.count).map { list[$0].payload } == sorted.map(\.value), "seed \(seed)")
    }
  }

  private func withItems(
    _ seed: UInt64, areDecimals: Bool = false, _ body: (Items) throws -> Void
  ) throws {
    try withDatabase { try body(try Items($0, seed, areDecimals: areDecimals)) }
  }
}

extension ComputedRows {
  /// The values of all rows.
  fileprivate var all: [[Value]] { (0..<count).map { self[$0].values } }
}
