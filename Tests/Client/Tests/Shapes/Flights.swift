// The models that every shape of a query asks about, and a few records of each. Each builder of a
// schema that takes a list of properties is given one property here, and two elsewhere.

import Cambium
import Scratch

struct Airline: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var flights: Many<Flight> { many(\.carrier) }

  static let schema = ModelSchema<Airline>("airlines") { Unique(\.name) }
}

struct Airport: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var place = Coordinate()
  var departures: Many<Flight> { many(\.origin) }

  static let schema = ModelSchema<Airport>("airports") { Index(\.place.latitude) }
}

struct Pilot: Model {
  typealias Key = String
  var id = ID()
  var name = ""
  var flights: Many<Flight> { many(\.crew) }

  static let schema = ModelSchema<Pilot>("pilots")
}

struct Flight: Model {
  typealias Key = Int
  var id = ID()
  var carrier: Airline.ID?
  var origin: Airport.ID?
  var crew: [Pilot.ID] = []
  var seats: [Pilot.ID: String] = [:]
  var delay: Int?
  var distance = 0.0
  var remark = ""

  static let schema = ModelSchema<Flight>("flights") {
    Property(\.carrier).onDelete(.nullify)
    Property(\.origin).preview(\.name)
    Index(\.carrier)
    Index(\.delay).covering(\.distance)
    Index(\.origin, \.delay.descending)
    Count(by: \.carrier)
    Sum(\.distance, by: \.carrier)
    Average(\.delay, by: \.origin)
    Minimum(\.delay, by: \.carrier, \.origin)
    Maximum(\.delay, by: \.carrier)
    Top(\.delay.descending, by: \.carrier)
    TextIndex(\.remark)
  }
}

/// Lends a database that holds the records below, opened for all models at once.
func withFlights(_ body: (Database) throws -> Void) throws {
  let directory = try TemporaryDirectory()
  let database = try Database(
    at: "\(directory.path)/air.cambium", for: Airline.self, Airport.self, Pilot.self, Flight.self)
  try database.write { tx in
    try tx.insert(contentsOf: [
      Airline(id: "B6", name: "JetBlue"), Airline(id: "UA", name: "United"),
    ])
    try tx.insert(contentsOf: [
      Airport(id: "BOS", name: "Logan", place: Coordinate(latitude: 42.36, longitude: -71.01)),
      Airport(id: "JFK", name: "Kennedy", place: Coordinate(latitude: 40.64, longitude: -73.78)),
    ])
    try tx.insert(contentsOf: [Pilot(id: "ada", name: "Ada"), Pilot(id: "bob", name: "Bob")])
    try tx.insert(contentsOf: [
      Flight(
        id: 1, carrier: "UA", origin: "JFK", crew: ["bob", "ada"], seats: ["ada": "left"],
        delay: 75, distance: 100, remark: "Late for snow"),
      Flight(id: 2, carrier: "UA", origin: "BOS", crew: ["ada"], distance: 200),
      Flight(id: 3, carrier: "B6", origin: "JFK", delay: 5, distance: 300, remark: "Snow again"),
      Flight(id: 4, origin: "JFK", delay: 20, distance: 400),
    ])
  }
  try body(database)
  try checkSound(database)
  try database.close()
}
