// Questions to other than the present database, and what else takes a list of one.

import Cambium
import Testing

extension Shape {
  static let others: [Shape] = [
    Shape("snapshot") { database in
      let now = try database.snapshot()
      try check(now.query(Flight.self).with(\.carrier).fetch().count == 4)
    },
    Shape("the past") { database in
      let past = try database.snapshot(at: .sequence(database.head))
      try database.write { tx in _ = try tx.deleteAll(Flight.self) }
      try check(past.query(Flight.self).with(\.carrier).fetch().count == 4)
    },
    Shape("transaction") { database in
      try database.write { tx in
        try tx.insert(Flight(id: 5, carrier: "B6"))
        try check(tx.query(Flight.self).with(\.carrier).fetch().last?.1?.name == "JetBlue")
      }
    },
    Shape("delete by a query") { database in
      let deleted = try database.write { tx in
        try tx.delete(tx.query(Flight.self).where { $0.delay > 10 })
      }
      check(deleted == 2)
    },
    Shape("update") { database in
      try database.update(1 as Flight.ID) { $0.delay = 80 }
      try check(database.get(1 as Flight.ID).delay == 80)
    },
    Shape("find or create") { database in
      let found = try database.write { tx in
        try tx.findOrCreate(tx.query(Airline.self).where { $0.name == "United" }) {
          Airline(id: "XX", name: "United")
        }
      }
      check(found.id == "UA")
    },
    Shape("open for one model") { _ in
      let database = try Database.inMemory(for: Pilot.self)
      try database.insert(Pilot(id: "eve", name: "Eve"))
      try check(database.query(Pilot.self).ids() == ["eve"])
      try database.close()
    },
    Shape("a mask of one property") { database in
      let mask = InterchangeProfile.standard.only(Flight.self, \.delay)
      let flight = try database.get(1 as Flight.ID)
      try check(flight.json(mask) == #"{"delay":75,"id":1}"#)
    },
    Shape("a mask without one property") { database in
      let mask = InterchangeProfile.standard.except(Pilot.self, \.name)
      try check(database.get("ada" as Pilot.ID).json(mask) == #"{"id":"ada"}"#)
    },
    Shape("a listing by one") { _ in
      let store = try MemoryStore(for: Pilot.self)
      _ = try store.create(Pilot(id: "eve", name: "Eve"))
      try check(store.list(Listing<Pilot>().order(by: \.name)).map(\.id) == ["eve"])
    },
  ]
}
