// The code of the article on serving: an app that serves its own database, and asks it.

import Foundation
import Scratch
import Testing

@Suite("Serving.md")
struct ServingTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "air.cambium")
        try await database.write { try $0.set("flights/1", to: ["carrier": "UA"]) }
        try await Self.serve(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func serve(_ database: Database) async throws {
    // Block: From an app
    #expect(try text(server, "/flights/1/carrier.json") == "\"UA\"")
    await server.stop()
  }

  private static func text(_ server: Server, _ path: String) throws -> String {
    let url = try #require(URL(string: (server.url ?? "") + path))
    return String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }
}
