import FoundationEssentials

@testable import Cambium

/// Questions about flights, each in Cambium's query language, in SQL and in Swift.
///
/// Null is as in Swift here (`not (null > 0)` holds), so the SQL says that where it matters.
/// Results without an order are compared as sets.
///
/// Two questions are put to whole models with `filter`, since the typed conditions ask nothing of a
/// reference's key but which one it is: the length of a tail number, and a carrier in lower case.
enum FlightQuestions {
  typealias Airline = Flights.Airline
  typealias Airport = Flights.Airport
  typealias Plane = Flights.Plane
  typealias Weather = Flights.Weather
  typealias Flight = Flights.Flight

  static let all = [
    filters, ranges, times, texts, references, relations, joins, groups, aggregates, firsts,
  ].flatMap(\.self)

  /// An hour of January 2013, in UTC.
  private static func january(_ day: Int, at hour: Int) -> Date {
    Date(timeIntervalSince1970: 1_356_998_400 + Double((day - 1) * 24 + hour) * 3600)
  }

  /// Filters.
  @FlightQuestionBuilder static var filters: [FlightQuestion] {
    FlightQuestion(
      "flights where dep_delay > 60 | count", "SELECT count(*) FROM flights WHERE dep_delay > 60"
    ) { reader in
      [row(try reader.query(Flight.self).where { $0.departureDelay > 60 }.count())]
    }
    FlightQuestion(
      "flights where dep_delay is null select id", "SELECT id FROM flights WHERE dep_delay IS NULL"
    ) { reader in
      column(try reader.query(Flight.self).where { $0.departureDelay == nil }.ids())
    }
    FlightQuestion(
      "flights where not (dep_delay > 0) | count",
      "SELECT count(*) FROM flights WHERE NOT coalesce(dep_delay > 0, 0)"
    ) { reader in
      [row(try reader.query(Flight.self).where { !($0.departureDelay > 0) }.count())]
    }
    FlightQuestion(
      "flights where dep_delay != 0 | count",
      "SELECT count(*) FROM flights WHERE dep_delay IS NOT 0"
    ) { reader in
      [row(try reader.query(Flight.self).where { $0.departureDelay != 0 }.count())]
    }
    FlightQuestion(
      "flights where dep_delay > arr_delay | count",
      "SELECT count(*) FROM flights WHERE dep_delay > arr_delay"
    ) { reader in
      [row(try reader.query(Flight.self).where { $0.departureDelay > $0.arrivalDelay }.count())]
    }
    FlightQuestion(
      #"flights where origin = "JFK" and dest = "LAX" select id, flight"#,
      "SELECT id, flight FROM flights WHERE origin = 'JFK' AND dest = 'LAX'"
    ) { reader in
      try rows(
        reader.query(Flight.self).where {
          $0.origin == "JFK"
          $0.destination == "LAX"
        }
        .select(\.id, \.number).fetch())
    }
    FlightQuestion(
      """
      flights where carrier = "UA" and dep_delay > 15 or carrier = "AA" and arr_delay > 15 | count
      """,
      """
      SELECT count(*) FROM flights
      WHERE carrier = 'UA' AND dep_delay > 15 OR carrier = 'AA' AND arr_delay > 15
      """
    ) { reader in
      let late = reader.query(Flight.self).where {
        $0.carrier == "UA" && $0.departureDelay > 15 || $0.carrier == "AA" && $0.arrivalDelay > 15
      }
      return [row(try late.count())]
    }
  }

  /// Ranges, and one of several.
  @FlightQuestionBuilder static var ranges: [FlightQuestion] {
    FlightQuestion(
      "flights where distance in (2475, 1400, 199) select id sort -distance, -id limit 25",
      """
      SELECT id FROM flights WHERE distance IN (2475, 1400, 199) ORDER BY distance DESC, id DESC
      LIMIT 25
      """
    ) { reader in
      try column(
        reader.query(Flight.self).where { $0.distance.in([2475, 1400, 199]) }
          .order(by: \.distance.descending, \.id.descending).limit(25).ids())
    }
    FlightQuestion(
      "flights where id in (1, 5, 900, 99999) select id, carrier",
      "SELECT id, carrier FROM flights WHERE id IN (1, 5, 900, 99999)"
    ) { reader in
      try rows(
        reader.query(Flight.self).where { $0.id.in([1, 5, 900, 99999]) }
          .select(\.id, \.carrier).fetch())
    }
    FlightQuestion(
      "flights where id >= 100 and id < 120 select id",
      "SELECT id FROM flights WHERE id >= 100 AND id < 120"
    ) { reader in
      try column(reader.query(Flight.self).where { $0.id.in(100..<120) }.fetch().map(\.id))
    }
    FlightQuestion(
      "airports where alt between 500 and 1000 and lat > 40 select id, alt, lat sort alt, id",
      """
      SELECT id, alt, lat FROM airports WHERE alt BETWEEN 500 AND 1000 AND lat > 40
      ORDER BY alt, id
      """
    ) { reader in
      let high = reader.query(Airport.self).where {
        $0.altitude.in(500...1000)
        $0.latitude > 40
      }
      .order(by: \.altitude, \.id)
      return try paged(high, by: 4).map { row($0.id, $0.altitude, $0.latitude) }
    }
    FlightQuestion(
      "planes where year < 1995 or year is null select id, year sort year nulls last, id limit 30",
      """
      SELECT id, year FROM planes WHERE year < 1995 OR year IS NULL
      ORDER BY year IS NULL, year, id LIMIT 30
      """
    ) { reader in
      try rows(
        reader.query(Plane.self).where { $0.year < 1995 || $0.year == nil }
          .order(by: \.year.nullsLast, \.id).limit(30).select(\.id, \.year).fetch())
    }
  }

  /// Ranges of time.
  @FlightQuestionBuilder static var times: [FlightQuestion] {
    FlightQuestion(
      """
      flights where time_hour between date("2013-01-02T05:00:00Z") and date("2013-01-03T04:59:59Z")
      select id
      """,
      """
      SELECT id FROM flights
      WHERE time_hour BETWEEN 1357102800000000 AND 1357189199000000
      """
    ) { reader in
      try column(
        reader.query(Flight.self).where { $0.time.in(january(2, at: 5)..<january(3, at: 5)) }.ids())
    }
    FlightQuestion(
      """
      flights where origin = "EWR" and time_hour > date("2013-01-05T20:00:00Z")
      select id sort -time_hour, id limit 40
      """,
      """
      SELECT id FROM flights WHERE origin = 'EWR' AND time_hour > 1357416000000000
      ORDER BY time_hour DESC, id LIMIT 40
      """
    ) { reader in
      try column(
        reader.query(Flight.self).where {
          $0.origin == "EWR"
          $0.time > january(5, at: 20)
        }
        .order(by: \.time.descending, \.id).limit(40).ids())
    }
    FlightQuestion(
      "flights where day(time_hour) = 5 and hour(time_hour) >= 20 | count",
      """
      SELECT count(*) FROM flights
      WHERE CAST(strftime('%d', time_hour / 1000000, 'unixepoch') AS INTEGER) = 5
        AND CAST(strftime('%H', time_hour / 1000000, 'unixepoch') AS INTEGER) >= 20
      """
    ) { reader in
      [
        row(
          try reader.query(Flight.self).where {
            $0.time.day == 5
            $0.time.hour >= 20
          }.count())
      ]
    }
  }

  /// Texts.
  @FlightQuestionBuilder static var texts: [FlightQuestion] {
    FlightQuestion(
      #"planes where model prefix "737" | count"#,
      "SELECT count(*) FROM planes WHERE model GLOB '737*'"
    ) { reader in
      [row(try reader.query(Plane.self).where { $0.model.hasPrefix("737") }.count())]
    }
    FlightQuestion(
      #"planes where model suffix "LR" select id"#, "SELECT id FROM planes WHERE model GLOB '*LR'"
    ) { reader in
      column(try reader.query(Plane.self).where { $0.model.hasSuffix("LR") }.ids())
    }
    FlightQuestion(
      """
      planes where manufacturer = "BOEING" and model prefix "7" select id, model
      sort model, id limit 30
      """,
      """
      SELECT id, model FROM planes WHERE manufacturer = 'BOEING' AND model GLOB '7*'
      ORDER BY model, id LIMIT 30
      """
    ) { reader in
      try reader.query(Plane.self).where {
        $0.manufacturer == "BOEING"
        $0.model.hasPrefix("7")
      }
      .order(by: \.model, \.id).limit(30).fetch().map { row($0.id, $0.model) }
    }
    FlightQuestion(
      #"planes where model matches /^A3[12][0-9]/ | count"#,
      "SELECT count(*) FROM planes WHERE model GLOB 'A3[12][0-9]*'"
    ) { reader in
      [row(try reader.query(Plane.self).where { $0.model.matches("^A3[12][0-9]") }.count())]
    }
    FlightQuestion(
      #"airports where name contains "intl" ignoring case | count"#,
      "SELECT count(*) FROM airports WHERE name LIKE '%intl%'"
    ) { reader in
      [
        row(
          try reader.query(Airport.self).where { $0.name.contains("intl", .ignoringCase) }.count())
      ]
    }
    FlightQuestion(
      #"airports where name like "%_n%" select id"#,
      "SELECT id FROM airports WHERE name GLOB '*?n*'"
    ) { reader in
      column(try reader.query(Airport.self).where { $0.name.matches(".n") }.ids())
    }
    FlightQuestion(
      "flights where count(tailnum) = 5 | count",
      "SELECT count(*) FROM flights WHERE length(tailnum) = 5"
    ) { reader in
      [row(try reader.query(Flight.self).filter { $0.plane?.key.count == 5 }.count())]
    }
    FlightQuestion(
      #"flights where lowercased(carrier) = "ua" | count"#,
      "SELECT count(*) FROM flights WHERE lower(carrier) = 'ua'"
    ) { reader in
      [row(try reader.query(Flight.self).filter { $0.carrier?.key.lowercased() == "ua" }.count())]
    }
    FlightQuestion(
      #"airports where name contains "Metro" select id"#,
      "SELECT id FROM airports WHERE name GLOB '*Metro*'"
    ) { reader in
      try reader.search("airports", for: TextQuery(parsing: "metro*"), limit: 100)
        .map { row($0.key.description) }
    }
  }
}
