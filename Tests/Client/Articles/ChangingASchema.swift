// The code of the article on changing a schema, with the app's former version before it.

import Cambium
import Scratch
import Testing

@Suite("ChangingASchema.md")
struct ChangingASchemaTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        try Former.write()
        try Self.checkDefault()
        try Self.migrate()
      }
    }
  }

  private enum Former {
    struct Trip: Model {
      var id = ID()
      var delay: Int?
      var number = ""
      var first = ""
      var last = ""
      static let schema = ModelSchema<Trip>("trips")
    }

    struct Person: Model {
      var id = ID()
      var first = ""
      var last = ""
      var price = 0.0
      var street = ""
      static let schema = ModelSchema<Person>("people")
    }

    static func write() throws {
      let database = try Database(at: "air.cambium", for: Trip.self, Person.self)
      try database.insert(Trip(delay: 12, number: "1545", first: "Ada", last: "Byron"))
      try database.insert(Person(first: "Ada", last: "Byron", price: 1.25, street: "Mill Lane"))
      try database.close()
    }
  }

  private enum Defaults {
    // Block: Defaults
  }

  private static func checkDefault() throws {
    struct User: Model {
      var id = ID()
      var name = ""
      static let schema = ModelSchema<User>("users")
    }
    let former = try Database(at: "users.cambium", for: User.self)
    try former.insert(User(name: "Ada"))
    try former.close()
    let database = try Database(at: "users.cambium", for: Defaults.User.self)
    let dutch = try database.query(Defaults.User.self).where { $0.country == "NL" }.fetch()
    #expect(dutch.map(\.name) == ["Ada"])
    try checkSound(database)
    try database.close()
  }

  // Block: Lazily

  struct Address: Model {
    var id = ID()
    var street = ""
    static let schema = ModelSchema<Address>("addresses")
  }

  struct Person: Model {
    var id = ID()
    var name = ""
    var price = 0
    var address: Address.ID?

    // Block: By steps
  }

  // Block: Enums of models

  private static func migrate() throws {
    #expect(throws: DatabaseError.self) { try Database(at: "air.cambium", for: Person.self) }
    // Block: Migrating
    let (trip, person) = (
      try database.all(Trip.self).fetch(), try database.all(Person.self).fetch()
    )
    #expect(trip.map(\.departureDelay) == [12] && trip.map(\.number) == [1545])
    #expect(trip.map(\.name) == ["Ada Byron"] && person.map(\.name) == ["Ada Byron"])
    #expect(person.map(\.price) == [125])
    #expect(try database.all(Address.self).fetch().map(\.street) == ["Mill Lane"])
    try checkSound(database)
    try database.close()
  }
}
