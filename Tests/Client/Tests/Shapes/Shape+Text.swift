// Queries as text, and records without a type.

import Cambium
import Testing

extension Shape {
  static let text: [Shape] = [
    Shape("text") { database in
      let late = try database.records(
        "flights where delay > $1 and origin.name = $2", 10, "Kennedy")
      try check(late.fetch().map { try $0["delay", as: Int.self] } == [75, 20])
    },
    Shape("text, forEach") { database in
      var count = 0
      try database.records("flights").forEach { _ in count += 1 }
      check(count == 4)
    },
    Shape("text, page") { database in
      let page = try database.records("flights limit 3").page()
      check(page.results.count == 3 && page.next != nil)
    },
    Shape("text, count") { try check($0.records("flights where delay > 10").count() == 2) },
    Shape("text, properties") { database in
      let properties = try database.records("flights select delay, distance").properties()
      check(properties.map(\.name) == ["delay", "distance"])
    },
    Shape("text, groups") { database in
      let groups = try database.records("flights | group by carrier select count").fetch()
      try check(groups.map { try $0["count", as: Int.self] } == [1, 1, 2])
    },
    Shape("text, join") { database in
      let rows = try database.records("flights join airlines as a on carrier = a.id select a.name")
      try check(rows.fetch().count == 3)
    },
    Shape("text, explain") { try check(!$0.records("flights").explain().isEmpty) },
    Shape("text in a typed query") { database in
      let condition = try Condition(parsing: "delay > $1", 10)
      try check(database.query(Flight.self).matching(condition).ids() == [1, 4])
    },
    Shape("dynamic record") { database in
      let record = try database.read { try $0["flights/1"].record }
      try check(record?["remark", as: String.self] == "Late for snow")
    },
  ]
}
