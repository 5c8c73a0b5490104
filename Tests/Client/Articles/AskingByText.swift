// The code of the article on asking by text.

import Cambium
import Scratch
import Testing

@Suite("AskingByText.md")
struct AskingByTextTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting { try withDatabase(Self.fill) }
    }
  }

  private static func fill(_ database: Database) throws {
    try database.write { tx in
      try tx.set("airports/JFK", to: ["name": "Kennedy"])
      try tx.set(
        "flights/1",
        to: [
          "carrier": "UA", "departureDelay": 75, "number": 1545, "scheduled": 1,
          "origin": .reference("airports/JFK"),
        ])
    }
    try ask(database, try database.snapshot(), userInput: "Ken")
  }

  private static func ask(_ database: Database, _ snapshot: Snapshot, userInput: String) throws {
    // Block: From an app
    #expect(try late.fetch().map(\.path) == ["flights/1"])
    #expect(try counts.fetch().map { $0["carrier"] } == ["UA"])
  }
}
