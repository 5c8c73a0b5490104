import Cambium
import FoundationEssentials

/// The model that the models suite stores: eight properties beside the key, one of them indexed.
struct Trip: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var carrier = ""
  var origin = ""
  var tail: String?
  var number = 0
  var delay: Int?
  var departure = Date(timeIntervalSince1970: 0)
  var distance = 0.0
  var isLate = false

  static let schema = ModelSchema<Trip>("trips") { Index(\.number) }

  /// The trip of a key: its number is spread over all numbers there are.
  init(key: Int, of count: Int) {
    id = ID(key)
    carrier = Trip.carriers[key % Trip.carriers.count]
    origin = ["EWR", "JFK", "LGA"][key % 3]
    tail = key % 11 == 0 ? nil : "N\(10_000 + key % 4_000)"
    number = key &* 7_919 % count
    delay = key % 13 == 0 ? nil : key % 240 - 20
    departure = Date(timeIntervalSince1970: Double(1_356_998_400 + key * 60))
    distance = Double(key % 5_000) + 0.5
    isLate = key % 4 == 0
  }

  init() {}

  static let carriers = [
    "9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV",
  ]
}

/// The same, with a view that counts trips by carrier.
struct CountedTrip: Model {
  typealias Key = Int
  var id = ID()
  var carrier = ""

  static let schema = ModelSchema<CountedTrip>("countedTrips") { Count(by: \.carrier) }
}

extension Digest {
  mutating func add(_ trip: Trip) {
    add(trip.carrier)
    add(trip.origin)
    add(trip.tail ?? "")
    add(Int64(trip.number))
    add(Int64(trip.delay ?? -1_000))
    add(Int64(trip.departure.timeIntervalSince1970))
    add(Int64(trip.distance * 2))
    add(Int64(trip.isLate ? 1 : 0))
  }
}
