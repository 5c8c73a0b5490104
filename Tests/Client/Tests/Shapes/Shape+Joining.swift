// Queries that put models beside each other.

import Cambium
import Testing

extension Shape {
  private static func carriers(_ database: Database) -> Joined<Flight, Airline> {
    database.query(Flight.self).join(Airline.self, on: \.carrier, \.id)
  }

  static let joined: [Shape] = [
    Shape("join one") { database in
      let rows = try carriers(database).fetch()
      check(rows.map { $0.1.name } == ["United", "United", "JetBlue"])
    },
    Shape("left join one") { database in
      let rows = try database.query(Flight.self)
        .leftJoin(Airline.self, on: \.carrier, \.id).fetch()
      check(rows.map { $0.1?.name } == ["United", "United", "JetBlue", nil])
    },
    Shape("join two") { database in
      let rows = try carriers(database).leftJoin(Airport.self, on: \.origin, \.id).fetch()
      check(rows.map { $0.2?.name } == ["Kennedy", "Logan", "Kennedy"])
    },
    Shape("join one, where and order") { database in
      let rows = try carriers(database)
        .where { flight, carrier in
          carrier.name == "United"; flight.distance > 0
        }
        .order { flight, _ in flight.distance.descending }
        .fetch()
      check(rows.map(\.0.id) == [2, 1])
    },
    Shape("join one, order by two") { database in
      let rows = try carriers(database)
        .order { flight, carrier in (carrier.name, flight.distance.descending) }.fetch()
      check(rows.map(\.0.id) == [3, 2, 1])
    },
    Shape("join one, first") { database in
      let row = try #require(try carriers(database).first())
      check(row.1.name == "United")
    },
    Shape("join one, count") { database in
      let count = try carriers(database).count()
      check(count == 3)
    },
    Shape("join one, exists") { database in
      let exists = try carriers(database).exists()
      check(exists)
    },
    Shape("join one, forEach") { database in
      var names: [String] = []
      try carriers(database).forEach { _, carrier in names.append(carrier.name) }
      check(names == ["United", "United", "JetBlue"])
    },
    Shape("join one, page") { database in
      let page = try carriers(database).limit(2).page()
      check(page.results.map { $0.1.name } == ["United", "United"] && page.next != nil)
    },
    Shape("join one, batches") { database in
      var counts: [Int] = []
      try carriers(database).batches(of: 2) { counts.append($0.count) }
      check(counts == [2, 1])
    },
    Shape("join one, select one") { database in
      let names = try carriers(database).select { _, carrier in carrier.name }.fetch()
      check(names == ["United", "United", "JetBlue"])
    },
    Shape("join one, select two") { database in
      let rows = try carriers(database)
        .select { flight, carrier in (flight.distance, carrier.name) }.fetch()
      check(rows.map(\.0) == [100, 200, 300] && rows[2].1 == "JetBlue")
    },
    Shape("join one, group by one") { database in
      let groups = try carriers(database).group { _, carrier in carrier.name }
        .select { flight, _ in flight.count }
      check(groups.map(\.0) == ["JetBlue", "United"] && groups.map(\.1) == [1, 2])
    },
    Shape("join one, group by two") { database in
      let groups = try carriers(database).group { flight, carrier in (carrier.name, flight.origin) }
        .select { flight, _ in (flight.count, flight.sum(flight.distance)) }
      check(groups.map(\.1) == [1, 1, 1] && groups.map(\.2) == [300, 200, 100])
    },
  ]
}
