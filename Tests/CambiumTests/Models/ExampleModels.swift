// The models that the tests use: the flights of the documentation, and one with a property of every
// kind.

import Cambium
import FoundationEssentials

struct Airline: Cambium.Model, Equatable {
  typealias Key = String
  var id = ID()
  var name = ""
  var flights: Many<Flight> { many(\.carrier) }

  static let schema = ModelSchema<Airline>("airlines") {
    Property(\.name).validated("must not be empty") { !$0.isEmpty }
  }
}

struct Airport: Cambium.Model, Equatable {
  typealias Key = String
  var id = ID()
  var name = ""
  var place = Place()
  var departures: Many<Flight> { many(\.origin) }

  struct Place: Nested { var latitude = 0.0, longitude = 0.0 }

  static let schema = ModelSchema<Airport>("airports") { Index(\.place.latitude) }
}

struct Flight: Cambium.Model, Equatable {
  var id = ID()
  var carrier: Airline.ID?
  var origin: Airport.ID?
  var number = 0
  var departureDelay: Int?
  var scheduled = Date.distantPast
  var status = Status.scheduled
  var crew: [String] = []

  enum Status: String, RawProperty { case scheduled, departed, cancelled }

  static let schema = ModelSchema<Flight>("flights") {
    Property(\.carrier).onDelete(.nullify).mustExist(false)
    Property(\.origin).onDelete(.deny).mustExist(false).required()
    Property(\.number).validated("must be positive") { $0 > 0 }
    Property(\.departureDelay).was("delay")
    Index(\.origin, \.scheduled.descending)
    Unique(\.carrier, \.number, \.scheduled)
    Count(by: \.carrier)
  }
}

enum Outcome: UnionProperty {
  case onTime, late(Int), diverted(Airport.ID)

  static let cases = Cases<Outcome>(
    Case("onTime", .onTime),
    Case("late", Outcome.late) { if case .late(let minutes) = $0 { minutes } else { nil } },
    Case("diverted", Outcome.diverted) { if case .diverted(let to) = $0 { to } else { nil } })
}

/// A nested value with all that one can have: several levels, with every kind of table entry.
struct Inner: Nested {
  var flag = false
  var text: String?
  var mood: String? = "calm"
  var deeper = Deeper()
  var last: UInt8 = 0

  struct Deeper: Nested {
    var one: UInt8 = 1
    var two: UUID?
  }
}

struct Settings: CodableProperty {
  var theme = "dark"
  var sizes: [Int] = [1, 2]
}

enum Level: Int, RawProperty { case low, middle, high }

/// A property of every kind, with every width in between, so that a wrong place is found.
struct Everything: Cambium.Model, Equatable {
  var id = ID()
  var bool = false
  var boolOrNil: Bool?
  var int8: Int8 = 0
  var int16OrNil: Int16?
  var int32: Int32 = 0
  var int64: Int64 = 0
  var int64OrNil: Int64?
  var int = 0
  var intOrNil: Int?
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32OrNil: UInt32?
  var uint64: UInt64 = 0
  var uint: UInt = 0
  var float: Float = 0
  var floatOrNil: Float?
  var double = 0.0
  var doubleOrNil: Double?
  var string = ""
  var stringOrNil: String?
  var date = Date(timeIntervalSince1970: 0)
  var dateOrNil: Date?
  var uuid = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var uuidOrNil: UUID?
  var data = Data()
  var dataOrNil: Data?
  var decimal = Decimal(0)
  var decimalOrNil: Decimal?
  var urlOrNil: URL?
  var blobOrNil: Blob?
  var anything = Value.null
  var level = Level.low
  var statusOrNil: Flight.Status?
  var outcome = Outcome.onTime
  var outcomeOrNil: Outcome?
  var inner = Inner()
  var innerOrNil: Inner?
  var inners: [Inner] = []
  var texts: [String] = []
  var textsOrNil: [String]?
  var numbers: [Int?] = []
  var tags: Set<String> = []
  var scores: [String: Double] = [:]
  var seats: [Airport.ID: Int] = [:]
  var airline: Airline.ID?
  var twin = Everything.ID()
  var airports: [Airport.ID] = []
  var settings = Settings()
  var nilByDefault: Int? = 7
  var elided = 3

  static let schema = ModelSchema<Everything>("everything") {
    Property(\.elided).defaultOnEmpty()
  }
}
