/// Questions about flights, each in Cambium's query language and in SQL.
///
/// Null is as in Swift here (`not (null > 0)` holds), so the SQL says that where it matters.
/// Results without an order are compared as sets.
enum FlightQuestions {
  static let all: [(query: String, sql: String)] = [
    // Filters
    ("flights where dep_delay > 60 | count", "SELECT count(*) FROM flights WHERE dep_delay > 60"),
    ("flights where dep_delay is null select id", "SELECT id FROM flights WHERE dep_delay IS NULL"),
    (
      "flights where not (dep_delay > 0) | count",
      "SELECT count(*) FROM flights WHERE NOT coalesce(dep_delay > 0, 0)"
    ),
    (
      "flights where dep_delay != 0 | count",
      "SELECT count(*) FROM flights WHERE dep_delay IS NOT 0"
    ),
    (
      "flights where dep_delay > arr_delay | count",
      "SELECT count(*) FROM flights WHERE dep_delay > arr_delay"
    ),
    (
      #"flights where origin = "JFK" and dest = "LAX" select id, flight"#,
      "SELECT id, flight FROM flights WHERE origin = 'JFK' AND dest = 'LAX'"
    ),
    (
      """
      flights where carrier = "UA" and dep_delay > 15 or carrier = "AA" and arr_delay > 15 | count
      """,
      """
      SELECT count(*) FROM flights
      WHERE carrier = 'UA' AND dep_delay > 15 OR carrier = 'AA' AND arr_delay > 15
      """
    ),
    (
      "flights where distance in (2475, 1400, 199) select id sort -distance, -id limit 25",
      """
      SELECT id FROM flights WHERE distance IN (2475, 1400, 199) ORDER BY distance DESC, id DESC
      LIMIT 25
      """
    ),
    (
      "flights where id in (1, 5, 900, 99999) select id, carrier",
      "SELECT id, carrier FROM flights WHERE id IN (1, 5, 900, 99999)"
    ),
    (
      "flights where id >= 100 and id < 120 select id",
      "SELECT id FROM flights WHERE id >= 100 AND id < 120"
    ),
    (
      "airports where alt between 500 and 1000 and lat > 40 select id, alt, lat sort alt, id",
      """
      SELECT id, alt, lat FROM airports WHERE alt BETWEEN 500 AND 1000 AND lat > 40
      ORDER BY alt, id
      """
    ),
    (
      "planes where year < 1995 or year is null select id, year sort year nulls last, id limit 30",
      """
      SELECT id, year FROM planes WHERE year < 1995 OR year IS NULL
      ORDER BY year IS NULL, year, id LIMIT 30
      """
    ),
    // Ranges of time
    (
      """
      flights where time_hour between date("2013-01-02T05:00:00Z") and date("2013-01-03T04:59:59Z")
      select id
      """,
      """
      SELECT id FROM flights
      WHERE time_hour BETWEEN 1357102800000000 AND 1357189199000000
      """
    ),
    (
      """
      flights where origin = "EWR" and time_hour > date("2013-01-05T20:00:00Z")
      select id sort -time_hour, id limit 40
      """,
      """
      SELECT id FROM flights WHERE origin = 'EWR' AND time_hour > 1357416000000000
      ORDER BY time_hour DESC, id LIMIT 40
      """
    ),
    (
      "flights where day(time_hour) = 5 and hour(time_hour) >= 20 | count",
      """
      SELECT count(*) FROM flights
      WHERE CAST(strftime('%d', time_hour / 1000000, 'unixepoch') AS INTEGER) = 5
        AND CAST(strftime('%H', time_hour / 1000000, 'unixepoch') AS INTEGER) >= 20
      """
    ),
    // Texts
    (
      #"planes where model prefix "737" | count"#,
      "SELECT count(*) FROM planes WHERE model GLOB '737*'"
    ),
    (
      #"planes where model suffix "LR" select id"#, "SELECT id FROM planes WHERE model GLOB '*LR'"
    ),
    (
      """
      planes where manufacturer = "BOEING" and model prefix "7" select id, model
      sort model, id limit 30
      """,
      """
      SELECT id, model FROM planes WHERE manufacturer = 'BOEING' AND model GLOB '7*'
      ORDER BY model, id LIMIT 30
      """
    ),
    (
      #"planes where model matches /^A3[12][0-9]/ | count"#,
      "SELECT count(*) FROM planes WHERE model GLOB 'A3[12][0-9]*'"
    ),
    (
      #"airports where name contains "intl" ignoring case | count"#,
      "SELECT count(*) FROM airports WHERE name LIKE '%intl%'"
    ),
    (
      #"airports where name like "%_n%" select id"#,
      "SELECT id FROM airports WHERE name GLOB '*?n*'"
    ),
    (
      "flights where count(tailnum) = 5 | count",
      "SELECT count(*) FROM flights WHERE length(tailnum) = 5"
    ),
    (
      #"flights where lowercased(carrier) = "ua" | count"#,
      "SELECT count(*) FROM flights WHERE lower(carrier) = 'ua'"
    ),
    // Along references
    (
      #"flights where origin.name like "John%" | count"#,
      """
      SELECT count(*) FROM flights JOIN airports ON airports.id = origin
      WHERE airports.name GLOB 'John*'
      """
    ),
    (
      "flights where tailnum.seats > 300 select id, tailnum.seats sort -tailnum.seats, id limit 20",
      """
      SELECT flights.id, seats FROM flights JOIN planes ON planes.id = tailnum WHERE seats > 300
      ORDER BY seats DESC, flights.id LIMIT 20
      """
    ),
    (
      #"flights where tailnum.manufacturer = "BOEING" and distance > 2000 | count"#,
      """
      SELECT count(*) FROM flights JOIN planes ON planes.id = tailnum
      WHERE manufacturer = 'BOEING' AND distance > 2000
      """
    ),
    (
      "flights where tailnum.seats is null | count",
      """
      SELECT count(*) FROM flights LEFT JOIN planes ON planes.id = tailnum WHERE seats IS NULL
      """
    ),
    (
      "airports where flights by origin any (dep_delay > 120) select id, name",
      """
      SELECT id, name FROM airports
      WHERE EXISTS (SELECT 1 FROM flights WHERE origin = airports.id AND dep_delay > 120)
      """
    ),
    (
      "airports where flights by dest none (dep_delay > 0) select id",
      """
      SELECT id FROM airports
      WHERE NOT EXISTS (SELECT 1 FROM flights WHERE dest = airports.id AND dep_delay > 0)
      """
    ),
    (
      "airports where flights by dest all (distance < 1000) select id",
      """
      SELECT id FROM airports
      WHERE NOT EXISTS (
        SELECT 1 FROM flights WHERE dest = airports.id AND NOT coalesce(distance < 1000, 0))
      """
    ),
    (
      #"airlines where flights by carrier any (dest.name contains "Dallas") select id sort id"#,
      """
      SELECT id FROM airlines WHERE EXISTS (
        SELECT 1 FROM flights JOIN airports ON airports.id = dest
        WHERE carrier = airlines.id AND airports.name GLOB '*Dallas*')
      ORDER BY id
      """
    ),
    // Joins
    (
      """
      flights join planes as p on tailnum = p.id where p.seats > 250
      select id, p.seats sort id limit 30
      """,
      """
      SELECT flights.id, seats FROM flights JOIN planes ON planes.id = tailnum WHERE seats > 250
      ORDER BY flights.id LIMIT 30
      """
    ),
    (
      """
      flights left join planes as p on tailnum = p.id where day = 1
      select id, p.model sort id limit 60
      """,
      """
      SELECT flights.id, model FROM flights LEFT JOIN planes ON planes.id = tailnum WHERE day = 1
      ORDER BY flights.id LIMIT 60
      """
    ),
    (
      """
      flights join weather as w on time_hour = w.time_hour
      where origin = w.origin and w.precip > 0 | count
      """,
      """
      SELECT count(*) FROM flights JOIN weather ON weather.time_hour = flights.time_hour
      WHERE flights.origin = weather.origin AND precip > 0
      """
    ),
    // Groups
    (
      "flights | group by carrier select count, avg(dep_delay), min(dep_delay), max(dep_delay)",
      """
      SELECT carrier, count(*), avg(dep_delay), min(dep_delay), max(dep_delay) FROM flights
      GROUP BY carrier
      """
    ),
    (
      "flights | group by origin, dest select count having count > 20 sort -count, origin, dest",
      """
      SELECT origin, dest, count(*) AS n FROM flights GROUP BY origin, dest HAVING n > 20
      ORDER BY n DESC, origin, dest
      """
    ),
    (
      "flights | group by hour(time_hour) select count, sum(distance)",
      """
      SELECT CAST(strftime('%H', time_hour / 1000000, 'unixepoch') AS INTEGER), count(*),
        sum(distance) FROM flights GROUP BY 1
      """
    ),
    (
      """
      flights where dep_delay > 0
      | group by carrier.name select count sort -count, carrier.name limit 5
      """,
      """
      SELECT name, count(*) AS n FROM flights LEFT JOIN airlines ON airlines.id = carrier
      WHERE dep_delay > 0 GROUP BY name ORDER BY n DESC, name LIMIT 5
      """
    ),
    (
      "weather | group by origin select avg(temp), min(humid), max(wind_speed)",
      "SELECT origin, avg(temp), min(humid), max(wind_speed) FROM weather GROUP BY origin"
    ),
    (
      "flights | sum(distance), avg(air_time), count",
      "SELECT sum(distance), avg(air_time), count(*) FROM flights"
    ),
    // Firsts, and what differs
    (
      "flights select id, arr_delay sort -arr_delay, id limit 10",
      "SELECT id, arr_delay FROM flights ORDER BY arr_delay DESC, id LIMIT 10"
    ),
    (
      "flights where arr_delay > 90 select id sort -arr_delay, id offset 3 limit 10",
      "SELECT id FROM flights WHERE arr_delay > 90 ORDER BY arr_delay DESC, id LIMIT 10 OFFSET 3"
    ),
    (
      "flights select carrier distinct sort carrier",
      "SELECT DISTINCT carrier FROM flights ORDER BY 1"
    ),
    (
      "flights select origin, dest distinct sort origin, dest limit 40 offset 5",
      "SELECT DISTINCT origin, dest FROM flights ORDER BY 1, 2 LIMIT 40 OFFSET 5"
    ),
    (
      "weather where temp > 40 select id, temp sort -temp, id limit 20",
      "SELECT id, temp FROM weather WHERE temp > 40 ORDER BY temp DESC, id LIMIT 20"
    ),
  ]
}
