import Cambium
import FoundationEssentials

/// A week of nycflights13 as five models. Everything is optional, as in the original, where `NA`
/// stands for what is not known; its names are those of the records.
enum Flights {
  struct Airline: Cambium.Model {
    typealias Key = String
    var id = ID()
    var name: String?
    var flights: Many<Flight> { many(\.carrier) }

    static let schema = ModelSchema<Airline>("airlines")
  }

  struct Airport: Cambium.Model {
    typealias Key = String
    var id = ID()
    var name: String?
    var latitude: Double?
    var longitude: Double?
    var altitude: Int?
    var zone: Int?
    var daylightSaving: String?
    var zoneName: String?
    var departures: Many<Flight> { many(\.origin) }
    var arrivals: Many<Flight> { many(\.destination) }

    static let schema = ModelSchema<Airport>("airports") {
      Property(\.latitude, name: "lat")
      Property(\.longitude, name: "lon")
      Property(\.altitude, name: "alt")
      Property(\.zone, name: "tz")
      Property(\.daylightSaving, name: "dst")
      Property(\.zoneName, name: "tzone")
      Index(\.name.ignoringCase)
      TextIndex(\.name)
    }
  }

  struct Plane: Cambium.Model {
    typealias Key = String
    var id = ID()
    var year: Int?
    var type: String?
    var manufacturer: String?
    var model: String?
    var engines: Int?
    var seats: Int?
    var speed: Int?
    var engine: String?

    static let schema = ModelSchema<Plane>("planes") { Index(\.manufacturer, \.model) }
  }

  struct Weather: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var origin: Airport.ID?
    var year: Int?
    var month: Int?
    var day: Int?
    var hour: Int?
    var temperature: Double?
    var dewPoint: Double?
    var humidity: Double?
    var windDirection: Int?
    var windSpeed: Double?
    var windGust: Double?
    var precipitation: Double?
    var pressure: Double?
    var visibility: Double?
    var time: Date?

    static let schema = ModelSchema<Weather>("weather") {
      Property(\.temperature, name: "temp")
      Property(\.dewPoint, name: "dewp")
      Property(\.humidity, name: "humid")
      Property(\.windDirection, name: "wind_dir")
      Property(\.windSpeed, name: "wind_speed")
      Property(\.windGust, name: "wind_gust")
      Property(\.precipitation, name: "precip")
      Property(\.visibility, name: "visib")
      Property(\.time, name: "time_hour")
      Count(by: \.origin)
    }
  }

  struct Flight: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var year: Int?
    var month: Int?
    var day: Int?
    var departure: Int?
    var scheduledDeparture: Int?
    var departureDelay: Int?
    var arrival: Int?
    var scheduledArrival: Int?
    var arrivalDelay: Int?
    var carrier: Airline.ID?
    var number: Int?
    var plane: Plane.ID?
    var origin: Airport.ID?
    var destination: Airport.ID?
    var airTime: Int?
    var distance: Int?
    var hour: Int?
    var minute: Int?
    var time: Date?

    static let schema = ModelSchema<Flight>("flights") {
      Property(\.departure, name: "dep_time")
      Property(\.scheduledDeparture, name: "sched_dep_time")
      Property(\.departureDelay, name: "dep_delay")
      Property(\.arrival, name: "arr_time")
      Property(\.scheduledArrival, name: "sched_arr_time")
      Property(\.arrivalDelay, name: "arr_delay")
      Property(\.number, name: "flight")
      Property(\.plane, name: "tailnum")
      Property(\.destination, name: "dest")
      Property(\.airTime, name: "air_time")
      Property(\.time, name: "time_hour")
      Index(\.origin, \.time.descending)
      Index(\.departureDelay).covering(\.carrier)
      Index(\.arrivalDelay.descending).where { $0.arrivalDelay > 60 }
      Index(\.distance)
    }
  }
}
