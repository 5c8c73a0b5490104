// Goal: what is shown and what is embedded is what the profile says, cycles end, and many models
// are streamed. Method: a few people who know each other, and the texts by hand.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("References and masks in JSON")
struct InterchangeReferenceTests {
  private func withPeople(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Person.self, Airport.self)
      try database.write { tx in
        try tx.insert(Airport(id: "LHR", name: "Heathrow"))
        try tx.insert(
          Person(
            id: "ada", name: "Ada", age: 36, boss: "bob", friends: ["bob", "cy", "ghost"],
            home: .init(city: "London", airport: "LHR")))
        try tx.insert(Person(id: "bob", name: "Bob", boss: "bob", friends: ["ada"]))
        try tx.insert(Person(id: "cy", name: "Cy", boss: "ada"))
      }
      try body(database)
    }
  }

  @Test("are ids, or what they lead to, each record once")
  func embedding() throws {
    try withPeople { database in
      let ada = try database.get(Person.ID("ada"))
      let mask = InterchangeProfile.standard
        .except("home", "age", "boss.home", "friends.home", "boss.age", "boss.boss.home")
      #expect(
        try database.json(of: ada, mask)
          == #"{"boss":"bob","friends":["bob","cy","ghost"],"id":"ada","name":"Ada"}"#)
      #expect(
        try database.json(of: ada, mask.embedding(depth: 1))
          == #"{"boss":{"boss":"bob","friends":["ada"],"id":"bob","name":"Bob"},"#
          + #""friends":["bob",{"boss":"ada","friends":[],"id":"cy","name":"Cy"},"ghost"],"#
          + #""id":"ada","name":"Ada"}"#)
      // By itself a model does not know the others.
      #expect(try ada.json(mask.embedding(depth: 9)) == ada.json(mask))
      #expect(try database.json(of: ada, mask.embedding(depth: 0)) == ada.json(mask))
      let cy = try database.get(Person.ID("cy"))
      #expect(
        try database.json(of: cy, mask.embedding(depth: 9))
          == #"{"boss":{"boss":{"boss":"bob","friends":["ada"],"id":"bob","name":"Bob"},"#
          + #""friends":["bob","cy","ghost"],"id":"ada","name":"Ada"},"#
          + #""friends":[],"id":"cy","name":"Cy"}"#)
      for depth in 0...4 {
        let profile = InterchangeProfile.standard.embedding(depth: depth)
        for person in [ada, cy] {
          #expect(try Person(json: database.json(of: person, profile), profile) == person)
        }
      }
    }
  }

  @Test("have a form of their own where the profile gives one")
  func conversions() throws {
    struct NoAge: Error, CustomStringConvertible { let description = "no years" }
    try withPeople { database in
      let profile = InterchangeProfile.standard.only("age", "boss.age").embedding(depth: 1)
        .converting(Person.self, \.age) {
          .string("\($0) years")
        } back: { value in
          guard case .string(let text) = value, let age = Int(text.prefix { $0.isNumber }) else {
            throw NoAge()
          }
          return age
        }
        .converting(Person.self, \.boss.age) {
          .integer(Int64($0) * 12)
        } back: { _ in
          0
        }
      let cy = try database.get(Person.ID("cy"))
      let text = try database.json(of: cy, profile)
      #expect(text == #"{"boss":{"age":432,"id":"ada"},"id":"cy"}"#)
      let ada = try database.get(Person.ID("ada")).json(profile)
      #expect(ada == #"{"age":"36 years","boss":"bob","id":"ada"}"#)
      #expect(try Person(json: ada, profile).age == 36)
      #expect(try Person(json: #"{"age":null}"#, profile).age == nil)
      let wrong = #expect(throws: ValidationError.self) {
        try Person(json: #"{"age":"old"}"#, profile)
      }
      #expect(wrong?.messages == ["age cannot be read: no years"])
    }
  }

  @Test("and masks do not count what data names")
  func dictionaries() throws {
    let depot = Depot(stock: ["a.b[0]": .init(serialNo: 4, soldAt: Date(microseconds: 0))])
    let profile = InterchangeProfile.standard.only("stock.serialNo")
    #expect(try depot.json(profile) == #"{"stock":{"a.b[0]":{"serialNo":4}}}"#)
    #expect(try Depot(json: depot.json(profile), profile).stock["a.b[0]"]?.serialNo == 4)
    let error = #expect(throws: ValidationError.self) {
      try Depot(json: #"{"stock":{"x":{"serialNo":"4","soldAt":null}}}"#, profile)
    }
    #expect(
      error?.messages == [
        "stock.x.serialNo must be a whole number of 64 bits, not the text '4'",
        "stock.x.soldAt is not known",
      ])
  }

  @Test("lead to another type of the same name")
  func sameName() throws {
    try withDatabase { database in
      try database.register(Shop.Item.self, Yard.Item.self)
      try database.insert(Yard.Item(id: "oak", weight: 9))
      let table = Shop.Item(id: "table", price: 5, madeOf: "oak")
      #expect(
        try database.json(of: table, InterchangeProfile.standard.embedding(depth: 1))
          == #"{"id":"table","madeOf":{"id":"oak","weight":9},"price":5}"#)
    }
  }

  @Test("are shown as far as the mask says, through relations")
  func masks() throws {
    try withPeople { database in
      let ada = try database.get(Person.ID("ada"))
      let profile = InterchangeProfile.standard.embedding(depth: 2)
        .only(Person.self, \.name, \.boss.name, \.home.airport.name, \.home.airport.place.latitude)
      #expect(
        try database.json(of: ada, profile)
          == #"{"boss":{"id":"bob","name":"Bob"},"#
          + #""home":{"airport":{"id":"LHR","name":"Heathrow","place":{"latitude":0.0}}},"#
          + #""id":"ada","name":"Ada"}"#)
      #expect(
        profile.shown?.map { $0.joined(separator: ".") }
          == ["name", "boss.name", "home.airport.name", "home.airport.place.latitude"])
      #expect(
        try ada.json(InterchangeProfile.standard.only(Person.self, \.home))
          == #"{"home":{"airport":"LHR","city":"London"},"id":"ada"}"#)
      #expect(
        try ada.json(InterchangeProfile.standard.only("home").except("id", "home.city"))
          == #"{"home":{"airport":"LHR"}}"#)
      #expect(
        try ada.dictionary(
          InterchangeProfile.standard.except(Person.self, \.home, \.friends, \.id, \.boss))
          == ["name": "Ada", "age": 36])
    }
  }

  @Test("are streamed from one moment, as an array or in lines")
  func streaming() throws {
    try withPeople { database in
      let profile = InterchangeProfile.standard.only("name")
      let query = database.query(Person.self).order(by: \.name.descending)
      #expect(
        try query.json(.array, profile)
          == """
          [{"id":"cy","name":"Cy"},
          {"id":"bob","name":"Bob"},
          {"id":"ada","name":"Ada"}]

          """)
      #expect(try query.limit(0).json() == "[]\n")
      #expect(
        try query.limit(1).json(.lines, profile.embedding(depth: 1))
          == "{\"id\":\"cy\",\"name\":\"Cy\"}\n")
      try database.write { tx in
        for number in 0..<5000 {
          try tx.insert(Person(id: .init("p\(number)"), name: String(repeating: "x", count: 50)))
        }
      }
      var pieces: [Int] = []
      var text: [UInt8] = []
      try database.query(Person.self).writeJSON(.lines) {
        pieces.append($0.count)
        text += $0
        // A record written meanwhile is of another moment, and not part of the output.
        try database.insert(Person(id: .init("q\(pieces.count)")))
      }
      #expect(pieces.count > 3 && pieces.allSatisfy { $0 < 70_000 })
      #expect(text.count { $0 == 0x0A } == 5003)
    }
  }
}
