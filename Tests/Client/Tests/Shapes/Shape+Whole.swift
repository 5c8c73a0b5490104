// Queries for whole models.

import Cambium
import Testing

extension Shape {
  static let whole: [Shape] = [
    Shape("fetch") { try check($0.query(Flight.self).fetch().map(\.id) == [1, 2, 3, 4]) },
    Shape("all") { try check($0.all(Flight.self).fetch().count == 4) },
    Shape("where") { database in
      let late = database.query(Flight.self).where {
        $0.delay > 10; $0.origin.name == "Kennedy"
      }
      try check(late.fetch().map(\.id) == [1, 4])
    },
    Shape("where any") { database in
      let busy = database.query(Airline.self).where { $0.flights.any { $0.delay > 60 } }
      try check(busy.ids() == ["UA"])
    },
    Shape("first") { try check($0.query(Flight.self).first()?.id == 1) },
    Shape("count") { try check($0.query(Flight.self).count() == 4) },
    Shape("exists") { try check($0.query(Flight.self).exists()) },
    Shape("ids") { try check($0.query(Flight.self).where { $0.delay > 60 }.ids() == [1]) },
    Shape("order by one") { database in
      let flights = database.query(Flight.self).order(by: \.distance.descending)
      try check(flights.ids() == [4, 3, 2, 1])
    },
    Shape("order by two") { database in
      let flights = database.query(Flight.self).order(by: \.origin, \.distance.descending)
      try check(flights.ids() == [2, 4, 3, 1])
    },
    Shape("forEach") { database in
      var sum = 0.0
      try database.query(Flight.self).forEach { sum += $0.distance }
      check(sum == 1000)
    },
    Shape("page") { database in
      let flights = database.query(Flight.self).limit(3)
      let page = try flights.page()
      check(page.results.map(\.id) == [1, 2, 3])
      try check(flights.after(page.next).fetch().map(\.id) == [4])
    },
    Shape("batches") { database in
      var counts: [Int] = []
      try database.query(Flight.self).batches(of: 3) { counts.append($0.count) }
      check(counts == [3, 1])
    },
    Shape("filter") { database in
      try check(database.query(Flight.self).filter { $0.crew.count > 1 }.fetch().count == 1)
    },
    Shape("explain") { try check(!$0.query(Flight.self).explain().isEmpty) },
    Shape("many") { database in
      let united = try database.get("UA" as Airline.ID)
      try check(database.related(united.flights).ids() == [1, 2])
    },
    Shape("near") { database in
      let here = Coordinate(latitude: 40.6, longitude: -73.7)
      check(
        try database.query(Airport.self).near(\.place, to: here, within: 20_000).ids() == ["JFK"])
    },
    Shape("search") { database in
      try check(database.query(Flight.self).search("snow").count == 2)
    },
    Shape("search in one") { database in
      let found = try database.query(Flight.self).search("late", in: \.remark)
      check(found.map(\.model.id) == [1])
      try check(found.first?.snippet(of: \.remark).text == "Late for snow")
    },
    Shape("sum") { try check($0.query(Flight.self).sum(\.distance) == 1000) },
    Shape("average") { try check($0.query(Flight.self).average(\.distance) == 250) },
    Shape("minimum") { database in
      let delay = try database.query(Flight.self).minimum(\.delay)
      check(delay == 5)
    },
    Shape("maximum") { database in
      let delay = try database.query(Flight.self).maximum(\.delay)
      check(delay == 75)
    },
    Shape("top") { database in
      let late = database.query(Flight.self).where { $0.carrier == "UA" }
      try check(late.order(by: \.delay.descending).limit(1).ids() == [1])
    },
  ]
}
