// Queries whose models come with what is related to them.

import Cambium
import Testing

extension Shape {
  static let loading: [Shape] = [
    Shape("with one reference") { database in
      let rows = try database.query(Flight.self).with(\.carrier).fetch()
      check(rows.map { $0.1?.name } == ["United", "United", "JetBlue", nil])
    },
    Shape("with one array") { database in
      let rows = try database.query(Flight.self).with(\.crew).fetch()
      check(rows.map { $0.1.map(\.name) } == [["Bob", "Ada"], ["Ada"], [], []])
    },
    Shape("with one dictionary") { database in
      let rows = try database.query(Flight.self).with(\.seats).fetch()
      check(rows.map { $0.1.map(\.name) } == [["Ada"], [], [], []])
    },
    Shape("with one many") { database in
      let rows = try database.query(Airline.self).with(\.flights).fetch()
      check(rows.map { $0.1.map(\.id) } == [[3], [1, 2]])
    },
    Shape("with one behind a reference") { database in
      let rows = try database.query(Flight.self).with(\.carrier.flights).fetch()
      check(rows.map { $0.1.map(\.id) } == [[1, 2], [1, 2], [3], []])
    },
    Shape("with two") { database in
      let rows = try database.query(Flight.self).with(\.carrier, \.crew).fetch()
      check(rows.map { $0.1?.name } == ["United", "United", "JetBlue", nil])
      check(rows.map { $0.2.count } == [2, 1, 0, 0])
    },
    Shape("with one, first") { database in
      let row = try #require(try database.query(Flight.self).with(\.origin).first())
      check(row.1?.name == "Kennedy")
    },
    Shape("with one, forEach") { database in
      var names: [String] = []
      try database.query(Flight.self).with(\.origin).forEach { _, origin in
        names.append(origin?.name ?? "")
      }
      check(names == ["Kennedy", "Logan", "Kennedy", "Kennedy"])
    },
    Shape("with two, forEach") { database in
      var names: [String] = []
      try database.query(Flight.self).with(\.origin, \.carrier).forEach { _, origin, carrier in
        names.append((carrier?.name ?? "") + (origin?.name ?? ""))
      }
      check(names == ["UnitedKennedy", "UnitedLogan", "JetBlueKennedy", "Kennedy"])
    },
    Shape("with one, page") { database in
      let page = try database.query(Flight.self).limit(2).with(\.origin).page()
      check(page.results.map { $0.1?.name } == ["Kennedy", "Logan"] && page.next != nil)
    },
    Shape("with one, batches") { database in
      var names: [String?] = []
      try database.query(Flight.self).with(\.origin).batches(of: 3) { batch in
        names += batch.map { $0.1?.name }
      }
      check(names == ["Kennedy", "Logan", "Kennedy", "Kennedy"])
    },
    Shape("with one, explain") { database in
      let words = try database.query(Flight.self).with(\.origin).explain()
      check(words.contains("load airports by origin"))
    },
  ]
}
