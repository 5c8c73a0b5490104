// The models that the programs of this folder are about. Nothing here is run: Tools/types checks
// how fast right programs are type-checked, and what is said of wrong ones.

import Cambium
import FoundationEssentials

struct Airline: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var flights: Many<Flight> { many(\.carrier) }

  static let schema = ModelSchema<Airline>("airlines") {
    Property(\.name).validated("must not be empty") { !$0.isEmpty }
  }
}

struct Airport: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var place = Place()
  var former: Place?
  var departures: Many<Flight> { many(\.origin) }

  struct Place: Nested { var latitude = 0.0, longitude = 0.0 }

  static let schema = ModelSchema<Airport>("airports") { Index(\.place.latitude) }
}

struct Flight: Model {
  var id = ID()
  var carrier: Airline.ID?
  var origin: Airport.ID?
  var number = 0
  var departureDelay: Int?
  var distance = 0.0
  var scheduled = Date.distantPast
  var status = Status.scheduled
  var isInternational = false
  var crew: [String] = []
  var stops: [Airport.ID] = []
  var isLate: Bool { (departureDelay ?? 0) > 0 }

  enum Status: String, RawProperty { case scheduled, departed, cancelled }

  static let schema = ModelSchema<Flight>("flights") {
    Property(\.carrier).onDelete(.nullify)
    Property(\.origin).onDelete(.deny).required()
    Property(\.number).validated("must be positive") { $0 > 0 }
    Property(\.departureDelay).was("delay").clamped(to: -600...6000)
    Index(\.origin, \.scheduled.descending)
    Unique(\.carrier, \.number, \.scheduled)
    Count(by: \.carrier)
    Average(\.departureDelay, by: \.origin, \.status)
    Rule("must not fly to where it is") { flight in !flight.stops.contains { $0 == flight.origin } }
  }
}

enum Vehicle: ModelUnion {
  case car(Car), truck(Truck)

  static let cases = ModelCases<Vehicle>(
    ModelCase("car", Vehicle.car) { if case .car(let car) = $0 { car } else { nil } },
    ModelCase("truck", Vehicle.truck) { if case .truck(let truck) = $0 { truck } else { nil } })
  static let schema = ModelSchema<Vehicle>(union: "vehicles") { Index(\.type) }
}

struct Car: Model {
  var id = ID()
  var wheels = 4
  static let schema = ModelSchema<Car>(caseOf: Vehicle.self) { Index(\.wheels) }
}

struct Truck: Model {
  var id = ID()
  var load = 7.5
  static let schema = ModelSchema<Truck>(caseOf: Vehicle.self)
}

/// A type that cannot be stored by itself.
nonisolated struct Weight: Hashable { var grams = 0.0 }

struct Grams: PropertyCodec {
  let guarantee = CodecGuarantee.order
  func encode(_ weight: Weight) -> Double { weight.grams }
  func decode(_ grams: Double) -> Weight { Weight(grams: grams) }
}

struct Passenger: Model {
  var id = ID()
  var name = ""
  var bag: One<Bag> { one(\.owner) }
  static let schema = ModelSchema<Passenger>("passengers")
}

struct Bag: Model {
  var id = ID()
  var owner: Passenger.ID?
  var weight = Weight()
  var former: Weight?
  var isLost = false
  var foundAt: Date?
  static let schema = ModelSchema<Bag>("bags") {
    Unique(\.owner)
    Coded(\.weight, by: Grams()).indexed()
    Coded(\.former, by: Grams()).was("old", as: Int.self) { Weight(grams: Double($0)) }
    Property(\.foundAt).when { $0.isLost }
  }
}
