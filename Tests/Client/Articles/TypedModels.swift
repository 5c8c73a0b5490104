// The code of the article on typed models.

import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("TypedModels.md")
struct TypedModelsTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Self.write()
        try Self.ask(database)
        try Self.load(database.query(Flight.self), database)
        try Self.lookBack(database)
        try await database.close()
        try await Routes.join()
        try Self.search()
        try Self.tellKindsApart()
      }
    }
  }

  // Block: Declaring
  // Block: Declaring, 2
  // Block: Writing, 2
  // Block: Several kinds in one collection

  struct Truck: Model {
    var id = ID()
    static let schema = ModelSchema<Truck>(caseOf: Vehicle.self)
  }

  private static func tellKindsApart() throws {
    let database = try Database.inMemory(for: Vehicle.self)
    try database.insert(Car(wheels: 3))
    try database.insert(Truck())
    #expect(try database.query(Vehicle.self).count() == 2)
    #expect(try database.query(Car.self).fetch().map(\.wheels) == [3])
    let cars = database.query(Vehicle.self).where { $0.is(Car.self) && $0.as(Car.self).wheels > 2 }
    #expect(try cars.select(\.type).fetch() == ["car"])
    try database.close()
  }

  private static func write() throws -> Database {
    // Block: Writing
    #expect(try database.query(Flight.self).fetch().map(\.number) == [1546])
    try database.update(try database.query(Flight.self).ids()[0]) { $0.departureDelay = 90 }
    return database
  }

  private static func ask(_ database: Database) throws {
    // Block: Asking
    #expect(late.map(\.departureDelay) == [90] && airports == ["JFK"])
    #expect(busy.map(\.0) == ["JFK"] && busy.map(\.1) == [1] && busy.map(\.2) == [90])
  }

  private static func load(_ query: ModelQuery<Flight>, _ database: Database) throws {
    // Block: Asking, 2
  }

  private static func lookBack(_ database: Database) throws {
    // Block: Changes and history
    #expect(try newest.changes(of: Flight.self).allSatisfy { $0.affects(\.departureDelay) })
  }

  struct Book: Model {
    var id = ID()
    var title = ""
    var body = ""
    var year = 0
    static let schema = ModelSchema<Book>("books") { TextIndex(\.title, \.body, language: "en") }
  }

  private static func search() throws {
    let database = try Database.inMemory(for: Book.self)
    try database.insert(Book(title: "Moby-Dick", body: "Whales in a row", year: 1851))
    try database.insert(Book(title: "White", body: "A whale in a row", year: 1851))
    // Block: Full text
    #expect(try books.search("whal* \"in a row\" -title:white").map(\.model.title) == ["Moby-Dick"])
    try database.close()
  }
}

/// Flights with both ends, as the article joins them.
private enum Routes {
  struct Airport: Model {
    typealias Key = String
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Airport>("airports")
  }

  struct Flight: Model {
    var id = ID()
    var origin: Airport.ID?
    var destination: Airport.ID?
    var number = 0
    var departureDelay: Int?
    var scheduled = Date.distantPast
    static let schema = ModelSchema<Flight>("flights") {
      // Block: Asking, 5
    }
  }

  private static func walk(_ query: ModelQuery<Flight>) async throws {
    // Block: Asking, 4
    #expect(fromSoon == 101)
  }

  static func join() async throws {
    let database = try Database.inMemory(for: Airport.self, Flight.self)
    try await database.insert(Airport(id: "BOS", name: "Logan"))
    try await database.insert(Airport(id: "JFK", name: "John F. Kennedy"))
    for number in 101...111 {
      try await database.insert(Flight(origin: "JFK", destination: "BOS", number: number))
    }
    try await database.insert(Flight(origin: "JFK", destination: "JFK", number: 112))
    // Block: Asking, 3
    try await walk(database.query(Flight.self))
    #expect(rows.count == 11 && rows[0].0 == 101 && rows[0].2 == "Logan")
    #expect(busy.map(\.0.0) == ["John F. Kennedy"] && busy.map(\.1) == [11])
    let list = database.query(Flight.self).order(by: \.scheduled.descending)
    #expect(try list.select(\.number, \.origin.name.orNil).explain().contains("index"))
    try await database.close()
  }
}
