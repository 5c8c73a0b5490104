// Goal: what is loaded along with models is what following each reference of each model by itself
// gives, and takes no lookup for each model. Method: random histories of people, countries and
// clubs, with references to what is not there, against plain dictionaries, at present, in the past,
// and inside a transaction; and counts of the lookups.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Loading what is related along")
struct LoadingTests {
  struct Country: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var size = 0
    var people: Many<Person> { many(\.home) }
    static let schema = ModelSchema<Country>("countries")
  }

  struct Club: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var seat: Country.ID?
    static let schema = ModelSchema<Club>("clubs")
  }

  struct Person: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var age = 0
    var home: Country.ID?
    var boss: Person.ID?
    /// In order, and one may be in it twice.
    var clubs: [Club.ID] = []
    var former: Set<Club.ID> = []
    var fees: [Club.ID: Int] = [:]
    var reports: Many<Person> { many(\.boss) }
    var computed: Country.ID? { home }
    static let schema = ModelSchema<Person>("people") { Index(\.boss, \.age.descending) }
  }

  private struct World {
    var countries: [Country.ID: Country] = [:]
    var clubs: [Club.ID: Club] = [:]
    var people: [Person.ID: Person] = [:]

    func boss(_ person: Person) -> Person? { person.boss.flatMap { people[$0] } }
    func home(_ person: Person?) -> Country? { person?.home.flatMap { countries[$0] } }
    func clubs(_ ids: some Sequence<Club.ID>) -> [Club] { ids.compactMap { clubs[$0] } }
    func people(_ holds: (Person) -> Bool) -> [Person] {
      people.values.filter(holds).sorted { $0.id < $1.id }
    }
  }

  // MARK: Against following each reference

  @Test("is the same as following each reference", arguments: SeededGenerator.seeds(1, 2, 3))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Country.self, Club.self, Person.self)
      var (world, worlds) = (World(), [SequenceNumber: World]())
      for step in 1...150 {
        try database.write { tx in
          try Self.step(tx, &world, &random)
          if step % 50 == 0 { try Self.check(try tx.readingSnapshot(), world, seed) }
        }
        worlds[try database.head] = world
        if step % 30 == 0 { try Self.check(try database.snapshot(), world, seed) }
      }
      for (sequence, world) in worlds where random.chance(oneIn: 30) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), world, seed)
      }
    }
  }

  private static func step(
    _ tx: borrowing Database.Transaction, _ world: inout World, _ random: inout FormatRandom
  ) throws {
    let country = Country.ID(random.below(6))
    let club = Club.ID(random.pick(["a", "b", "42", "c"]))
    let id = Person.ID(random.below(40))
    switch random.below(8) {
    case 0 where world.countries[country] == nil:
      world.countries[country] = Country(id: country, size: random.below(9))
      try tx.upsert(Country(id: country, size: world.countries[country]?.size ?? 0))
    case 1 where world.clubs[club] == nil:
      world.clubs[club] = Club(id: club, seat: country)
      try tx.upsert(Club(id: club, seat: country))
    case 2 where world.people[id] != nil:
      world.people[id] = nil
      try tx.delete(id)
    default:
      var clubs: [Club.ID] = ["a", "b", "42", "c", "missing"]
      var person = Person(id: id, age: random.below(5))
      if !random.chance(oneIn: 5) { person.home = country }
      if !random.chance(oneIn: 4) { person.boss = Person.ID(random.below(12)) }
      person.clubs = (0..<random.below(4)).map { _ in random.pick(clubs) }
      clubs.removeAll { _ in random.chance(oneIn: 2) }
      person.former = Set(clubs)
      for club in clubs { person.fees[club] = random.below(9) }
      world.people[id] = person
      try tx.upsert(person)
    }
  }

  private static func check(_ snapshot: Snapshot, _ world: World, _ seed: UInt64) throws {
    let comment = Comment("seed \(seed), \(snapshot.sequence)")
    let all = snapshot.query(Person.self)
    let expected = world.people { _ in true }
    let some = expected.filter { $0.age > 1 }.sorted { ($1.age, $0.id) < ($0.age, $1.id) }
    let cases: [(ModelQuery<Person>, [Person])] = [
      (all, expected),
      (
        all.where { $0.age > 1 }.order(by: \.age.descending).limit(7, offset: 2),
        Array(some.dropFirst(2).prefix(7))
      ),
      (
        all.filter { $0.age % 2 == 0 }.limit(5, offset: 1),
        Array(expected.filter { $0.age % 2 == 0 }.dropFirst().prefix(5))
      ),
    ]
    for (query, people) in cases {
      try check(query, people, world, comment)
      try checkPlural(query, world, comment)
    }
  }

  private static func check(
    _ query: ModelQuery<Person>, _ people: [Person], _ world: World, _ comment: Comment
  ) throws {
    let found = try query.with(
      \.home, \.boss, \.boss.home, \.boss.boss.home, \.reports, \.boss.reports, \.home.people
    ).fetch()
    #expect(found.map(\.0) == people, comment)
    for (person, home, boss, bossHome, third, reports, peers, countrymen) in found {
      #expect(home == world.home(person) && boss == world.boss(person), comment)
      #expect(bossHome == world.home(world.boss(person)), comment)
      #expect(third == world.home(world.boss(person).flatMap(world.boss)), comment)
      #expect(reports == world.people { $0.boss == person.id }, comment)
      let boss = world.boss(person)?.id
      #expect(peers == (boss == nil ? [] : world.people { $0.boss == boss }), comment)
      let land = world.home(person)?.id
      #expect(countrymen == (land == nil ? [] : world.people { $0.home == land }), comment)
    }
  }

  private static func checkPlural(
    _ query: ModelQuery<Person>, _ world: World, _ comment: Comment
  ) throws {
    func ids(_ clubs: [Club]) -> [Club.ID] { clubs.map(\.id).sorted() }
    var count = 0
    try query.with(\.clubs, \.former, \.fees, \.boss.clubs).forEach {
      person, clubs, former, fees, boss in
      count += 1
      #expect(clubs == world.clubs(person.clubs), comment)
      #expect(ids(former) == ids(world.clubs(person.former)), comment)
      #expect(ids(fees) == ids(world.clubs(person.fees.keys)), comment)
      #expect(boss == world.clubs(world.boss(person)?.clubs ?? []), comment)
    }
    #expect(try count == query.count(), comment)
    let first = try query.with(\.home).first()
    #expect(try first?.0 == query.first() && first?.1 == world.home(first?.0), comment)
    var paged: [Person] = []
    try query.with(\.home).batches(of: 3) { batch in
      #expect(!batch.isEmpty && batch.count <= 3, comment)
      paged += batch.map(\.0)
      for (person, home) in batch { #expect(home == world.home(person), comment) }
    }
    #expect(try paged == query.fetch(), comment)
  }

  // MARK: Cost

  private static func fill(_ database: Database, _ count: Int) throws {
    try database.register(Country.self, Club.self, Person.self)
    try database.write { tx in
      for country in 1...4 { try tx.upsert(Country(id: .init(country), size: country)) }
      try tx.upsert(Club(id: "a", seat: 1))
      for id in 1...count {
        try tx.upsert(
          Person(
            id: .init(id), home: .init(id % 5 + 1), boss: .init(id % 7 + 1),
            clubs: id % 2 == 0 ? ["a", "b"] : ["a"]))
      }
    }
  }

  @Test("takes one lookup for each that is referred to, however many refer")
  func counts() throws {
    try withDatabase { database in
      try Self.fill(database, 1000)
      for limit in [20, 200, 1000] {
        let query = database.query(Person.self).limit(limit)
        let counts = try query.with(\.home, \.clubs, \.reports).counts()
        // Five countries, of which one is not there, and two clubs.
        #expect(counts[0] == RelationCounts(lookups: 5) && counts[1] == RelationCounts(lookups: 2))
        #expect(counts[2] == RelationCounts(indexReads: limit))
      }
      for limit in [20, 250] {
        let counts = try database.query(Person.self).limit(limit)
          .with(\.boss.home, \.boss.reports).counts()
        // Seven bosses, who live in five countries.
        #expect(counts[0] == RelationCounts(lookups: 12))
        #expect(counts[1] == RelationCounts(lookups: 7, indexReads: 7))
      }
      let past = try database.snapshot()
      try database.write { tx in _ = try tx.upsert(Country(id: 9)) }
      let old = try database.snapshot(at: .sequence(past.sequence)).query(Person.self)
      #expect(try old.with(\.reports).counts() == [RelationCounts(walks: 1)])
      let words = try database.query(Person.self).limit(9).with(\.home, \.reports).explain()
      #expect(words.hasPrefix("scan people"), "\(words)")
      #expect(
        words.hasSuffix(
          """
          load countries by home: 5 looked up
          load people that refer by boss: 9 looked for in the index
          """), "\(words)")
    }
  }

  @Test("goes on where a page ended")
  func pages() throws {
    try withDatabase { database in
      try Self.fill(database, 50)
      let query = database.query(Person.self).order(by: \.age, \.id.descending)
      let all = try query.with(\.home, \.reports).fetch()
      var page = try query.limit(20).with(\.home, \.reports).page()
      var paged = page.results
      while let next = page.next {
        page = try query.limit(20).after(next).with(\.home, \.reports).page()
        paged += page.results
      }
      #expect(paged.map(\.0) == all.map(\.0) && paged.map(\.1) == all.map(\.1))
      #expect(paged.map(\.2) == all.map(\.2) && paged.count == 50)
    }
  }

  @Test("lends no records to code that writes to their transaction")
  func writing() throws {
    try withDatabase { database in
      try Self.fill(database, 300)
      try database.write { tx in
        for count in [3, 300] {
          let query = try tx.query(Person.self).limit(count)
          #expect(throws: DatabaseError.self) {
            try query.with(\.home).forEach { person, _ in try tx.delete(person.id) }
          }
        }
        try tx.query(Person.self).limit(10).with(\.home).batches(of: 4) { batch in
          for (person, _) in batch { try tx.delete(person.id) }
        }
        #expect(try tx.query(Person.self).count() == 290)
      }
    }
  }

  @Test("takes unions of models for what they are")
  func unions() throws {
    typealias Car = Vehicle.Car
    try withDatabase { database in
      try database.register(Vehicle.self, Garage.self)
      let (car, truck) = try database.write { tx in
        try tx.insert(Garage(id: "north"))
        let car = try tx.insert(Car(doors: 4, garage: "north"))
        let truck = try tx.insert(Vehicle.Truck(garage: "north"))
        try tx.update(Garage.ID("north")) { $0.best = Vehicle.ID(truck.key) }
        try tx.insert(Garage(id: "south", best: Vehicle.ID(car.key)))
        return (car, truck)
      }
      let garages = try database.query(Garage.self)
        .with(\.best, { $0.best.as(Car.self) }, \.cars, \.trucks).fetch()
      #expect(garages.map { $0.1?.id.key } == [truck.key, car.key])
      #expect(garages.map { $0.2?.id } == [nil, car])
      #expect(garages.map { $0.3.map(\.id) } == [[car], []])
      #expect(garages.map { $0.4.map(\.id) } == [[truck], []])
      let vehicles = try database.query(Vehicle.self).with({ $0.as(Car.self).garage }).fetch()
      #expect(vehicles.map { $0.1?.id } == ["north", "north"])
      let far = try database.query(Car.self).with(\.garage.trucks).fetch()
      #expect(far.count == 1 && far[0].1.map(\.id) == [truck])
    }
  }

  @Test("refuses what is not stored")
  func misuse() throws {
    try withDatabase { database in
      try Self.fill(database, 5)
      let people = database.query(Person.self)
      let error = #expect(throws: QueryError.self) { try people.with(\.computed).fetch() }
      #expect(error?.reason.contains("Person: a computed property") ?? false)
      #expect(throws: QueryError.self) { try people.with(\.boss.computed).fetch() }
      let condition = #expect(throws: QueryError.self) {
        try people.where { $0.home.people.any { $0.age > 3 } }.fetch()
      }
      #expect(condition?.reason.contains("ask for those first") ?? false)
    }
  }
}
