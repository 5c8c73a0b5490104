// The code of the article on values.

import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("ValuesAndTypes.md")
struct ValuesTests {
  struct Visit: Model {
    var id = ID()
    var at = Date.distantPast
    static let schema = ModelSchema<Visit>("visits")
  }

  struct Place: Model {
    typealias Key = String
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Place>("places")
  }

  // Block: Numbers
  // Block: A form of its own

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting {
        let database = try Database.inMemory(for: Visit.self, Place.self, Meter.self, Parcel.self)
        try Self.write(database)
        try Self.date(database)
        try Self.text(database)
        try Self.count(database)
        try Self.forget(database)
        try Self.encode(database)
        try Self.storeBlob(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func write(_ database: Database) throws {
    // Block: The kinds
    #expect(try database.read { try $0["products/1"]["size"] } == ["width": 20, "height": 45])
    // Block: Printing
  }

  private static func date(_ database: Database) throws {
    // Block: Dates
    #expect(Value.date(stored) == .date(now))
    #expect(try database.query(Visit.self).where { $0.at == now }.ids() == [id])
  }

  private static func text(_ database: Database) throws {
    try database.insert(Place(id: "cafe", name: "cafe\u{301}"))
    // Block: Text
    #expect(try places.where { $0.name == composed }.count() == 0)
    #expect(try places.where { $0.name.equals(composed) }.count() == 1)
    // Block: Text, 2
    #expect(try database.exists(Place.ID("mu\u{308}nchen")))
  }

  private static func count(_ database: Database) throws {
    let meter = try database.get(try database.insert(Meter(serial: .max, level: .nan)))
    #expect(meter.serial == .max && meter.level.isNaN)
    #expect("\(meter.price)" == "\(Meter().price)")
    let query = database.query(Meter.self)
    #expect(try query.where { $0.level > 60 }.count() == 1)
    #expect(try query.where { $0.level == .nan }.count() == 1)
    #expect(try query.where { $0.serial > 5 }.count() == 1)
  }

  private static func forget(_ database: Database) throws {
    // Block: Nil, null and absent
    #expect(try product["discount"] == nil && product["name"] == .null)
  }

  private static func encode(_ database: Database) throws {
    try database.insert(Parcel(id: 1, size: Size(width: 20, height: 20)))
    try database.insert(Parcel(id: 2, size: Size(width: 20, height: 30)))
    // Block: A form of its own, 2
    #expect(square.map(\.id) == [1])
    #expect(try database.read { try $0["parcels/2"]["size"] } == "20x30")
  }

  private static func storeBlob(_ database: Database) throws {
    // Block: Sizes
    #expect(photo.size == 5_000_000)
  }
}
