@testable import Cambium

// Questions about several models at once, and about many of them.

extension FlightQuestions {
  /// Along references.
  @FlightQuestionBuilder static var references: [FlightQuestion] {
    FlightQuestion(
      #"flights where origin.name like "John%" | count"#,
      """
      SELECT count(*) FROM flights JOIN airports ON airports.id = origin
      WHERE airports.name GLOB 'John*'
      """
    ) { reader in
      [row(try reader.query(Flight.self).where { $0.origin.name.hasPrefix("John") }.count())]
    }
    FlightQuestion(
      "flights where tailnum.seats > 300 select id, tailnum.seats sort -tailnum.seats, id limit 20",
      """
      SELECT flights.id, seats FROM flights JOIN planes ON planes.id = tailnum WHERE seats > 300
      ORDER BY seats DESC, flights.id LIMIT 20
      """
    ) { reader in
      try reader.query(Flight.self).where { $0.plane.seats > 300 }
        .order(by: \.plane.seats.descending, \.id).limit(20).with(\.plane).fetch()
        .map { row($0.id, $1?.seats) }
    }
    FlightQuestion(
      #"flights where tailnum.manufacturer = "BOEING" and distance > 2000 | count"#,
      """
      SELECT count(*) FROM flights JOIN planes ON planes.id = tailnum
      WHERE manufacturer = 'BOEING' AND distance > 2000
      """
    ) { reader in
      let far = reader.query(Flight.self).where {
        $0.plane.manufacturer == "BOEING"
        $0.distance > 2000
      }
      return [row(try far.count())]
    }
    FlightQuestion(
      "flights where tailnum.seats is null | count",
      """
      SELECT count(*) FROM flights LEFT JOIN planes ON planes.id = tailnum WHERE seats IS NULL
      """
    ) { reader in
      [row(try reader.query(Flight.self).where { $0.plane.seats == nil }.count())]
    }
  }

  /// Against references: from a record to the records that refer to it.
  @FlightQuestionBuilder static var relations: [FlightQuestion] {
    FlightQuestion(
      "airports where flights by origin any (dep_delay > 120) select id, name",
      """
      SELECT id, name FROM airports
      WHERE EXISTS (SELECT 1 FROM flights WHERE origin = airports.id AND dep_delay > 120)
      """
    ) { reader in
      try rows(
        reader.query(Airport.self).where { $0.departures.any { $0.departureDelay > 120 } }
          .select(\.id, \.name).fetch())
    }
    FlightQuestion(
      "airports where flights by dest none (dep_delay > 0) select id",
      """
      SELECT id FROM airports
      WHERE NOT EXISTS (SELECT 1 FROM flights WHERE dest = airports.id AND dep_delay > 0)
      """
    ) { reader in
      try column(
        reader.query(Airport.self).where { $0.arrivals.none { $0.departureDelay > 0 } }.ids())
    }
    FlightQuestion(
      "airports where flights by dest all (distance < 1000) select id",
      """
      SELECT id FROM airports
      WHERE NOT EXISTS (
        SELECT 1 FROM flights WHERE dest = airports.id AND NOT coalesce(distance < 1000, 0))
      """
    ) { reader in
      column(try reader.query(Airport.self).where { $0.arrivals.all { $0.distance < 1000 } }.ids())
    }
    FlightQuestion(
      #"airlines where flights by carrier any (dest.name contains "Dallas") select id sort id"#,
      """
      SELECT id FROM airlines WHERE EXISTS (
        SELECT 1 FROM flights JOIN airports ON airports.id = dest
        WHERE carrier = airlines.id AND airports.name GLOB '*Dallas*')
      ORDER BY id
      """
    ) { reader in
      try column(
        reader.query(Airline.self)
          .where { $0.flights.any { $0.destination.name.contains("Dallas") } }
          .order(by: \.id).ids())
    }
  }

  /// Joins.
  @FlightQuestionBuilder static var joins: [FlightQuestion] {
    FlightQuestion(
      """
      flights join planes as p on tailnum = p.id where p.seats > 250
      select id, p.seats sort id limit 30
      """,
      """
      SELECT flights.id, seats FROM flights JOIN planes ON planes.id = tailnum WHERE seats > 250
      ORDER BY flights.id LIMIT 30
      """
    ) { reader in
      try reader.query(Flight.self).join(Plane.self, on: \.plane, \.id)
        .where { _, plane in plane.seats > 250 }
        .order(by: { flight, _ in flight.id }).limit(30).fetch()
        .map { row($0.id, $1.seats) }
    }
    FlightQuestion(
      """
      flights left join planes as p on tailnum = p.id where day = 1
      select id, p.model sort id limit 60
      """,
      """
      SELECT flights.id, model FROM flights LEFT JOIN planes ON planes.id = tailnum WHERE day = 1
      ORDER BY flights.id LIMIT 60
      """
    ) { reader in
      try reader.query(Flight.self).where { $0.day == 1 }
        .leftJoin(Plane.self, on: \.plane, \.id)
        .order(by: { flight, _ in flight.id }).limit(60).fetch()
        .map { row($0.id, $1?.model) }
    }
    FlightQuestion(
      """
      flights join weather as w on time_hour = w.time_hour
      where origin = w.origin and w.precip > 0 | count
      """,
      """
      SELECT count(*) FROM flights JOIN weather ON weather.time_hour = flights.time_hour
      WHERE flights.origin = weather.origin AND precip > 0
      """
    ) { reader in
      let wet = reader.query(Flight.self).join(Weather.self, on: \.time, \.time)
        .where { flight, weather in
          flight.origin == weather.origin
          weather.precipitation > 0
        }
      return [row(try wet.count())]
    }
  }

  /// Groups, with more to say.
  @FlightQuestionBuilder static var groups: [FlightQuestion] {
    FlightQuestion(
      "flights | group by carrier select count, avg(dep_delay), min(dep_delay), max(dep_delay)",
      """
      SELECT carrier, count(*), avg(dep_delay), min(dep_delay), max(dep_delay) FROM flights
      GROUP BY carrier
      """
    ) { reader in
      try rows(
        reader.query(Flight.self).group(by: \.carrier).select {
          (
            $0.count, $0.average($0.departureDelay), $0.minimum($0.departureDelay),
            $0.maximum($0.departureDelay)
          )
        })
    }
    FlightQuestion(
      "flights | group by origin, dest select count having count > 20 sort -count, origin, dest",
      """
      SELECT origin, dest, count(*) AS n FROM flights GROUP BY origin, dest HAVING n > 20
      ORDER BY n DESC, origin, dest
      """
    ) { reader in
      try reader.query(Flight.self).group(by: \.origin, \.destination).having { $0.count > 20 }
        .order { ($0.count.descending, $0.origin, $0.destination) }
        .select { $0.count }.map { row($0.0, $0.1, $1) }
    }
    FlightQuestion(
      "flights | group by hour(time_hour) select count, sum(distance)",
      """
      SELECT CAST(strftime('%H', time_hour / 1000000, 'unixepoch') AS INTEGER), count(*),
        sum(distance) FROM flights GROUP BY 1
      """
    ) { reader in
      try rows(
        reader.query(Flight.self).group(by: \.time.hour).select { ($0.count, $0.sum($0.distance)) })
    }
    FlightQuestion(
      """
      flights where dep_delay > 0
      | group by carrier.name select count sort -count, carrier.name limit 5
      """,
      """
      SELECT name, count(*) AS n FROM flights LEFT JOIN airlines ON airlines.id = carrier
      WHERE dep_delay > 0 GROUP BY name ORDER BY n DESC, name LIMIT 5
      """
    ) { reader in
      try rows(
        reader.query(Flight.self).where { $0.departureDelay > 0 }.group(by: \.carrier.name)
          .order { ($0.count.descending, $0.carrier.name) }.limit(5).select { $0.count })
    }
  }

  /// Figures, some of which a view keeps.
  @FlightQuestionBuilder static var aggregates: [FlightQuestion] {
    FlightQuestion(
      "weather | group by origin select avg(temp), min(humid), max(wind_speed)",
      "SELECT origin, avg(temp), min(humid), max(wind_speed) FROM weather GROUP BY origin"
    ) { reader in
      try rows(
        reader.query(Weather.self).group(by: \.origin).select {
          ($0.average($0.temperature), $0.minimum($0.humidity), $0.maximum($0.windSpeed))
        })
    }
    FlightQuestion(
      "flights | sum(distance), avg(air_time), count",
      "SELECT sum(distance), avg(air_time), count(*) FROM flights"
    ) { reader in
      let flights = reader.query(Flight.self)
      return try [row(flights.sum(\.distance), flights.average(\.airTime), flights.count())]
    }
    FlightQuestion(
      "weather | group by origin select count",
      "SELECT origin, count(*) FROM weather GROUP BY origin"
    ) { reader in
      try rows(reader.query(Weather.self).group(by: \.origin).select { $0.count })
    }
    FlightQuestion(
      #"weather where origin = "JFK" | min(time_hour), max(temp)"#,
      "SELECT min(time_hour), max(temp) FROM weather WHERE origin = 'JFK'"
    ) { reader in
      let weather = reader.query(Weather.self).where { $0.origin == "JFK" }
      return try [row(weather.minimum(\.time), weather.maximum(\.temperature))]
    }
  }

  /// Firsts, and what differs.
  @FlightQuestionBuilder static var firsts: [FlightQuestion] {
    FlightQuestion(
      "flights select id, arr_delay sort -arr_delay, id limit 10",
      "SELECT id, arr_delay FROM flights ORDER BY arr_delay DESC, id LIMIT 10"
    ) { reader in
      try rows(
        reader.query(Flight.self).order(by: \.arrivalDelay.descending, \.id).limit(10)
          .select(\.id, \.arrivalDelay).fetch())
    }
    FlightQuestion(
      "flights where arr_delay > 90 select id sort -arr_delay, id offset 3 limit 10",
      "SELECT id FROM flights WHERE arr_delay > 90 ORDER BY arr_delay DESC, id LIMIT 10 OFFSET 3"
    ) { reader in
      try column(
        reader.query(Flight.self).where { $0.arrivalDelay > 90 }
          .order(by: \.arrivalDelay.descending, \.id).limit(10, offset: 3).ids())
    }
    FlightQuestion(
      "flights select carrier distinct sort carrier",
      "SELECT DISTINCT carrier FROM flights ORDER BY 1"
    ) { reader in
      let flights = reader.query(Flight.self).order(by: \.carrier)
      let carriers = try flights.select(\.carrier).distinct().fetch()
      return column(carriers)
    }
    FlightQuestion(
      "flights select origin, dest distinct sort origin, dest limit 40 offset 5",
      "SELECT DISTINCT origin, dest FROM flights ORDER BY 1, 2 LIMIT 40 OFFSET 5"
    ) { reader in
      try rows(
        reader.query(Flight.self).order(by: \.origin, \.destination).limit(40, offset: 5)
          .select(\.origin, \.destination).distinct().fetch())
    }
    FlightQuestion(
      "weather where temp > 40 select id, temp sort -temp, id limit 20",
      "SELECT id, temp FROM weather WHERE temp > 40 ORDER BY temp DESC, id LIMIT 20"
    ) { reader in
      try rows(
        reader.query(Weather.self).where { $0.temperature > 40 }
          .order(by: \.temperature.descending, \.id).limit(20).select(\.id, \.temperature).fetch())
    }
  }
}
