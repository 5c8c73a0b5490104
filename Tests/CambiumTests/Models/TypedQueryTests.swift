// Goal: what the typed face asks is what the same Swift code over all models answers. Method: a few
// hundred flights from a seed; every operator and every kind of result against `filter`, `sorted`
// and `Dictionary(grouping:)`, at present, in the past, and inside a transaction.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A typed query")
struct TypedQueryTests {
  private static let day = Date(timeIntervalSince1970: 1_357_000_000)

  static func fill(_ database: Database, _ seed: UInt64 = 7) throws {
    var random = FormatRandom(seed: seed)
    let airlines = ["UA", "B6", "9E", "AA"]
    let airports = ["JFK", "EWR", "LGA", "42"]
    try database.register(Airline.self, Airport.self, Flight.self)
    try database.write { tx in
      for name in airlines { try tx.insert(Airline(id: .init(name), name: "Airline \(name)")) }
      for (index, name) in airports.enumerated() {
        try tx.insert(
          Airport(
            id: .init(name), name: "\(name) John \(index)",
            place: .init(latitude: Double(index) * 10, longitude: -70)))
      }
      for number in 1...300 {
        try tx.insert(
          Flight(
            carrier: random.chance(oneIn: 8) ? nil : .init(random.pick(airlines)),
            origin: .init(random.pick(airports)), number: number,
            departureDelay: random.chance(oneIn: 5) ? nil : random.below(200) - 20,
            scheduled: day + Double(random.below(400)) * 3600,
            status: random.pick([.scheduled, .departed, .cancelled]),
            crew: (0..<random.below(3)).map { _ in random.pick(["Ada", "Bob", "Eve"]) }))
      }
    }
  }

  struct Places {
    let all: [Flight]
    let airports: [Airport.ID: Airport]

    init(_ reader: Snapshot) throws {
      all = try reader.all(Flight.self).fetch()
      airports = Dictionary(
        uniqueKeysWithValues: try reader.all(Airport.self).fetch().map { ($0.id, $0) })
    }

    func airport(_ flight: Flight) -> Airport {
      flight.origin.flatMap { airports[$0] } ?? Airport()
    }
  }

  @Test("narrows as Swift does")
  func conditions() throws {
    try withDatabase { database in
      try Self.fill(database)
      let snapshot = try database.snapshot()
      let places = try Places(snapshot)
      let day = Self.day
      let cases: [(String, ModelQuery<Flight>, (Flight) -> Bool)] = [
        (
          "greater", snapshot.query().where { $0.departureDelay > 60 },
          { ($0.departureDelay ?? -99) > 60 }
        ),
        ("equal nil", snapshot.query().where { $0.carrier == nil }, { $0.carrier == nil }),
        ("not equal", snapshot.query().where { $0.carrier != "UA" }, { $0.carrier != "UA" }),
        ("id", snapshot.query().where { $0.id == places.all[3].id }, { $0.id == places.all[3].id }),
        (
          "and",
          snapshot.query().where {
            $0.number < 100; $0.status == .departed
          },
          { $0.number < 100 && $0.status == .departed }
        ),
        (
          "or, not",
          snapshot.query().where { $0.number <= 10 || !($0.departureDelay >= 0) },
          { $0.number <= 10 || !(($0.departureDelay ?? -99) >= 0) }
        ),
        (
          "in",
          snapshot.query().where {
            $0.status.in([.scheduled, .departed]); $0.number.in(5...90)
          },
          { $0.status != .cancelled && (5...90).contains($0.number) }
        ),
        (
          "range", snapshot.query().where { $0.scheduled.in(day..<(day + 86_400)) },
          { (day..<(day + 86_400)).contains($0.scheduled) }
        ),
        (
          "path", snapshot.query().where { $0.origin.name.hasPrefix("JFK") },
          { places.airport($0).name.hasPrefix("JFK") }
        ),
        (
          "nested path", snapshot.query().where { $0.origin.place.latitude > 15 },
          { places.airport($0).place.latitude > 15 }
        ),
        (
          "text", snapshot.query().where { $0.origin.name.contains("john", .ignoringCase) },
          { _ in true }
        ),
        (
          "contains", snapshot.query().where { $0.crew.contains("Eve") },
          { $0.crew.contains("Eve") }
        ),
        ("count", snapshot.query().where { $0.crew.count == 2 }, { $0.crew.count == 2 }),
        (
          "properties", snapshot.query().where { $0.departureDelay > $0.number },
          { $0.departureDelay.map { delay in delay } ?? .min > $0.number }
        ),
        (
          "filter", snapshot.query().where { $0.number > 9 }.filter { $0.number % 7 == 0 },
          {
            $0.number > 9 && $0.number % 7 == 0
          }
        ),
      ]
      try Self.check(cases, places.all)
    }
  }

  @Test("takes patterns as the query language does")
  func like() throws {
    try withDatabase { database in
      try Self.fill(database)
      let names = try database.query(Airport.self).fetch().map(\.name)
      let patterns: [(String, (String) -> Bool)] = [
        ("JFK%", { $0.hasPrefix("JFK") }), ("%3", { $0.hasSuffix("3") }),
        ("%John%", { $0.contains("John") }), ("%", { _ in true }), ("", \.isEmpty),
        ("42 John 3", { $0 == "42 John 3" }), ("___ J%n _", { $0.hasPrefix("42") == false }),
        ("john%", { _ in false }), ("J.K%", { _ in false }),
      ]
      for (pattern, holds) in patterns {
        let typed = database.query(Airport.self).where { $0.name.like(pattern) }
        let text = try Condition(parsing: "name like \"\(pattern)\"")
        #expect(typed.request.description.condition == text, "\(pattern)")
        #expect(try Set(typed.fetch().map(\.name)) == Set(names.filter(holds)), "\(pattern)")
      }
      let flights = database.query(Flight.self)
        .where { $0.origin.name.like("%john%", .ignoringCase) }
      #expect(
        try flights.request.description.condition
          == Condition(parsing: "origin.name like \"%john%\" ignoring case"))
      #expect(try flights.count() == 300)
    }
  }

  private static func check(
    _ cases: [(String, ModelQuery<Flight>, (Flight) -> Bool)], _ all: [Flight]
  ) throws {
    for (name, query, holds) in cases {
      let expected = Set(all.filter(holds).map(\.id))
      #expect(try Set(query.fetch().map(\.id)) == expected, "\(name)")
      #expect(try query.count() == expected.count, "\(name)")
      #expect(try query.exists() == !expected.isEmpty, "\(name)")
      #expect(try Set(query.ids()) == expected, "\(name)")
      #expect(try query.first() == nil ? expected.isEmpty : !expected.isEmpty, "\(name)")
    }
  }

  @Test("asks what holds for related models")
  func related() throws {
    try withDatabase { database in
      try Self.fill(database)
      let snapshot = try database.snapshot()
      let places = try Places(snapshot)
      let late = snapshot.query(Airline.self).where {
        $0.flights.any { $0.departureDelay > 175 }
      }
      let carriers = Set(places.all.filter { ($0.departureDelay ?? 0) > 175 }.compactMap(\.carrier))
      #expect(try Set(late.ids()) == carriers)
    }
  }

  @Test("takes optional filters, and Booleans by themselves")
  func building() throws {
    try withDatabase { database in
      try Self.fill(database)
      func search(from: Airport.ID?, words: [String]) throws -> Int {
        try database.query(Airport.self).where {
          if let from { $0.id == from }
          for word in words { $0.name.contains(word) }
        }.count()
      }
      #expect(try search(from: nil, words: []) == 4)
      #expect(try search(from: nil, words: ["John", "JFK"]) == 1)
      #expect(try search(from: "42", words: ["JFK"]) == 0)
      try database.insert(Everything())
      var yes = Everything()
      yes.bool = true
      yes.outcome = .late(5)
      yes.seats = ["JFK": 2]
      try database.insert(yes)
      #expect(try database.query(Everything.self).where { $0.bool }.count() == 1)
      #expect(try database.query(Everything.self).where { !$0.bool && !$0.bool }.count() == 1)
      #expect(try database.query(Everything.self).where { $0.outcome.is("late") }.count() == 1)
      #expect(try database.query(Everything.self).where { $0.seats.hasKey("JFK") }.count() == 1)
      #expect(try database.query(Everything.self).where { $0.level == .low }.count() == 2)
      #expect(try database.query(Everything.self).where { $0.inner.deeper.one == 1 }.count() == 2)
    }
  }

  @Test("sorts, ends and goes on where it ended")
  func order() throws {
    try withDatabase { database in
      try Self.fill(database)
      let all = try database.all(Flight.self).fetch()
      let expected = all.sorted {
        ($0.departureDelay ?? .min, $1.number) > ($1.departureDelay ?? .min, $0.number)
      }
      let query = database.query(Flight.self).order(by: \.departureDelay.descending, \.number)
      #expect(try query.fetch() == expected)
      #expect(try query.limit(7, offset: 5).fetch() == Array(expected[5..<12]))
      #expect(try query.first() == expected.first)
      #expect(try query.limit(0).fetch() == [])
      #expect(
        try query.filter { $0.number % 2 == 0 }.limit(3, offset: 1).fetch()
          == Array(expected.filter { $0.number % 2 == 0 }[1..<4]))
      var page = try query.limit(40).page()
      var paged = page.results
      while let next = page.next {
        page = try query.limit(40).after(next).page()
        paged += page.results
      }
      #expect(paged == expected)
      var batched: [Flight] = []
      try query.batches(of: 33) { batched += $0 }
      #expect(batched == expected)
      let nulls = try database.query(Flight.self).order(by: \.departureDelay.nullsLast).fetch()
      #expect(nulls.last?.departureDelay == nil && nulls.first?.departureDelay != nil)
    }
  }

  @Test("selects, counts and groups with the properties' types")
  func figures() throws {
    try withDatabase { database in
      try Self.fill(database)
      let places = try Places(database.snapshot())
      let query = database.query(Flight.self).order(by: \.number)
      let rows = try query.select(\.number, \.origin.name, \.departureDelay, \.status).fetch()
      let expected = places.all.sorted { $0.number < $1.number }
      #expect(rows.map(\.0) == expected.map(\.number))
      #expect(rows.map(\.1) == expected.map { places.airport($0).name })
      #expect(rows.map(\.2) == expected.map(\.departureDelay))
      #expect(rows.map(\.3) == expected.map(\.status))
      #expect(try query.select(\.number).fetch() == expected.map(\.number))
      #expect(try query.select(\.departureDelay).fetch() == expected.map(\.departureDelay))
      let names = try query.select(\.origin.name).fetch()
      #expect(names == expected.map { places.airport($0).name })
      let origins = try database.query(Flight.self).select(\.origin).distinct().fetch()
      #expect(Set(origins) == Set(expected.map(\.origin)) && origins.count == 4)
      let delays = expected.compactMap(\.departureDelay)
      #expect(try query.sum(\.departureDelay) == delays.reduce(0, +))
      #expect(try query.maximum(\.departureDelay) == delays.max())
      #expect(try query.minimum(\.scheduled) == expected.map(\.scheduled).min())
      let mean = Double(delays.reduce(0, +)) / Double(delays.count)
      #expect(abs((try query.average(\.departureDelay) ?? 0) - mean) < 1e-9)
      #expect(try query.where { $0.number < 0 }.sum(\.number) == 0)
      #expect(try query.where { $0.number < 0 }.maximum(\.number) == nil)

      let report = try database.query(Flight.self).group(by: \.origin.name)
        .select { ($0.count, $0.sum($0.departureDelay)) }
      let groups = Dictionary(grouping: expected) { places.airport($0).name }
      #expect(report.map(\.0) == groups.keys.sorted())
      for (name, count, sum) in report {
        #expect(count == groups[name]?.count)
        #expect(sum == groups[name]?.compactMap(\.departureDelay).reduce(0, +))
      }
      let byTwo = try database.query(Flight.self).group(by: \.carrier, \.status)
        .having { $0.count > 20 }.order(by: { $0.count.descending }).select { $0.count }
      let pairs = Dictionary(grouping: expected) { [$0.carrier?.key ?? "", $0.status.rawValue] }
        .filter { $0.value.count > 20 }
      #expect(byTwo.map(\.1) == pairs.values.map(\.count).sorted(by: >))
      let north = try database.query(Airport.self).group(by: \.name)
        .having { $0.maximum($0.place.latitude) > 5 }
        .order { $0.sum($0.place.longitude).descending }.select { $0.count }
      let ids = try database.query(Airport.self).order(by: \.id).select(\.id).fetch()
      #expect(Set(ids) == ["42", "EWR", "JFK", "LGA"])
      let byID = try database.query(Airport.self).group(by: \.id).select { $0.count }
      #expect(byID.map(\.0) == ids && byID.allSatisfy { $0.1 == 1 })
      #expect(north.map(\.0) == ["42 John 3", "EWR John 1", "LGA John 2"])
      let late = try database.query(Flight.self).group(by: \.carrier)
        .having { $0.average($0.departureDelay) > 80 }.select { $0.count }
      let means = Dictionary(grouping: expected) { $0.carrier?.key ?? "" }.values.filter {
        let delays = $0.compactMap(\.departureDelay)
        return Double(delays.reduce(0, +)) > 80 * Double(delays.count)
      }
      #expect(late.map(\.1).sorted() == means.map(\.count).sorted())
    }
  }

  @Test("makes figures of no more than its limit lets through, and groups of all")
  func limitedFigures() throws {
    try withDatabase { database in
      try Self.fill(database)
      let delays = try database.all(Flight.self).fetch().sorted { $0.number < $1.number }
        .map(\.departureDelay)
      let some = database.query(Flight.self).order(by: \.number).limit(20, offset: 5)
      let expected = delays[5..<25].compactMap(\.self)
      #expect(try some.sum(\.departureDelay) == expected.reduce(0, +))
      #expect(try some.minimum(\.departureDelay) == expected.min())
      #expect(try some.maximum(\.departureDelay) == expected.max())
      let mean = Double(expected.reduce(0, +)) / Double(expected.count)
      #expect(abs((try some.average(\.departureDelay) ?? 0) - mean) < 1e-9)
      #expect(try some.limit(0).sum(\.departureDelay) == 0)
      let groups = database.query(Flight.self).group(by: \.carrier)
      let all = try groups.select { $0.count }.map(\.1)
      let two = try groups.limit(2, offset: 1).select { $0.count }.map(\.1)
      #expect(two == Array(all[1...2]))
      #expect(throws: DatabaseError.self) {
        try some.group(by: \.carrier).select { $0.count }
      }
    }
  }

  private static func giveUp() throws { throw CancellationError() }

  @Test("lends no records to code that writes to their transaction")
  func writing() throws {
    try withDatabase { database in
      try Self.fill(database)
      try database.write { tx in
        let query = try tx.query(Flight.self).limit(3)
        #expect(throws: DatabaseError.self) {
          try query.forEach { flight in try tx.delete(flight.id) }
        }
        for flight in try query.fetch() { try tx.delete(flight.id) }
        #expect(throws: CancellationError.self) {
          try query.forEach { _ in try Self.giveUp() }
        }
        try tx.insert(Airline(id: "ZZ", name: "Zed"))
      }
    }
  }

  @Test("sees the past, and what a transaction has done")
  func moments() throws {
    try withDatabase { database in
      try Self.fill(database)
      let before = try database.head
      let late = try database.query(Flight.self).where { $0.departureDelay > 100 }.count()
      try database.write { tx in
        let query = try tx.query(Flight.self).where { $0.departureDelay > 100 }
        let deleted = try tx.delete(query)
        #expect(deleted == late)
        #expect(try query.count() == 0)
        try tx.update(try #require(try tx.query(Flight.self).first()).id) {
          $0.departureDelay = 101
        }
        #expect(try query.count() == 1)
      }
      let past = try database.snapshot(at: .sequence(before))
      #expect(try past.query(Flight.self).where { $0.departureDelay > 100 }.count() == late)
      #expect(try database.query(Flight.self).where { $0.departureDelay > 100 }.count() == 1)
      let few = database.query(Flight.self).where { $0.number < 4 }
      let (words, count) = try (few.explain(), few.count())
      #expect(words.contains("number < 4") && words.contains("\(count) results"), "\(words)")
    }
  }

  @Test("runs in the background, and ends when its task is cancelled")
  func background() async throws {
    try await withDatabase { database in
      try Self.fill(database)
      let count = try await database.query(Flight.self).inBackground { try $0.count() }
      #expect(count == 300)
      let task = Task {
        try await database.query(Flight.self).inBackground { query in
          while true { _ = try query.fetch() }
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}
