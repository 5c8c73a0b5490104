// Models beside each other: pairs of the same value, properties of both, and what is referred to.

import Testing

@testable import Cambium

extension TypedQueryTests {
  @Test("joins, and loads what is referred to along")
  func joins() throws {
    try withDatabase { database in
      try Self.fill(database)
      let places = try Places(database.snapshot())
      let joined = database.query(Flight.self).where { $0.number < 50 }
        .join(Airline.self, on: \.carrier, \.id)
      let expected = places.all.filter { $0.number < 50 && $0.carrier != nil }
      let pairs = try joined.fetch()
      #expect(Set(pairs.map(\.0.id)) == Set(expected.map(\.id)))
      #expect(pairs.allSatisfy { $0.0.carrier == $0.1.id })
      let some = try joined.where { flight, airline in
        airline.name == "Airline UA"
        flight.status != .cancelled
      }.fetch()
      let wanted = expected.filter { $0.carrier == "UA" && $0.status != .cancelled }
      #expect(Set(some.map(\.0.id)) == Set(wanted.map(\.id)))
      let sorted = try joined.order { flight, airline in
        (airline.name.descending, flight.number)
      }.limit(10, offset: 3).fetch()
      #expect(
        sorted.map(\.0.id)
          == expected.sorted {
            let (a, b) = ($0.carrier?.key ?? "", $1.carrier?.key ?? "")
            return a == b ? $0.number < $1.number : a > b
          }[3..<13].map(\.id))
      let even = joined.order(by: { flight, _ in flight.number })
      let filtered = database.query(Flight.self).where { $0.number < 50 }
        .filter { $0.number % 2 == 0 }.order(by: \.number)
        .join(Airline.self, on: \.carrier, \.id)
      let wantedEven = try even.fetch().map(\.0.number).filter { $0 % 2 == 0 }
      #expect(try filtered.fetch().map(\.0.number) == wantedEven)
      #expect(try filtered.count() == wantedEven.count)
      #expect(
        try filtered.limit(3, offset: 2).fetch().map(\.0.number) == Array(wantedEven[2..<5]))
      let flights = database.query(Airline.self).join(Flight.self, on: \.id, \.carrier)
        .order(by: { airline, _ in airline.name })
      let all = try flights.fetch().map(\.1.id)
      var paged: [Flight.ID] = []
      while paged.count < all.count {
        let page = try flights.limit(7, offset: paged.count).fetch().map(\.1.id)
        try #require(!page.isEmpty)
        paged += page
      }
      #expect(paged == all)
      let left = try database.query(Flight.self).where { $0.number < 50 }
        .leftJoin(Airline.self, on: \.carrier, \.id).fetch()
      #expect(left.count == 49 && left.contains { $0.1 == nil })
      try Self.selecting(database, pairs)
      let loaded = try database.query(Flight.self).order(by: \.number).limit(20)
        .with(\.origin).fetch()
      #expect(loaded.allSatisfy { $0.1 == places.airport($0.0) } && loaded.count == 20)
    }
  }

  /// Properties of both sides of the joined flights and airlines.
  private static func selecting(_ database: Database, _ pairs: [(Flight, Airline)]) throws {
    let flights = database.query(Flight.self).where { $0.number < 50 }
    let joined = flights.join(Airline.self, on: \.carrier, \.id)
      .order(by: { flight, _ in flight.number })
    let rows = try joined.select { flight, airline in
      (flight.number, airline.name, airline.id, flight.origin.name)
    }.fetch()
    let airports = Dictionary(
      uniqueKeysWithValues: try database.query(Airport.self).fetch().map { ($0.id, $0.name) })
    let expected = pairs.sorted { $0.0.number < $1.0.number }
    #expect(rows.map(\.0) == expected.map(\.0.number))
    #expect(rows.map(\.1) == expected.map(\.1.name))
    #expect(rows.map(\.2) == expected.map(\.1.id))
    #expect(rows.map(\.3) == expected.map { $0.0.origin.flatMap { airports[$0] } ?? "" })
    let names = joined.select { $1.name }.distinct()
    let known = Set(rows.map(\.1))
    #expect(try Set(names.fetch()) == known && names.count() == known.count)
    let left = flights.leftJoin(Airline.self, on: \.carrier, \.id)
    let all = try left.select { ($0.carrier, $1.name.orNil) }.fetch()
    #expect(all.count == 49 && all.allSatisfy { ($0.0 == nil) == ($0.1 == nil) })
    #expect(throws: PropertyError.self) { try left.select { $1.name }.fetch() }
    let filtered = try flights.filter { $0.number < 10 }.join(Airline.self, on: \.carrier, \.id)
      .select { $1.name }.fetch()
    let few = database.query(Flight.self).where { $0.number < 10 }
    let asked = try few.join(Airline.self, on: \.carrier, \.id).select { $1.name }.fetch()
    #expect(filtered == asked && !asked.isEmpty)
  }
}
