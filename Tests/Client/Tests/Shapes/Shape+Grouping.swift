// Queries for groups of models and their figures.

import Cambium
import Testing

extension Shape {
  static let grouped: [Shape] = [
    Shape("group by one, one figure") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier).select { $0.count }
      check(groups.map(\.0) == [nil, "B6", "UA"] && groups.map(\.1) == [1, 1, 2])
    },
    Shape("group by one without a view") { database in
      let groups = try database.query(Flight.self).where { $0.distance > 0 }
        .group(by: \.carrier).select { $0.maximum($0.distance) }
      check(groups.map(\.1) == [400, 300, 200])
    },
    Shape("group by one, two figures") { database in
      let groups = try database.query(Flight.self).group(by: \.origin)
        .select { ($0.count, $0.average($0.delay)) }
      check(groups.map(\.1) == [1, 3])
      check(groups[1].2 == 100.0 / 3)
    },
    Shape("group by two") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier, \.origin)
        .select { $0.minimum($0.delay) }
      check(groups.map(\.1) == [20, 5, nil, 75])
      check(groups.map(\.0.1) == ["JFK", "JFK", "BOS", "JFK"])
    },
    Shape("group by three") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier, \.origin, \.delay)
        .select { $0.count }
      check(groups.count == 4)
    },
    Shape("group, having and order by one") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier).having { $0.count > 0 }
        .order { $0.sum($0.distance).descending }.limit(1).select { $0.sum($0.distance) }
      check(groups.map(\.1) == [400])
    },
    Shape("group, order by two") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier)
        .order { ($0.count.descending, $0.sum($0.distance)) }.select { $0.count }
      check(groups.map(\.0) == ["UA", "B6", nil])
    },
    Shape("aggregates, one") { database in
      let groups = try database.query(Flight.self).group(by: \.carrier).aggregates { $0.count }
        .fetch()
      check(groups.map(\.1) == [1, 1, 2])
    },
    Shape("aggregates, one, forEach") { database in
      var counts: [Int] = []
      try database.query(Flight.self).group(by: \.carrier).aggregates { $0.count }
        .forEach { _, count in counts.append(count) }
      check(counts == [1, 1, 2])
    },
    Shape("aggregates, two, forEach") { database in
      var sums: [Double?] = []
      try database.query(Flight.self).group(by: \.carrier)
        .aggregates { ($0.count, $0.sum($0.distance)) }.forEach { _, _, sum in sums.append(sum) }
      check(sums == [400, 300, 300])
    },
    Shape("aggregates, explain") { database in
      let words = try database.query(Flight.self).group(by: \.carrier).aggregates { $0.count }
        .explain()
      check(!words.isEmpty)
    },
  ]
}
