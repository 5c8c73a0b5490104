// Goal: what an index previews of other records is what these have, whatever happens to either; and
// queries that need no more read nothing else. Method: random histories of airlines and flights,
// whose previews are compared with what the tree says after each transaction; `verify` folds the
// log again and compares every entry.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A preview", .timeLimit(.minutes(2)))
struct PreviewTests {
  private static func flights(_ covered: [[String]]) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = [
      PropertyDefinition("carrier", .reference("world/airlines")),
      PropertyDefinition("number", .integer), PropertyDefinition("tags", .array(.string)),
    ]
    definition.properties[0].deleteRule = .nullify
    definition.indexes = [
      IndexDefinition([.init("carrier")]), IndexDefinition([.init("number")]),
      IndexDefinition([.init("tags"), .init("number", isDescending: true)]),
    ]
    definition.indexes[1].condition = Condition(
      .compare(PropertyPath("number"), .greater, .integer(3)))
    for (index, names) in covered.enumerated() { definition.indexes[index].covered = names }
    return definition
  }

  private static let covered = [
    ["carrier.name"], ["number", "carrier.size", "carrier.name"], ["carrier.name", "tags"],
  ]

  /// Random changes of airlines, flights, and of where the airlines are.
  private struct History {
    var random: FormatRandom
    var removed: [(NodePath, SequenceNumber)] = []
    /// Some keys are so long that entries are cut.
    let keys: [Key]

    init(seed: UInt64) {
      random = FormatRandom(seed: seed)
      keys = (0..<6).map { .text($0 < 4 ? "a\($0)" : String(repeating: "long\($0)", count: 60)) }
    }

    mutating func step(_ database: Database) throws {
      if random.chance(oneIn: 12) {
        _ = try? database.undoLast()
        return
      }
      var gone: [NodePath] = []
      let sequence = try? database.write { tx in
        for _ in 0...random.below(4) { try? change(tx, &gone) }
        if random.chance(oneIn: 10) { throw CancellationError() }
        return tx.sequence
      }
      if let sequence { removed += gone.map { ($0, sequence) } }
    }

    private mutating func change(_ tx: borrowing Database.Transaction, _ gone: inout [NodePath])
      throws
    {
      let airline = NodePath("world/airlines").appending(random.pick(keys))
      let number = Int64(random.below(12))
      let flight = NodePath("flights").appending(
        number < 8 ? .integer(number) : .text(String(repeating: "f\(number)", count: 150)))
      switch random.below(16) {
      case 0...2: try tx.set(airline, to: ["name": .string(name()), "size": .integer(number)])
      case 3: try tx.update(airline, [("name", random.chance(oneIn: 3) ? nil : .string(name()))])
      case 4: try tx.update(airline, [("size", .integer(number)), ("other", .integer(number))])
      case 5: try tx.set(airline, to: .string("no record"))
      case 6: if try tx.remove(airline) { gone.append(airline) }
      case 7: try tx.move(airline, to: NodePath("world/airlines").appending(random.pick(keys)))
      case 8...11:
        try tx.set(
          flight,
          to: [
            "carrier": random.chance(oneIn: 6)
              ? .null : .string(airline.last?.description ?? ""),
            "number": .integer(number),
            "tags": .array((0..<random.below(3)).map { .string("t\($0)") }),
          ])
      case 12: try tx.update(flight, [("carrier", .string(airline.last?.description ?? ""))])
      case 13: if try tx.remove(flight) { gone.append(flight) }
      case 14:
        let world: NodePath = random.chance(oneIn: 2) ? "world" : "world/airlines"
        if random.chance(oneIn: 2) {
          if try tx.remove(world) { gone.append(world) }
        } else {
          try tx.move(world, to: "elsewhere")
          if random.chance(oneIn: 2) { try tx.move("elsewhere", to: world) }
        }
      default:
        if let (path, sequence) = removed.randomElement(using: &random) {
          try tx.restore(path, removedAt: sequence)
        }
      }
    }

    private mutating func name() -> String { random.pick(["Aer", "Bee", "Condor", ""]) }
  }

  @Test("is what the other record has", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func random(_ seed: UInt64) throws {
    try withDatabase { database in
      var history = History(seed: seed)
      if seed.isMultiple(of: 2) { try database.declare("world/airlines", CollectionDefinition()) }
      for step in 0..<300 {
        if step == 20 { try database.declare("flights", Self.flights(Self.covered)) }
        if step == 200 { try database.declare("flights", Self.flights(Self.covered.reversed())) }
        try history.step(database)
        if step >= 20 { try Self.check(try database.snapshot(), "seed \(seed), step \(step)") }
      }
      for number in stride(from: 1, to: try database.head.rawValue, by: 29) {
        try Self.check(try database.snapshot(at: .sequence(SequenceNumber(number))), "seed \(seed)")
      }
    }
  }

  /// Each query gives what the tree has.
  private static func check(_ snapshot: Snapshot, _ what: String) throws {
    var expected: [Value: [Value]] = [:]
    try snapshot["flights"].children.forEach { flight in
      guard let key = flight.key, case .map(let record)? = try flight.value else { return }
      var values: [Value] = [.null, .null]
      if let carrier = record["carrier"].flatMap({ StoredKey.key(naming: $0) }) {
        if case .map(let airline)? = try snapshot[
          NodePath("world/airlines").appending(carrier)
        ].value {
          values = [airline["name"] ?? .null, airline["size"] ?? .null]
        }
      }
      expected[StoredKey.value(of: key)] = values + [record["number"] ?? .null]
    }
    for text in [
      "flights select id, carrier.name, carrier.name",
      "flights where number > 3 select id, carrier.name, carrier.size, number",
      "flights where tags has \"t1\" select id, carrier.name",
      "flights where carrier.name = \"Bee\" and number > 3 select id, carrier.name",
      "flights where number > 3 select id, carrier.name sort carrier.name, -number",
    ] {
      let run = try QueryRun(QueryDescription(parsing: text), on: snapshot)
      try run.forEachValues { values in
        let known = expected[values[0]] ?? []
        let isRight =
          values[1] == known.first && (values.count < 4 || Array(values[1...]) == known)
        try #require(
          isRight, "\(values), not \(known): \(text) \(what)\n\(run.plan.explained(nil))")
        return true
      }
    }
  }

  @Test("is read without any other record")
  func alone() throws {
    try withDatabase { database in
      try database.write { tx in
        var flights = Self.flights(Self.covered)
        flights.indexes[1].condition = nil
        try tx.declare("flights", flights)
        for index in 0..<20 {
          try tx.set(
            NodePath("world/airlines").appending(.text("a\(index)")),
            to: ["name": .string("n\(index)")]
          )
        }
        for index in 0..<400 {
          try tx.set(
            NodePath("flights").appending(.integer(Int64(index))),
            to: ["carrier": .string("a\(index % 20)"), "number": .integer(Int64(index))])
        }
      }
      func counts(_ text: String, _ snapshot: Snapshot) throws -> (QueryCounts, String) {
        let run = try QueryRun(QueryDescription(parsing: text), on: snapshot)
        try run.forEachValues { _ in true }
        return (run.work.counts, run.plan.explained(run.work.counts))
      }
      let snapshot = try database.snapshot()
      for (text, results) in [
        ("flights select carrier.name", 400),
        ("flights where number > 300 select number, carrier.name", 99),
        ("flights where carrier.name = \"n3\" and number > 300 select number", 5),
        ("flights where number > 300 select carrier.name sort carrier.name limit 7", 7),
        ("flights where carrier = \"a7\" select carrier.name", 20),
      ] {
        let (counted, words) = try counts(text, snapshot)
        #expect(counted.records == 0 && counted.results == results, "\(text)\n\(words)")
        #expect(words.contains("alone"))
      }
      let (counted, _) = try counts(
        "flights where number > 390 select carrier.name, tags", snapshot)
      #expect(counted.records == 9)
    }
  }

  @Test("is right while its index is being filled")
  func filling() throws {
    try withDatabase { database in
      try database.write { tx in
        for index in 0..<5 {
          try tx.set(
            NodePath("world/airlines").appending(.text("a\(index)")), to: ["name": .string("old")])
        }
        for index in 0..<300 {
          try tx.set(
            NodePath("flights").appending(.integer(Int64(index))),
            to: ["carrier": .string("a\(index % 5)"), "number": .integer(Int64(index))])
        }
      }
      try database.declare("flights", Self.flights(Self.covered)) { progress in
        // Between steps, others write.
        _ = try? database.write { tx in
          try tx.set(
            NodePath("world/airlines").appending(.text("a\(progress.done % 5)")),
            to: ["name": .string("new \(progress.done)")])
        }
        return true
      }
      try Self.check(try database.snapshot(), "filled")
    }
  }
}

/// Where delete rules once did not hold.
@Suite("A delete rule")
struct DeleteRuleTests {
  private static func flights(_ rule: DeleteRule) -> CollectionDefinition {
    var flights = CollectionDefinition()
    flights.properties = [
      PropertyDefinition("carrier", .reference("world/airlines")),
      PropertyDefinition("tags", .array(.string)),
    ]
    flights.properties[0].deleteRule = rule
    return flights
  }

  @Test("holds where the collection, or what is above it, gets another name")
  func renamed() throws {
    for (from, to) in [("world", "elsewhere"), ("world/airlines", "world/carriers")] {
      try withDatabase { database in
        try database.write { tx in
          try tx.declare("flights", Self.flights(.deny))
          try tx.set("world/airlines/UA", to: ["name": "United"])
          try tx.set("flights/1", to: ["carrier": "UA"])
        }
        let (source, target) = (try NodePath(from), try NodePath(to))
        #expect(throws: DatabaseError.self) {
          try database.write { try $0.move(source, to: target) }
        }
        try database.write { try $0.declare("flights", Self.flights(.nullify)) }
        try database.write { try $0.move(source, to: target) }
        #expect(try database.snapshot()["flights/1"]["carrier"] == nil)
      }
    }
  }

  @Test("finds those that an index on the reference and on several values leaves out")
  func plural() throws {
    try withDatabase { database in
      var flights = Self.flights(.nullify)
      flights.indexes = [IndexDefinition([.init("carrier"), .init("tags")])]
      var number = IndexDefinition([.init("number")])
      number.covered = ["carrier.name"]
      flights.indexes.append(number)
      try database.write { tx in
        try tx.declare("flights", flights)
        try tx.set("world/airlines/UA", to: ["name": "old"])
        try tx.set("flights/1", to: ["carrier": "UA", "number": 1])
      }
      try database.write { try $0.update("world/airlines/UA", [("name", "new")]) }
      func name() throws -> [[Value]] {
        let run = try QueryRun(
          QueryDescription(parsing: "flights where number = 1 select carrier.name"),
          on: try database.snapshot())
        var found: [[Value]] = []
        try run.forEachValues {
          found.append($0)
          return true
        }
        return found
      }
      #expect(try name() == [["new"]])
      try database.write { _ = try $0.remove("world/airlines/UA") }
      #expect(try name() == [[.null]])
      #expect(try database.snapshot()["flights/1"]["carrier"] == nil)
    }
  }

  @Test("leaves what lies behind two references to be followed")
  func twoHops() throws {
    try withDatabase { database in
      var (flights, airlines) = (Self.flights(.nullify), CollectionDefinition())
      airlines.properties = [PropertyDefinition("country", .reference("countries"))]
      flights.indexes = [IndexDefinition([.init("number")])]
      flights.indexes[0].covered = ["carrier.country.name"]
      try database.write { tx in
        try tx.declare("flights", flights)
        try tx.declare("world/airlines", airlines)
        try tx.set("countries/US", to: ["name": "United States"])
        try tx.set("world/airlines/UA", to: ["country": "US"])
        try tx.set("flights/1", to: ["carrier": "UA", "number": 1])
      }
      let found = try database.records("flights select carrier.country.name").fetch()
      #expect(found.map { $0["carrier.country.name"] } == ["United States"])
    }
  }
}

@Suite("A delete rule and long keys")
struct LongReferenceTests {
  /// Entries whose keys are long are cut, and may not have all of the reference.
  @Test("deny, nullify and cascade hold", arguments: [DeleteRule.deny, .nullify, .cascade])
  func rules(_ rule: DeleteRule) throws {
    try withDatabase { database in
      let long = String(repeating: "k", count: 470)
      var flights = CollectionDefinition()
      flights.properties = [PropertyDefinition("carrier", .reference("airlines"))]
      flights.properties[0].deleteRule = rule
      let airlines = ["one", "two"].map { String(repeating: $0, count: 100) }
      try database.write { tx in
        try tx.declare("flights", flights)
        for name in airlines {
          try tx.set(NodePath(keys: ["airlines", .text(name)]), to: ["name": "x"])
          try tx.set(
            NodePath(keys: ["flights", .text(name.prefix(3) + long)]),
            to: ["carrier": .string(name)])
        }
      }
      let referrer = NodePath(keys: ["flights", .text("one" + long)])
      let other = NodePath(keys: ["flights", .text("two" + long)])
      func remove() throws {
        try database.write { tx in
          _ = try tx.remove(NodePath(keys: ["airlines", .text(airlines[0])]))
        }
      }
      if rule == .deny {
        #expect(throws: DatabaseError.self) { try remove() }
      } else {
        try remove()
      }
      let snapshot = try database.snapshot()
      #expect(try snapshot[referrer].exists == (rule != .cascade))
      #expect(try snapshot[referrer]["carrier"] == (rule == .deny ? .string(airlines[0]) : nil))
      #expect(try snapshot[other]["carrier"] == .string(airlines[1]))
    }
  }
}
