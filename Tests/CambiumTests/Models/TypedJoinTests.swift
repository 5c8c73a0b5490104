// Goal: joins of several models, pages of them and figures over them are what nested loops over all
// models give. Method: random legs between cities in countries, the same model joined twice, at
// present by keys and indexes, in the past by tables in memory, and inside a transaction.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A join of several models")
struct TypedJoinTests {
  struct Country: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var size = 0
    static let schema = ModelSchema<Country>("countries")
  }

  struct City: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var country: Country.ID?
    var area: Area = Area()
    struct Area: Nested { var water = 0 }
    static let schema = ModelSchema<City>("cities") { Index(\.name, \.area.water.descending) }
  }

  struct Leg: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var from: City.ID?
    var to: City.ID?
    var name = ""
    var length: Int?
    static let schema = ModelSchema<Leg>("legs") { Index(\.length) }
  }

  private typealias Result = (Leg, City, City?, Country?)

  private struct World {
    var legs: [Leg]
    var cities: [City]
    var countries: [Country]

    init(_ reader: Snapshot) throws {
      legs = try reader.all(Leg.self).fetch()
      cities = try reader.all(City.self).fetch()
      countries = try reader.all(Country.self).fetch()
    }

    /// Legs with where they start; where they end, if it is known; and the first one's country.
    var results: [Result] {
      legs.flatMap { leg in
        cities.filter { $0.id == leg.from }.map { from in
          (
            leg, from, cities.first { $0.id == leg.to },
            countries.first { $0.id == from.country }
          )
        }
      }
    }

    /// Legs with the cities that have the name of the leg.
    var named: [(Leg, City)] {
      legs.flatMap { leg in cities.filter { $0.name == leg.name }.map { (leg, $0) } }
    }
  }

  private static func fill(_ database: Database, _ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try database.register(Country.self, City.self, Leg.self)
    try database.write { tx in
      for name in ["A", "B", "C"] {
        try tx.insert(Country(id: .init(name), size: random.below(50)))
      }
      for id in 1...12 {
        try tx.insert(
          City(
            id: .init(id), name: random.pick(["x", "y", "z"]),
            country: random.pick([nil, "A", "B", "C", "missing"]),
            area: .init(water: random.below(4))))
      }
      for id in 1...60 {
        try tx.insert(
          Leg(
            id: .init(id), from: random.chance(oneIn: 6) ? nil : .init(random.below(14)),
            to: random.chance(oneIn: 3) ? nil : .init(random.below(14)),
            name: random.pick(["x", "y", "w"]),
            length: random.chance(oneIn: 4) ? nil : random.below(9)))
      }
    }
  }

  /// Runs a test at present, in the past and inside a transaction.
  private func withMoments(
    _ seed: UInt64, _ body: (Snapshot, Comment) throws -> Void
  ) throws {
    try withDatabase { database in
      try Self.fill(database, seed)
      try body(try database.snapshot(), "seed \(seed), present")
      let head = try database.head
      try database.write { tx in
        for id in [3, 17, 20] { try tx.delete(Leg.ID(id)) }
        try tx.update(Leg.ID(5)) { ($0.from, $0.name) = (2, "z") }
        try body(try tx.readingSnapshot(), "seed \(seed), transaction")
      }
      try body(try database.snapshot(at: .sequence(head)), "seed \(seed), past")
    }
  }

  private static func joined(
    _ reader: Snapshot
  ) -> Joined<Leg, City, City?, Country?> {
    reader.query(Leg.self)
      .join(City.self, on: \.from, \.id)
      .leftJoin(City.self, on: \.to, \.id)
      .leftJoin(Country.self, on: { _, from, _ in from.country }, \.id)
  }

  private static func isSame(_ a: [Result], _ b: [Result]) -> Bool {
    a.map(\.0) == b.map(\.0) && a.map(\.1) == b.map(\.1) && a.map(\.2) == b.map(\.2)
      && a.map(\.3) == b.map(\.3)
  }

  @Test("is what nested loops give", arguments: SeededGenerator.seeds(1, 2))
  func results(_ seed: UInt64) throws {
    try withMoments(seed) { reader, comment in
      let (world, joined) = (try World(reader), Self.joined(reader))
      let all = world.results
      #expect(Self.isSame(try joined.fetch(), all), comment)
      #expect(try joined.count() == all.count && joined.exists(), comment)
      let first = try joined.first()
      #expect(first?.0 == all.first?.0 && first?.2 == all.first?.2, comment)
      let some = joined.where { leg, from, to, country in
        from.name != to.name
        leg.length > 2 || country.size > 20
      }
      let wanted = all.filter { leg, from, to, country in
        from.name != to?.name && (leg.length ?? -1 > 2 || country?.size ?? -1 > 20)
      }
      #expect(Self.isSame(try some.fetch(), wanted), comment)
      let selected = try some.select { ($0.id, $1.area.water, $2.name.orNil, $3.size.orNil) }
        .fetch()
      #expect(selected.map(\.0) == wanted.map(\.0.id), comment)
      #expect(selected.map(\.1) == wanted.map(\.1.area.water), comment)
      #expect(selected.map(\.2) == wanted.map { $0.2?.name }, comment)
      #expect(selected.map(\.3) == wanted.map { $0.3?.size }, comment)
      #expect(try !joined.where { _, from, _, _ in from.name == "nowhere" }.exists(), comment)
      var count = 0
      try some.forEach { leg, from, to, _ in
        #expect(leg.from == from.id && (to == nil || leg.to == to?.id), comment)
        count += 1
      }
      #expect(count == wanted.count, comment)
      let words = try joined.explain()
      #expect(words.contains("left join countries by key"), "\(words)")
    }
  }

  @Test("sorts by any of its models", arguments: SeededGenerator.seeds(1, 2))
  func order(_ seed: UInt64) throws {
    try withMoments(seed) { reader, comment in
      let world = try World(reader)
      let sorted = Self.joined(reader).order { leg, from, to, _ in
        (to.name.orNil.descending, from.area.water, leg.length)
      }
      let wanted = world.results.sorted { a, b in
        let (first, second) = (a.2?.name ?? "", b.2?.name ?? "")
        if first != second { return first > second }
        return (a.1.area.water, a.0.length ?? -1, a.0.id)
          < (b.1.area.water, b.0.length ?? -1, b.0.id)
      }
      #expect(Self.isSame(try sorted.fetch(), wanted), comment)
      #expect(
        Self.isSame(try sorted.limit(9, offset: 4).fetch(), Array(wanted.dropFirst(4).prefix(9))),
        comment)
    }
  }

  @Test("goes on where a page ended, also among those of one model", arguments: [1, 2, 7])
  func pages(_ count: Int) throws {
    try withMoments(UInt64(count)) { reader, comment in
      let world = try World(reader)
      let legs = reader.query(Leg.self)
      // In the order of keys either way, of an index, and sorted.
      let queries = [
        legs, legs.order(by: \.id.descending), legs.where { $0.length > 2 }.order(by: \.length),
        legs.order(by: \.name.descending, \.length), legs.where { $0.id.in([3, 5, 8, 9, 12]) },
      ]
      for query in queries {
        let joined = query.join(City.self, on: \.name, \.name)
        let all = try joined.fetch()
        var paged: [(Leg, City)] = []
        var next: QueryCursor?
        repeat {
          let page = try joined.limit(count).after(next).page()
          #expect(page.results.count == count || page.next == nil, comment)
          paged += page.results
          next = try page.next.map { try #require(QueryCursor($0.description)) }
        } while next != nil
        #expect(paged.map(\.0) == all.map(\.0) && paged.map(\.1) == all.map(\.1), comment)
        var batched: [City] = []
        try joined.limit(20, offset: 3).batches(of: count) { batched += $0.map(\.1) }
        #expect(batched == all.dropFirst(3).prefix(20).map(\.1), comment)
      }
      let (named, all) = (world.named, try legs.join(City.self, on: \.name, \.name).fetch())
      #expect(named.map(\.0) == all.map(\.0) && named.map(\.1) == all.map(\.1), comment)
      let sorted = legs.join(City.self, on: \.name, \.name)
        .order { leg, city in (city.area.water, leg.name) }
      var cities: [City] = []
      try sorted.batches(of: count) { cities += $0.map(\.1) }
      #expect(try cities == sorted.fetch().map(\.1), comment)
    }
  }

  @Test("refuses a cursor of another join, and has pages behind a filter")
  func cursors() throws {
    try withDatabase { database in
      try Self.fill(database, 1)
      let legs = database.query(Leg.self)
      let page = try legs.join(City.self, on: \.name, \.name).limit(3).page()
      #expect(throws: QueryError.self) {
        try legs.join(City.self, on: \.from, \.id).after(page.next).page()
      }
      #expect(throws: QueryError.self) { try legs.after(page.next).page() }
      let filtered = legs.filter { $0.id.key % 2 == 0 }.join(City.self, on: \.from, \.id)
      let all = try legs.join(City.self, on: \.from, \.id).fetch().map(\.0)
      #expect(try filtered.fetch().map(\.0) == all.filter { $0.id.key % 2 == 0 })
      #expect(try filtered.limit(4).exists() && filtered.limit(4).count() == 4)
      let half = try filtered.limit(4).page()
      let rest = try filtered.after(half.next).fetch()
      #expect(try half.results.map(\.0) + rest.map(\.0) == filtered.fetch().map(\.0))
    }
  }

  @Test("makes groups with the figures of any model", arguments: SeededGenerator.seeds(1, 2))
  func groups(_ seed: UInt64) throws {
    try withMoments(seed) { reader, comment in
      let (results, joined) = (try World(reader).results, Self.joined(reader))
      let byName = Dictionary(grouping: results) { $0.1.name }.filter { $0.value.count > 3 }
      let report = try joined.group { _, from, _, _ in from.name }
        .having { leg, _, _, _ in leg.count > 3 }
        .select { leg, from, to, country in
          (
            leg.count, leg.sum(leg.length), to.maximum(to.area.water),
            country.average(country.size)
          )
        }
      #expect(report.map(\.0) == byName.keys.sorted(), comment)
      for (name, count, length, water, size) in report {
        let group = byName[name] ?? []
        #expect(count == group.count, comment)
        let lengths = group.compactMap(\.0.length)
        #expect(length == (lengths.isEmpty ? nil : lengths.reduce(0, +)), comment)
        #expect(water == group.compactMap { $0.2?.area.water }.max(), comment)
        let sizes = group.compactMap { $0.3?.size }
        let mean = sizes.isEmpty ? nil : Double(sizes.reduce(0, +)) / Double(sizes.count)
        #expect(abs((size ?? -1) - (mean ?? -1)) < 1e-9, comment)
      }
      let byTwo = joined.group { _, from, to, _ in (from.name, to.name.orNil) }
        .order { leg, _, to, _ in (leg.count.descending, to.sum(to.area.water)) }
        .limit(4)
      let counts = Dictionary(grouping: results) { [$0.1.name, $0.2?.name ?? "-"] }
        .mapValues(\.count)
      let top = byTwo.aggregates { leg, _, _, _ in leg.count }
      var sizes: [Int] = []
      try top.forEach { key, count in
        #expect(counts[[key.0, key.1 ?? "-"]] == count, comment)
        sizes.append(count)
      }
      #expect(sizes == Array(counts.values.sorted(by: >).prefix(4)), comment)
      #expect(try top.fetch().map(\.1) == sizes, comment)
      #expect(try top.explain().contains("group by"), comment)
      #expect(throws: DatabaseError.self) {
        try joined.limit(3).group { $3.size }.select { leg, _, _, _ in leg.count }
      }
    }
  }

  @Test("takes one case of a union for itself")
  func cases() throws {
    typealias Car = Vehicle.Car
    try withDatabase { database in
      try database.register(Vehicle.self, Garage.self)
      let car = try database.write { tx in
        try tx.insert(Garage(id: "north"))
        try tx.insert(Garage(id: "south"))
        try tx.insert(Vehicle.Truck(garage: "north"))
        try tx.insert(Vehicle.Truck(garage: "south"))
        return try tx.insert(Car(doors: 4, garage: "north"))
      }
      let garages = database.query(Garage.self)
      let inner = try garages.join(Car.self, on: \.id, \.garage).fetch()
      #expect(inner.map(\.0.id) == ["north"] && inner.map(\.1.id) == [car])
      let left = try garages.leftJoin(Car.self, on: \.id, \.garage).fetch()
      #expect(left.map(\.0.id) == ["north", "south"] && left.map { $0.1?.id } == [car, nil])
      #expect(try garages.join(Vehicle.self, on: \.id, { $0.as(Car.self).garage }).count() == 3)
    }
  }

  @Test("names a property of the other model's own")
  func misuse() throws {
    try withDatabase { database in
      try Self.fill(database, 1)
      let error = #expect(throws: QueryError.self) {
        try database.query(Country.self).join(Leg.self, on: \.id, \.from.country).fetch()
      }
      #expect(error?.reason.contains("join what lies between as well") ?? false)
      #expect(throws: QueryError.self) {
        try database.query(Leg.self).join(City.self, on: \.length, \.name.count).count()
      }
    }
  }
}

@Suite("A selection")
struct SelectionTests {
  typealias Leg = TypedJoinTests.Leg

  @Test("is visited, and goes on where a page ended")
  func pages() throws {
    try withDatabase { database in
      try database.register(Leg.self)
      try database.write { tx in
        for id in 1...50 {
          try tx.insert(Leg(id: .init(id), name: "\(id % 7)", length: id % 3 == 0 ? nil : id % 11))
        }
      }
      let queries = [
        database.query(Leg.self), database.query(Leg.self).order(by: \.length),
        database.query(Leg.self).order(by: \.name, \.id.descending).limit(33, offset: 5),
      ]
      for query in queries {
        let wanted = try query.fetch()
        var visited: [(Leg.ID, Int?)] = []
        try query.select(\.id, \.length).forEach { id, length in visited.append((id, length)) }
        #expect(visited.map(\.0) == wanted.map(\.id) && visited.map(\.1) == wanted.map(\.length))
        var batched: [(String, Int?)] = []
        try query.select(\.name, \.length).batches(of: 8) { batch in
          #expect(batch.count <= 8)
          batched += batch
        }
        #expect(batched.map(\.0) == wanted.map(\.name))
        #expect(batched.map(\.1) == wanted.map(\.length))
        let page = try query.limit(4).select(\.id).page()
        let next = try query.limit(4).after(page.next).select(\.id).page()
        #expect(page.results + next.results == Array(try query.limit(8).fetch().map(\.id)))
      }
      let names = queries[0].select(\.name).distinct()
      var visited: [String] = []
      try names.forEach { visited.append($0) }
      #expect(try Set(visited) == Set(names.fetch()) && visited.count == 7)
      let two = try names.limit(2).page()
      #expect(try two.results + names.after(two.next).fetch() == names.fetch())
      let groups = queries[0].group(by: \.name).aggregates { ($0.count, $0.maximum($0.length)) }
      var report: [(String, Int, Int?)] = []
      try groups.forEach { name, count, length in report.append((name, count, length)) }
      let all = try groups.fetch()
      #expect(report.map(\.0) == all.map(\.0) && report.map(\.1) == all.map(\.1))
      #expect(report.map(\.2) == all.map(\.2) && report.count == 7)
      #expect(try queries[0].select(\.name).explain().contains("scan legs"))
    }
  }
}
