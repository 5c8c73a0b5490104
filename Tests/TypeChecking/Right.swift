// Right programs: each function must be type-checked in less than half a second, however many terms
// its condition has, and without a warning.

import Cambium
import FoundationEssentials

func oneTerm(_ database: Database) throws -> [Flight] {
  try database.query(Flight.self).where { $0.departureDelay > 60 }.fetch()
}

func sixTerms(_ database: Database, day: Date) throws -> [Flight] {
  try database.query(Flight.self).where {
    $0.departureDelay > 60 && $0.origin.name.hasPrefix("John") && $0.number != 7
      && $0.scheduled >= day && $0.status == .departed && $0.carrier == nil
  }.fetch()
}

func tenTerms(_ database: Database, day: Date) throws -> [Flight] {
  try database.query(Flight.self).where {
    $0.origin.name.hasPrefix("John") && ($0.departureDelay > 60 || $0.departureDelay == nil)
      && $0.number.in(1...900) && !($0.status == .cancelled) && $0.carrier.name != "United"
      && $0.scheduled.in(day..<(day + 86_400)) && $0.crew.contains("Ada") && $0.distance < 900
      && $0.isInternational && $0.carrier.in(["UA", "B6"])
  }.fetch()
}

func twentyTerms(_ database: Database, day: Date) throws -> [Flight] {
  try database.query(Flight.self).where {
    $0.departureDelay > 1 && $0.departureDelay < 900 && $0.departureDelay != 13
      && $0.number > 1 && $0.number < 5000 && $0.number != 666 && $0.distance > 100
      && $0.distance <= 9000.5 && $0.scheduled > day && $0.scheduled < day + 86_400
      && $0.status == .departed && $0.status != .cancelled && $0.carrier == "UA"
      && $0.carrier != nil && $0.origin == "JFK" && $0.origin.name == "John F. Kennedy"
      && $0.origin.place.latitude > 40 && $0.origin.place.longitude < -70
      && $0.carrier.name.hasSuffix("Lines") && $0.crew.count == 4
  }.fetch()
}

func tenLines(_ database: Database, from origin: Airport.ID?, words: [String]) throws -> [Flight] {
  try database.query(Flight.self).where {
    $0.departureDelay > 60 * 24 * 7 + 3
    $0.number <= 100 * 100 - 1
    $0.distance > 3.5 * 1852 / 1000
    $0.scheduled > Date.distantPast + 60 * 60 * 24
    $0.status.in([.scheduled, .departed])
    $0.stops.any { $0.place.latitude > -0.5 * 90 }
    $0.isInternational
    if let origin { $0.origin == origin }
    for word in words { $0.origin.name.contains(word, .ignoringCase) }
    $0.departureDelay > $0.number
  }.fetch()
}

func related(_ database: Database) throws -> [Airline] {
  try database.query(Airline.self).where {
    $0.flights.any {
      $0.departureDelay > 60; $0.origin.name.hasPrefix("John")
    }
    $0.flights.none { $0.status == .cancelled }
  }.order(by: \.name.ignoringCase).fetch()
}

func figures(_ database: Database) throws -> [(String, Int, Double?)] {
  let query = database.query(Flight.self).where { $0.number > 0 }
  let rows: [(Int, String, Date)] =
    try query
    .order(by: \.scheduled.descending, \.number, \.departureDelay.nullsLast)
    .select(\.number, \.carrier.name, \.scheduled).fetch()
  try query.select(\.number).forEach { print(Int64($0)) }
  let sum = try query.sum(\.distance) + Double(rows.count)
  return try query.group(by: \.carrier.name)
    .having {
      $0.count > 10; $0.sum($0.distance) < sum
    }
    .order(by: { ($0.count.descending, $0.average($0.departureDelay)) })
    .select { ($0.count, $0.average($0.departureDelay)) }
}

/// Results that are used where nothing says of what type they are.
func printed(_ database: Database) throws {
  print(try database.query(Flight.self).select(\.number).fetch().count)
  print(try database.query(Flight.self).select(\.number, \.carrier.name).fetch().count)
  print(try database.query(Flight.self).select(\.number, \.origin, \.scheduled).fetch().count)
  print(
    try database.query(Flight.self).where { $0.number > 7 }.order(by: \.scheduled.descending)
      .select(\.number, \.origin.name, \.scheduled, \.crew).fetch().count)
  let any: Any = try database.query(Flight.self).select(\.number, \.distance).fetch().count
  print("\(any), \(try database.query(Flight.self).select(\.number, \.distance).fetch())")
  print(try database.records("flights where number > $1", 7).fetch().count)
}

func otherSide(_ database: Database, _ airline: Airline) throws -> [Flight] {
  try database.related(airline.flights).where { $0.departureDelay > 60 }.fetch()
}

func otherSideOfOne(_ database: Database, _ passenger: Passenger) throws -> [(Passenger, Bag?)] {
  guard let bag = try database.find(passenger.bag), bag.isLost else { return [] }
  return try database.query(Passenger.self)
    .where {
      $0.name != passenger.name
      $0.bag.isNil || $0.bag.has { $0.isLost && $0.foundAt == nil }
    }.with(\.bag).fetch()
}

func storedForms(_ database: Database) throws -> Double {
  let heavy = database.query(Bag.self).where { $0.stored(\.weight, as: Double.self) > 20_000 }
  let sum = try heavy.sum { $0.stored(\.weight, as: Double.self) }
  return try heavy.order(by: { $0.stored(\.weight, as: Double.self).descending }).count() > 3
    ? sum : 0
}

func related(_ database: Database) throws -> [(Flight, Airline?, Airport?)] {
  try database.query(Airline.self).with(\.flights).forEach { airline, flights in
    print(airline.name, flights.count)
  }
  return try database.query(Flight.self).order(by: \.number).with(\.carrier, \.origin).fetch()
}

func several(_ database: Database) throws -> [(String, Int, Double?)] {
  let joined = database.query(Flight.self)
    .join(Airport.self, on: \.origin, \.id)
    .leftJoin(Airline.self, on: \.carrier, \.id)
    .leftJoin(Airport.self, on: { flight, _, airline in airline.name }, \.name)
  let flights =
    joined
    .where { flight, origin, airline, other in
      flight.number > 100 && origin.place.latitude < other.place.latitude
      airline.name != "UA" || flight.isInternational
    }
    .order { flight, origin, _, _ in (origin.name.descending, flight.scheduled) }
  try flights.limit(50).forEach { flight, origin, airline, other in
    print(flight.number, origin.name, airline?.name ?? "", other?.name ?? "")
  }
  let rows = try flights.select { ($0.number, $1.name, $2.name.orNil, $3.name.orNil) }.page()
  for (number, origin, _, _) in rows.results { print(number, origin) }
  return try flights.group { _, origin, _, _ in origin.name }
    .having { flight, _, _, _ in flight.count > 10 }
    .order { flight, _, _, _ in flight.count.descending }
    .select { flight, _, _, _ in (flight.count, flight.average(flight.departureDelay)) }
}

func joined(_ database: Database) throws -> [(Flight, Airport?)] {
  try database.query(Flight.self).leftJoin(Airport.self, on: \.origin, \.id)
    .where { flight, airport in
      flight.number > 100
      airport.name != ""
      airport.place.latitude > 0 || flight.departureDelay > 60
    }.fetch()
}

func kinds(_ database: Database) throws -> [String] {
  let heavy = try database.query(Vehicle.self).where {
    $0.is(Truck.self) && $0.as(Truck.self).load > 3.5 || $0.as(Car.self).wheels > 4
  }.count()
  return try database.query(Vehicle.self).order(by: \.type).limit(heavy).select(\.type).fetch()
}

func written(_ database: Database) throws {
  try database.write { tx in
    try tx.insert(Airport(id: "JFK", name: "John F. Kennedy", place: .init(latitude: 40.6)))
    let id = try tx.insert(Flight(carrier: "UA", origin: "JFK", number: 1545, status: .departed))
    try tx.update(id) {
      $0.departureDelay = 12; $0.crew.append("Ada"); $0.stops += ["BOS"]
    }
    try tx.set(id, \.status, to: .cancelled)
    try tx.increment(id, \.departureDelay, by: 5)
    try tx.append("Bob", to: id, \.crew)
    try tx.delete(tx.query(Flight.self).where { $0.status == .cancelled })
  }
}

// MARK: Async code gets the async forms, and synchronous code in the midst of it the others

func asyncForms(_ database: Database, _ id: Flight.ID, _ flight: Flight) async throws {
  let new: Flight.ID = try await database.insert(flight, metadata: ["why": "new"], actor: "ada")
  let was: Upsert = try await database.upsert(flight, actor: "ada")
  let change = try await database.update(new, actor: "ada") { $0.departureDelay = 12 }
  let wasThere: Bool = try await database.delete(id)
  print(was, change.properties, wasThere)
  try await database.write(actor: "ada") { tx in try tx.set("a", to: 1) }
  try await database.write(WriteBatch(), metadata: ["why": "new"], actor: "ada")
  try await database.undoLast(of: .init(actor: "ada"), actor: "bob")
  try await database.register(Airline.self, Flight.self, actor: "ada")
  try await database.migrate(Flight.self, actor: "ada")
  try await database.declare("flights", nil, actor: "ada")
  try await database.tag("release")
  try await database.compact(keeping: Retention(transactions: 10))
  try await database.backUp(to: "shop.backup")
  try await database.consumer("mailer").reset(to: 1)
  try await database.close()
}

func synchronousForms(_ database: Database, _ id: Flight.ID, _ flight: Flight) throws {
  let new: Flight.ID = try database.insert(flight, metadata: ["why": "new"], actor: "ada")
  var count = 0
  try database.update(new, actor: "ada") {
    $0.departureDelay = 12
    count += 1
  }
  if try database.upsert(flight) == .inserted { try database.delete(id) }
  try database.write(WriteBatch(), actor: "ada")
  try database.close()
}

func synchronousInAsync(_ database: Database, _ flights: [Flight]) async throws {
  defer { try? database.close() }
  let store = { (flight: Flight) in try database.insert(flight) }
  let ids = try await database.write { tx in try flights.map { try tx.insert($0) } }
  print(store, ids.count)
}

func anyModels<M: Model>(_ database: Database, _ models: [M]) async throws -> [ModelID<M>] {
  try await withThrowingTaskGroup(of: ModelID<M>.self) { group in
    for model in models { group.addTask { try await database.insert(model) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}
