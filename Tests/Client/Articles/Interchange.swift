// The code of the article on dictionaries, JSON and stores.

import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Interchange.md")
struct InterchangeTests {
  struct Airport: Model {
    typealias Key = String
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Airport>("airports")
  }

  struct Flight: Model {
    var id = ID()
    var origin: Airport.ID?
    var number = 0
    var departureDelay: Int?
    var crew: [String] = []
    static let schema = ModelSchema<Flight>("flights")
  }

  /// Takes what is written, as a file handle does.
  private final class File {
    var content = Data()
    func write(contentsOf data: some DataProtocol) throws { content += data }
  }

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "air.cambium", for: Airport.self, Flight.self)
        try Self.one(database)
        try Self.many(database, Self.profile())
        try checkSound(database)
        try await database.close()
        try await Booking.observed()
      }
    }
  }

  private static func one(_ database: Database) throws {
    let id = try database.insert(Flight(number: 1545))
    let flight = try database.get(id)
    // Block: Out and in
    #expect(text.hasPrefix(#"{"crew":[],"id":""#) && text.hasSuffix(#""number":1545}"#))
    #expect(same.number == 1545 && dictionary["number"] == 1545)
    #expect(try database.get(id).departureDelay == 12)
  }

  private static func profile() -> InterchangeProfile {
    // Block: Profiles
    return mobile
  }

  private static func many(_ database: Database, _ mobile: InterchangeProfile) throws {
    let file = File()
    try Data(#"{"number":7}"#.utf8).write(to: URL(filePath: "flights.jsonl"))
    // Block: Many
    #expect(String(decoding: file.content, as: UTF8.self).contains(#""departure_delay":12"#))
    #expect(try database.query(Flight.self).where { $0.number == 7 }.count() == 1)
  }
}

/// Books a flight in a store, and passes on what it is shown.
private struct Booking {
  typealias Flight = InterchangeTests.Flight
  let shown: AsyncStream<Flight>.Continuation

  private func show(_ flight: Flight) { shown.yield(flight) }

  // Block: Stores

  /// Changes the flight until the observer has been shown one change.
  static func observed() async throws {
    let store = try MemoryStore(for: InterchangeTests.Airport.self, Flight.self)
    let (flights, shown) = AsyncStream<Flight>.makeStream()
    let flight = Flight(number: 7, departureDelay: 90)
    let booking = Task { try await Booking(shown: shown).book(flight, in: store) }
    let changing = Task {
      while !Task.isCancelled {
        _ = try? store.update(flight.id) { $0.number += 1 }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    for await flight in flights {
      #expect(flight.crew == ["Ada"])
      break
    }
    booking.cancel()
    changing.cancel()
    _ = await (booking.result, changing.result)
  }
}
