// Goal: the planner takes the way that it should, and says so; results that are put together in
// other ways than by scanning are right.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("The plan of a query")
struct QueryPlanTests {
  /// 5 airports and 2,000 flights.
  private func withFlights(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.write { tx in
        var airports = CollectionDefinition()
        airports.properties = [PropertyDefinition("name", .string)]
        try tx.declare("airports", airports)
        var flights = CollectionDefinition()
        flights.properties = [
          PropertyDefinition("origin", .reference("airports")),
          PropertyDefinition("number", .integer), PropertyDefinition("delay", .integer),
          PropertyDefinition("scheduled", .date), PropertyDefinition("carrier", .string),
        ]
        var covering = IndexDefinition([.init("carrier")])
        covering.covered = ["delay"]
        flights.indexes = [
          IndexDefinition([.init("origin"), .init("scheduled", isDescending: true)]),
          IndexDefinition([.init("number")]), covering,
        ]
        flights.views = [
          ViewDefinition(.groups(by: ["origin"], [.count, .average("delay")])),
          ViewDefinition(.top(by: ["carrier"], [.init("delay", isDescending: true)])),
        ]
        try tx.declare("flights", flights)
        for name in ["JFK", "LGA", "EWR", "SFO", "LAX"] {
          try tx.set(
            NodePath(keys: ["airports", .text(name)]), to: ["name": .string("The \(name)")])
        }
        for index in 0..<2000 {
          try tx.set(
            NodePath(keys: ["flights", .integer(Int64(index))]),
            to: [
              "origin": .string(["JFK", "LGA", "EWR", "SFO", "LAX"][index % 5]),
              "number": .integer(Int64(index % 700)), "delay": .integer(Int64(index % 90) - 10),
              "scheduled": .date(Date(timeIntervalSince1970: Double(index) * 600)),
              "carrier": .string(["UA", "AA", "DL"][index % 3]),
            ])
        }
      }
      try body(database)
    }
  }

  private func explained(_ text: String, _ snapshot: Snapshot) throws -> String {
    let results = try QueryRun(try QueryDescription(parsing: text), on: snapshot)
    _ = try results.count()
    return results.explanation
  }

  private func values(_ text: String, _ snapshot: Snapshot) throws -> [[Value]] {
    var found: [[Value]] = []
    try QueryRun(try QueryDescription(parsing: text), on: snapshot).visit { found.append($0) }
    return found
  }

  @Test("uses what there is, and says so")
  func ways() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      let cases = [
        ("flights where delay > 60", "scan flights"),
        ("flights where number = 7", "use the index (number) where number = 7 of flights"),
        (
          "flights where origin = \"JFK\" sort -scheduled limit 3",
          "use the index (origin, -scheduled) where origin = \"JFK\" of flights"
        ),
        (
          "flights where carrier = \"UA\" | sum(delay)",
          "use the index (carrier) where carrier = \"UA\" of flights, alone"
        ),
        ("flights where id = 7", "look up 1 key in flights"),
        ("flights where id >= 1990", "scan a range of keys of flights"),
        ("flights sort -id limit 2", "scan flights, last key first"),
        (
          "flights | group by origin select count, avg(delay)",
          "read the groups that a view of flights keeps, by origin"
        ),
        (
          "flights where origin.name = \"The JFK\" and number < 100",
          "first ask airports where name = \"The JFK\": 1 found"
        ),
        (
          "airports where flights by origin any (number = 3)",
          "first ask flights where number = 3: they refer to 1 by origin"
        ),
      ]
      for (text, expected) in cases {
        let found = try explained(text, snapshot)
        #expect(found.split(separator: "\n").first.map(String.init) == expected, "\(text)")
      }
    }
  }

  @Test("of a few ends early by a scan, where an index would find too much that does not match")
  func fewByScan() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      let many = try explained("flights where carrier = \"UA\" and delay = 17 limit 1", snapshot)
      #expect(many.hasPrefix("scan flights\n"), "\(many)")
      #expect(many.contains("estimated: 16 to look at"), "\(many)")
      // Three have this number. All may lie at the end, so no scan in their order is worth a try.
      for order in ["", "sort id", "sort -id"] {
        let few = try explained("flights where number = 7 \(order) limit 1", snapshot)
        #expect(few.hasPrefix("use the index (number) where number = 7 of flights"), "\(few)")
      }
      let text = "flights where id >= 100 and carrier = \"UA\" and delay = 17 limit 1"
      let range = try explained(text, snapshot)
      #expect(range.hasPrefix("scan a range of keys of flights\n"), "\(range)")
    }
  }

  @Test("intersects two indexes where neither is narrow")
  func intersection() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      let text = "flights where number < 140 and origin = \"JFK\""
      let words = try explained(text, snapshot)
      #expect(
        words.hasPrefix(
          "intersect the index (origin, -scheduled) where origin = \"JFK\" and the index (number) "
            + "where number < 140 of flights\n"))
      let expected = (0..<2000).filter { $0 % 700 < 140 && $0 % 5 == 0 }
      let found = try values(text, snapshot)
      #expect(found == expected.map { [.integer(Int64($0))] })
    }
  }

  @Test("finds values behind a descending term that has one value, and nothing where it has two")
  func behindDescendingTerms() throws {
    try withDatabase { database in
      try database.write { tx in
        var definition = CollectionDefinition()
        definition.properties = [.init("weight", .double), .init("made", .integer)]
        definition.indexes = [
          IndexDefinition([.init("weight", isDescending: true), .init("made")])
        ]
        try tx.declare("things", definition)
        for index in 0..<400 {
          try tx.set(
            NodePath(keys: ["things", .integer(Int64(index))]),
            to: ["weight": .double(Double(index % 20 - 10)), "made": .integer(Int64(index))])
        }
      }
      let snapshot = try database.snapshot()
      for weight in -10..<10 {
        let text = "things where weight = \(weight) and made >= 200"
        #expect(try explained(text, snapshot).contains("use the index (-weight, made) where"))
        let expected = (200..<400).filter { $0 % 20 - 10 == weight }
        #expect(try values(text, snapshot) == expected.map { [.integer(Int64($0))] }, "\(text)")
      }
      let both = "things where weight = 3 and weight = -3 and made >= 0"
      #expect(try values(both, snapshot).isEmpty)
    }
  }

  @Test("counts by a view that keeps groups, and reads any figure of what it keeps")
  func countedByView() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      let text = "flights where origin = \"JFK\" | count"
      let results = try QueryRun(try QueryDescription(parsing: text), on: snapshot)
      #expect(try results.count() == 400)
      #expect(
        results.explanation == "read the count that a view of flights keeps, by origin")
      let sums = "flights | group by origin select sum(delay), count"
      #expect(
        try explained(sums, snapshot) == "read the groups that a view of flights keeps, by origin")
      let expected = ["EWR", "JFK", "LAX", "LGA", "SFO"].map { origin -> [Value] in
        let place = ["JFK", "LGA", "EWR", "SFO", "LAX"].firstIndex(of: origin) ?? 0
        let delays = (0..<2000).filter { $0 % 5 == place }.map { $0 % 90 - 10 }
        return [.string(origin), .integer(Int64(delays.reduce(0, +))), 400]
      }
      #expect(try values(sums, snapshot) == expected)
      for text in ["where origin = \"JFK\" and delay > 3", "where origin != \"JFK\"", ""] {
        let counted = try QueryRun(
          try QueryDescription(parsing: "flights \(text) | count"), on: snapshot)
        _ = try counted.count()
        #expect(!counted.explanation.contains("view"), "\(text)")
      }
    }
  }

  @Test("takes the first records from a view that keeps them in order, and goes on behind them")
  func firstRecords() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      let text = "flights where carrier = \"UA\" sort -delay limit 4"
      let words = try explained(text, snapshot)
      #expect(words.hasPrefix("take the first of the view (-delay by carrier) of flights\n"))
      #expect(words.contains("actual: 4 entries, 4 records read"))
      let expected = (0..<2000).filter { $0 % 3 == 0 }.map { (delay: $0 % 90, key: $0) }
        .sorted { ($1.delay, $0.key) < ($0.delay, $1.key) }.map { [Value.integer(Int64($0.key))] }
      var query = try QueryDescription(parsing: text)
      var found: [[Value]] = []
      while found.count < 40 {
        let results = try QueryRun(query, on: snapshot)
        try results.visit { found.append($0) }
        query.after = results.cursor
      }
      #expect(found == Array(expected.prefix(40)))
      // Another order, or all of them, is not what the view has.
      for text in ["sort delay limit 4", "sort -delay", "sort -delay, number limit 4"] {
        let other = try explained("flights where carrier = \"UA\" \(text)", snapshot)
        #expect(!other.contains("view"), "\(text)")
      }
    }
  }

  @Test("says how many it expected and met")
  func counts() throws {
    try withFlights { database in
      let found = try explained(
        "flights where number = 7 and delay > 60 sort delay limit 5", database.snapshot())
      #expect(
        found == """
          use the index (number) where number = 7 of flights
          keep those where delay > 60
          sort by delay, keeping the first 5
          end after 5
          estimated: 3 to look at
          actual: 3 entries, 3 records read, 1 accepted, 1 results
          """)
    }
  }

  @Test("of the past corrects the present index, where that is cheaper")
  func past() throws {
    try withFlights { database in
      let before = try database.snapshot().sequence
      try database.write { tx in
        try tx.update("flights/7", ["number": 8])
        try tx.update("flights/9", ["number": 7])
        _ = try tx.remove("flights/707")
      }
      let past = try database.snapshot(at: .sequence(before))
      let text = "flights where number = 7"
      #expect(
        try explained(text, past).hasPrefix(
          "use the index (number) where number = 7 of flights as it is now, corrected by 3 changes")
      )
      #expect(try values(text, past) == [[.integer(7)], [.integer(707)], [.integer(1407)]])
      #expect(try values(text, database.snapshot()) == [[.integer(9)], [.integer(1407)]])
    }
  }

  @Test("of a join finds the other side by key, by an index, or by a table")
  func joins() throws {
    try withFlights { database in
      try database.write { tx in
        for name in ["UA", "AA", "BB"] {
          try tx.set(
            NodePath(keys: ["lines", .text(name)]), to: ["code": .string(name), "city": "Chicago"])
        }
      }
      let snapshot = try database.snapshot()
      let byKey = "flights join airports as a on origin = a.id where number = 7 select id, a.name"
      #expect(
        try values(byKey, snapshot) == [
          [7, "The EWR"], [707, "The EWR"], [1407, "The EWR"],
        ])
      let byTable =
        "flights left join lines as l on carrier = l.code where number = 8 select id, l.id"
      #expect(try values(byTable, snapshot) == [[8, .null], [708, "UA"], [1408, "AA"]])
      let inner = "flights join lines as l on carrier = l.code where number = 8 select id, l.id"
      #expect(try values(inner, snapshot) == [[708, "UA"], [1408, "AA"]])
      let sorted =
        "flights left join lines as l on carrier = l.code where number in (7, 8) "
        + "select id, l.id, l.city sort -l.id, -id"
      #expect(
        try values(sorted, snapshot) == [
          [1407, "UA", "Chicago"], [708, "UA", "Chicago"], [1408, "AA", "Chicago"],
          [7, "AA", "Chicago"], [707, .null, .null], [8, .null, .null],
        ])
      #expect(try values(sorted + " limit 2 offset 1", snapshot).map(\.[0]) == [708, 1408])
      let byIndex =
        "airports join flights as f on id = f.origin where f.number < 2 "
        + "| group by name select count"
      #expect(
        try values(byIndex, snapshot).map { $0[1] } == [3, 3].map { .integer($0) })
      #expect(try explained(byIndex, snapshot).contains("join flights by the index (origin,"))
    }
  }

  @Test("selects, counts, and leaves out what is the same")
  func values() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      #expect(
        Set(try values("flights select carrier distinct", snapshot)) == [["UA"], ["AA"], ["DL"]])
      #expect(
        try values(
          "flights | group by carrier select count having count > 666 sort -count", snapshot)
          == [["AA", 667], ["UA", 667]])
      #expect(
        try values("flights | count, sum(number), max(delay)", snapshot) == [[2000, 669_000, 79]])
      #expect(
        try values("flights where delay > 900 | count, sum(delay)", snapshot) == [[0, .null]])
      let error = #expect(throws: QueryError.self) {
        try values("flights | group by carrier select count having delay > 1", snapshot)
      }
      #expect(error?.reason == "groups have no “delay”; they have carrier, count")
    }
  }

  @Test("groups the same where memory holds only a few groups")
  func spilledGroups() throws {
    try withFlights { database in
      let records = try QueryRecords(database.snapshot())
      let grouping = QueryDescription.Grouping(
        [PropertyPath("number"), PropertyPath("carrier")],
        [
          QueryAggregate(.count), QueryAggregate(.sum, PropertyPath("delay")),
          QueryAggregate(.maximum, PropertyPath("scheduled")),
          QueryAggregate(.minimum, PropertyPath("delay")),
        ])
      func groups(_ bytesMax: Int) throws -> [[Value]] {
        let paths = try GroupedPaths(grouping, in: records.scope(of: "flights"))
        var groups = QueryGroups(paths, bytesMax: bytesMax)
        try QueryRun(QueryDescription("flights"), records).forEach { key, record in
          try groups.add(record, key: key, records, by: paths)
          return true
        }
        var found: [[Value]] = []
        try groups.forEach {
          found.append($0)
          return true
        }
        return found
      }
      let expected = try groups(64 << 20)
      #expect(expected.count == 2000)
      #expect(try groups(20_000) == expected)
    }
  }

  @Test("uses an index whose condition names what no record had when it was declared")
  func namesOfConditions() throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      var index = IndexDefinition([.init("a")])
      index.condition = Condition(.compare(PropertyPath("b"), .greater, 1))
      definition.indexes = [index]
      try database.write { tx in try tx.declare("things", definition) }
      try database.write { tx in
        for number in 0..<50 {
          try tx.set(
            NodePath(keys: ["things", .integer(Int64(number))]),
            to: ["a": .integer(Int64(number)), "b": .integer(Int64(number % 3))])
        }
      }
      let text = "things where b > 1 sort a select a limit 2"
      #expect(try values(text, database.snapshot()) == [[2], [5]])
      #expect(try explained(text, database.snapshot()).hasPrefix("use the index (a) where b > 1"))
    }
  }

  @Test("ends where it is told to, and refuses writing while it reads")
  func ending() throws {
    try withFlights { database in
      struct Enough: Error {}
      let run = try QueryRun(QueryDescription("flights"), on: database.snapshot())
      run.work.check = { throw Enough() }
      #expect(throws: Enough.self) { try run.forEach { _, _ in true } }
      try database.write { tx in
        let run = try QueryRun(QueryDescription("flights"), on: tx["flights"].snapshot)
        let running = tx.running
        #expect(throws: DatabaseError.self) {
          try run.forEach { _, _ in
            try Database.Transaction(running).set("other", to: 1)
            return true
          }
        }
      }
    }
  }

  @Test("refuses a cursor of another query")
  func cursors() throws {
    try withFlights { database in
      let snapshot = try database.snapshot()
      var query = try QueryDescription(parsing: "flights where delay > 3 limit 2")
      let run = try QueryRun(query, on: snapshot)
      try run.forEach { _, _ in true }
      query.after = run.cursor
      #expect(try QueryRun(query, on: snapshot).count() == 2)
      query.condition = nil
      #expect(throws: QueryError.self) { try QueryRun(query, on: snapshot) }
    }
  }
}
