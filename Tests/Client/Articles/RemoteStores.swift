// The code of the article on models that a server keeps, against a server in the same process. Its
// loop over changes has no end, so somebody else writes until it has shown one.

import CambiumServer
import Scratch
import Testing

@Suite("RemoteStores.md")
struct RemoteStoresTests {
  struct Flight: Model {
    var id = ID()
    var carrier = ""
    var number = 0
    var departureDelay: Int?

    static let schema = ModelSchema<Flight>("flights")
  }

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "air.cambium", for: Flight.self)
        var options = ServerOptions()
        options.port = 0
        options.allowsWriting = true
        let server = Server(database, options)
        try server.start()
        try await Self.follow(database, at: try #require(server.url))
        await server.stop()
        let flights = try database.all(Flight.self).fetch()
        #expect(flights.contains { $0.number == 1545 && $0.departureDelay == 12 })
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func follow(_ database: Database, at address: String) async throws {
    let (shown, whatIsShown) = AsyncStream<Flight?>.makeStream()
    let following = Task { try await use(address) { whatIsShown.yield($0) } }
    let writing = Task {
      while !Task.isCancelled {
        _ = try await database.write { try $0.insert(Flight(carrier: "NK", number: 1)) }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    for await flight in shown {
      #expect(flight?.number == 1)
      break
    }
    writing.cancel()
    following.cancel()
    _ = await writing.result
    _ = await following.result
  }

  private static func use(_ address: String, _ show: (Flight?) -> Void) async throws {
    // The address in the article is nobody's.
    func URL(string: String) -> Foundation.URL? { Foundation.URL(string: address) }
    let token: String? = nil
    // Block: Overview
  }
}
