// Wrong programs in which a query is asked in one expression, as apps do it, and its result is used
// where nothing says of what type it is: the error must not be about the first word of the chain.

import Cambium
import FoundationEssentials

// MARK: In chains that begin with a query, whose results are used as they are

func misspeltPropertyInChain(_ database: Database) throws {
  // error: value of type 'Fields<Flight>' has no dynamic member 'numbr'
  print(try database.query(Flight.self).where { $0.numbr > 60 }.fetch().map(\.number))
}

func misspeltPropertyInTransaction(_ database: Database) throws {
  try database.write { tx in
    // error: value of type 'Fields<Flight>' has no dynamic member 'numbr'
    let found = try tx.query(Flight.self).where { $0.numbr > 60 }
    for flight in try found.fetch() { try tx.delete(flight.id) }
  }
}

func misspeltOrderInTransaction(_ database: Database) throws {
  try database.write { tx in
    // error: no dynamic member 'scheduld' using key path from root type 'Flight'
    let found = try tx.query(Flight.self).order(by: \.scheduld)
    print(try found.fetch().count)
  }
}

func misspeltOptionalFilter(_ database: Database, _ number: Int?) throws {
  let found = database.query(Flight.self).where {
    $0.status == .departed
    // error: value of type 'Fields<Flight>' has no dynamic member 'numbr'
    if let number { $0.numbr == number }
  }
  print(try found.count())
}

func misspeltMember(_ database: Database) throws {
  // error: no dynamic member 'lat'
  print(try database.query(Airport.self).where { $0.place.lat > 40 }.count())
}

func misspeltFunction(_ database: Database) throws {
  // error: value of type 'Operand<String>' has no dynamic member 'isEmpty'
  print(try database.query(Airport.self).where { $0.name.isEmpty }.count())
}

func misspeltDirection(_ database: Database) throws {
  // error: no dynamic member 'descnding'
  print(try database.query(Flight.self).order(by: \.number.descnding).count())
}

func misspeltGroupInChain(_ database: Database) throws {
  // error: no dynamic member 'carier' using key path from root type 'Flight'
  print(try database.query(Flight.self).group(by: \.carier).select { $0.count }.map { $0.1 })
}

func misspeltFigure(_ database: Database) throws {
  // error: no dynamic member 'distanc' using key path from root type 'Flight'
  print(try database.query(Flight.self).maximum(\.distanc) as Any)
}

func misspeltHaving(_ database: Database) throws {
  let groups = database.query(Flight.self).group(by: \.carrier)
  // error: value of type 'GroupFields<Flight>' has no dynamic member 'distanc'
  print(try groups.having { $0.sum($0.distanc) > 3 }.select { $0.count }.map { $0.1 })
}

func misspeltPlace(_ database: Database) throws {
  // error: value of type 'Airport' has no member 'plac'
  print(database.query(Airport.self).near(\.plac, to: Coordinate(), within: 5))
}

func misspeltBehindElements(_ database: Database) throws {
  // error: has no dynamic member 'nam' using key path from root type
  print(try database.query(Flight.self).where { $0.stops.any { $0.nam == "x" } }.count())
}

func misspeltJoin(_ database: Database) throws {
  // error: no dynamic member 'orign' using key path from root type 'Flight'
  print(try database.query(Flight.self).join(Airport.self, on: \.orign, \.id).count())
}

func misspeltFilter(_ database: Database) throws {
  // error: value of type 'Flight' has no member 'numbr'
  print(try database.query(Flight.self).filter { $0.numbr > 3 }.count())
}

func misspeltResult(_ database: Database, _ id: Flight.ID) throws {
  // error: value of type 'Flight' has no member 'numbr'
  print(try database.get(id).numbr)
}

func misspeltOfLive(_ database: Database, _ id: Flight.ID) throws {
  let flight = try database.live(id)
  // error: value of type 'Live<Flight>' has no dynamic member 'numbr'
  print(flight.numbr)
}

func propertyOfAnotherModel(_ database: Database) throws {
  // error: cannot convert key path root type 'Airline' to contextual type 'Fields<Flight>' | 'name'
  print(try database.query(Flight.self).sum(\Airline.name) as Any)
}

func orderOfAnotherModel(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot convert key path of type '(Airline) -> String' | could not infer pack element
  flights.order(by: \Airline.name)
}

func withoutTry(_ database: Database) -> [Flight] {
  // error: call can throw, but it is not marked with 'try'
  database.query(Flight.self).where { $0.number == 1 }.fetch()
}

struct NoModel { var id = 0 }

func queryOfNoModel(_ database: Database) throws {
  // error: requires that 'NoModel' conform to 'Model'
  _ = try database.query(NoModel.self).fetch()
}

func insertOfNoModel(_ database: Database) throws {
  // error: requires that 'NoModel' conform to 'Model'
  _ = try database.insert(NoModel())
}

func optionalValue(_ flights: ModelQuery<Flight>, _ number: Int?) -> ModelQuery<Flight> {
  // error: value of optional type 'Int?' must be unwrapped
  flights.where { $0.number > number }
}

func inequalityOfNil(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: 'nil' is not compatible with expected argument type 'Int'
  flights.where { $0.number != nil }
}

func rawValueOfCase(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot convert value of type 'String' to expected argument type 'Flight.Status'
  flights.where { $0.status == "departed" }
}

func textOfDate(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: operands of type 'Operand<Date>' and 'String'
  flights.where { $0.scheduled > "2026-01-01" }
}
