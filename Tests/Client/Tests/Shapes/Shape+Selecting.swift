// Queries for some properties of models.

import Cambium
import Testing

extension Shape {
  static let selected: [Shape] = [
    Shape("select one") { database in
      try check(database.query(Flight.self).select(\.distance).fetch() == [100, 200, 300, 400])
    },
    Shape("select one behind a reference") { database in
      let names = try database.query(Flight.self).select(\.origin.name.orNil).fetch()
      check(names == ["Kennedy", "Logan", "Kennedy", "Kennedy"])
    },
    Shape("select two") { database in
      let rows = try database.query(Flight.self).select(\.delay, \.carrier).fetch()
      check(rows.map(\.0) == [75, nil, 5, 20] && rows.map(\.1) == ["UA", "UA", "B6", nil])
    },
    Shape("select one, distinct") { database in
      let origins = try database.query(Flight.self).select(\.origin).distinct().fetch()
      check(Set(origins) == ["BOS", "JFK"] && origins.count == 2)
    },
    Shape("select one, first") { database in
      let distance: Double? = try database.query(Flight.self).select(\.distance).first()
      check(distance == 100)
    },
    Shape("select one, count") { database in
      try check(database.query(Flight.self).select(\.distance).count() == 4)
    },
    Shape("select one, forEach") { database in
      var sum = 0.0
      try database.query(Flight.self).select(\.distance).forEach { sum += $0 }
      check(sum == 1000)
    },
    Shape("select one, page") { database in
      let page = try database.query(Flight.self).limit(3).select(\.distance).page()
      check(page.results == [100, 200, 300] && page.next != nil)
    },
    Shape("select one, batches") { database in
      var counts: [Int] = []
      try database.query(Flight.self).select(\.distance).batches(of: 3) { counts.append($0.count) }
      check(counts == [3, 1])
    },
    Shape("select two, forEach") { database in
      var late: [Int] = []
      try database.query(Flight.self).select(\.delay, \.distance).forEach { delay, distance in
        if distance > 200 { late.append(delay ?? 0) }
      }
      check(late == [5, 20])
    },
  ]
}
