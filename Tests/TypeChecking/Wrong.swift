// Wrong programs: the commonest mistakes, each reported by one error at the wrong word. The comment
// above a line says what the compiler's error for that line must contain; there must be no other
// error. The last part has mistakes that take more than one error, which are separated by a bar.

import Cambium
import FoundationEssentials

// MARK: Conditions

func misspeltProperty(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: no dynamic member 'numbr'
  flights.where { $0.numbr > 60 }
}

func propertyInsideAnOptional(_ airports: ModelQuery<Airport>) -> ModelQuery<Airport> {
  // error: no dynamic member 'latitude'
  airports.where { $0.former.latitude > 60 }
}

func misspeltPropertyOfSeveral(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  flights.where {
    // error: no dynamic member 'numbr'
    $0.departureDelay > 60 && $0.origin.name.hasPrefix("John") && $0.numbr != 7
      && $0.status == .departed && $0.carrier == nil && $0.distance < 900
  }
}

func misspeltPropertyOfLines(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  flights.where {
    $0.departureDelay > 60
    // error: no dynamic member 'nam'
    $0.origin.nam.hasPrefix("John")
    $0.status == .departed
  }
}

func wrongLiteral(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: '>' cannot be applied to operands of type 'Operand<Int>' and 'String'
  flights.where { $0.number > "sixty" }
}

func wrongLiteralOfOptional(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot convert value of type 'String' to expected argument type 'Int'
  flights.where { $0.departureDelay == "late" }
}

func wrongLiteralOfSeveral(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  flights.where {
    // error: cannot convert value of type 'String'
    $0.departureDelay > 60 && $0.origin.name.hasPrefix("John") && $0.number == "7"
      && $0.status == .departed && $0.carrier == nil && $0.distance < 900
  }
}

func wrongValue(_ flights: ModelQuery<Flight>, name: String) -> ModelQuery<Flight> {
  // error: cannot convert value of type 'String' to expected argument type 'Int'
  flights.where { $0.number == name }
}

func wrongID(_ flights: ModelQuery<Flight>, airline: Airline.ID) -> ModelQuery<Flight> {
  // error: expected argument type 'Airport.ID'
  flights.where { $0.origin == airline }
}

func misspeltCase(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: type 'Flight.Status' has no member 'schedulde'
  flights.where { $0.status == .schedulde }
}

func misspeltCaseOfSeveral(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  flights.where {
    $0.departureDelay > 60 && $0.origin.name.hasPrefix("John") && $0.number != 7
      // error: no member 'departd'
      && $0.status == .departd && $0.carrier == nil && $0.distance < 900
  }
}

func nilOfWhatIsNeverNil(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: 'nil' is not compatible with expected argument type 'Int'
  flights.where { $0.number == nil }
}

func orderOfWhatHasNone(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: requires that 'Flight.Status' conform to 'Comparable'
  flights.where { $0.status > .scheduled }
}

func textOfNumber(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: 'hasPrefix' requires the types 'Int' and 'String'
  flights.where { $0.number.hasPrefix("15") }
}

func wrongElement(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot convert value of type 'Int' to expected argument type 'String'
  flights.where { $0.crew.contains(7) }
}

func propertiesOfTwoTypes(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: requires the types 'Int' and 'Double' be equivalent
  flights.where { $0.number == $0.distance }
}

func numberAsCondition(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot convert value of type 'Operand<Int>'
  flights.where { $0.number }
}

func wrongPropertyBehindRelation(_ airlines: ModelQuery<Airline>) -> ModelQuery<Airline> {
  // error: no dynamic member 'delay'
  airlines.where { $0.flights.any { $0.delay > 60 } }
}

// MARK: Orders, selections, groups

func misspeltOrder(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: no dynamic member 'scheduld'
  flights.order(by: \.scheduld.descending)
}

func misspeltSelection(_ flights: ModelQuery<Flight>) throws -> Int {
  // error: no dynamic member 'nam'
  try flights.select(\.number, \.carrier.nam).fetch().count
}

func wrongSelection(_ flights: ModelQuery<Flight>) throws -> [(Int, Int)] {
  // error: cannot convert return expression of type '[(Int, Date)]'
  try flights.select(\.number, \.scheduled).fetch()
}

func sumOfText(_ airports: ModelQuery<Airport>) throws {
  // error: requires that 'String' conform to 'Numeric'
  _ = try airports.sum(\.name)
}

func misspeltGroup(_ flights: ModelQuery<Flight>) throws -> Int {
  // error: no dynamic member 'carier'
  try flights.group(by: \.carier).select { $0.count }.count
}

func misspeltPropertyOfFigure(_ flights: ModelQuery<Flight>) throws -> Int {
  try flights.group(by: \.carrier)
    // error: no dynamic member 'delay'
    .select { $0.average($0.delay) }.count
}

func sumOfCases(_ flights: ModelQuery<Flight>) throws -> Int {
  try flights.group(by: \.carrier)
    // error: requires that 'Flight.Status' conform to 'Numeric'
    .select { $0.sum($0.status) }.count
}

func joinOfTwoTypes(_ flights: ModelQuery<Flight>) throws -> Int {
  // error: requires the types 'Int' and 'ModelID<Airport>'
  try flights.join(Airport.self, on: \.number, \.id).count()
}

func misspeltPropertyOfJoined(_ flights: ModelQuery<Flight>) throws -> Int {
  let joined = flights.join(Airport.self, on: \.origin, \.id)
  // error: value of type 'Fields<Airport>' has no dynamic member 'nam'
  return try joined.where { flight, airport in airport.nam == "x" }.count()
}

func misspeltSelectionOfJoined(_ flights: ModelQuery<Flight>) throws -> Int {
  let joined = flights.join(Airport.self, on: \.origin, \.id)
  // error: value of type 'Fields<Flight>' has no dynamic member 'numbr'
  return try joined.select { flight, airport in (flight.numbr, airport.name) }.count()
}

func misspeltGroupOfJoined(_ flights: ModelQuery<Flight>) throws -> Int {
  let joined = flights.join(Airport.self, on: \.origin, \.id)
  // error: value of type 'Fields<Airport>' has no dynamic member 'nam'
  return try joined.group { _, airport in airport.nam }.select { flight, _ in flight.count }.count
}

func misspeltReference(_ flights: ModelQuery<Flight>) throws -> Int {
  // error: no dynamic member 'orign'
  try flights.with(\.orign).fetch().count
}

// MARK: Writing

func misspeltUpdate(_ database: Database, _ id: Flight.ID) throws {
  // error: no member 'departuredelay'
  try database.update(id) { $0.departuredelay = 12 }
}

func wrongUpdate(_ database: Database, _ id: Flight.ID) throws {
  // error: cannot assign value of type 'String' to type 'Int'
  try database.update(id) { $0.number = "12" }
}

func wrongSet(_ transaction: borrowing Database.Transaction, _ id: Flight.ID) throws {
  // error: cannot convert value of type 'String'
  try transaction.set(id, \.number, to: "12")
}

func misspeltSet(_ transaction: borrowing Database.Transaction, _ id: Flight.ID) throws {
  // error: value of type 'Flight' has no member 'numbr'
  try transaction.set(id, \.numbr, to: 12)
}

func appendOfWrongType(_ transaction: borrowing Database.Transaction, _ id: Flight.ID) throws {
  // error: cannot convert value of type 'Int'
  try transaction.append(7, to: id, \.crew)
}

func wrongReference(_ database: Database, _ airline: Airline.ID) throws {
  // error: expected argument type 'Airport.ID'
  try database.insert(Flight(origin: airline, number: 1))
}

func idOfAnother(_ database: Database, _ id: Airline.ID) throws -> Flight {
  // error: cannot convert return expression of type 'Airline'
  try database.get(id)
}

// MARK: Synchronous calls in async code

func blockingInsert(_ database: Database, _ flight: Flight) async throws {
  // error: expression is 'async' but is not marked with 'await'
  try database.insert(flight)
}

func blockingUpdate(_ database: Database, _ id: Flight.ID) async throws {
  // error: expression is 'async' but is not marked with 'await'
  try database.update(id) { $0.number = 12 }
}

func blockingDelete(_ database: Database, _ id: Flight.ID) async throws {
  // error: expression is 'async' but is not marked with 'await'
  if try database.delete(id) { print(id) }
}

func blockingModel<M: Model>(_ database: Database, _ model: M) async throws {
  // error: expression is 'async' but is not marked with 'await'
  try database.upsert(model)
}

func blockingBatch(_ database: Database) async throws {
  // error: expression is 'async' but is not marked with 'await'
  try database.write(WriteBatch())
}

func blockingClose(_ database: Database) async throws {
  // error: expression is 'async' but is not marked with 'await'
  try database.close()
}

func sharedCount(_ database: Database, _ id: Flight.ID) async throws {
  var count = 0
  try await database.update(id) {
    $0.number = 12
    // error: mutation of captured var 'count' in concurrently-executing code
    count += 1
  }
  print(count)
}

final class Tally { var count = 0 }

func blockingResult(_ database: Database) async throws -> Tally {
  // error: type 'Tally' does not conform to the 'Sendable' protocol | not marked with 'await'
  try database.write { _ in Tally() }
}

// MARK: Mistakes that take more than one error

func misspeltCall(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: 'hasPrefx' | cannot call value
  flights.where { $0.origin.name.hasPrefx("J") }
}

func assignmentInCondition(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot assign value | '$0' is immutable | type '()'
  flights.where { $0.number = 7 }
}

func chainedReference(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: cannot use optional chaining | 'Operand<String>?'
  flights.where { $0.carrier?.name == "x" }
}

func misspeltIncrement(_ transaction: borrowing Database.Transaction, _ id: Flight.ID) throws {
  // error: 'NodePath' | 'KeyPath<Root, Value>' | cannot infer
  try transaction.increment(id, \.numbr, by: 1)
}

struct WrongDomain: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<WrongDomain>("a") {
    // error: value of type 'Int' | value of type 'Int'
    Property(\.name).clamped(to: 1...5)
  }
}

func misspeltSelectionPrinted(_ database: Database) throws {
  // error: no dynamic member 'numbr' using key path from root type 'Flight' | 'select' | 'Other'
  print(try database.query(Flight.self).select(\.numbr).fetch().count)
}

func misspeltSecondPrinted(_ database: Database) throws {
  // error: no dynamic member 'numbr' using key path from root type 'Flight' | 'select' | 'Other'
  print(try database.query(Flight.self).select(\.scheduled, \.numbr).fetch().count)
}

func unknownFigure(_ flights: ModelQuery<Flight>) throws {
  // error: 'GroupFields<Flight>' has no dynamic member 'median' | cannot call value | 'each V'
  _ = try flights.group(by: \.carrier).select { $0.median($0.number) }
}

func misspeltFunctionCalled(_ flights: ModelQuery<Flight>) -> ModelQuery<Flight> {
  // error: 'Operand<String>' has no dynamic member 'lowercase' | cannot call value
  flights.where { $0.origin.name.lowercase() == "x" }
}

struct UnknownModifier: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<UnknownModifier>("a") {
    // error: 'Property<M, V>' has no member 'require' | cannot infer key path type
    Property(\.name).require()
  }
}
