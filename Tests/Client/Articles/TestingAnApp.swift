// The code of the article on testing an app. Its suite runs among the others; the blocks behind it
// run in order.

import FoundationEssentials
import Scratch
import Synchronization

@Suite("TestingAnApp.md")
struct TestingAnAppTests {
  // Block: A database for each test
  // Block: Time

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting {
        try Self.reopen()
        try Self.tellTheTime()
        try Self.reproduce()
        let database = try Database.inMemory(for: Book.self)
        try await Self.observe(database)
        try Self.fail(database)
        try await Self.refuse()
        try Self.verify(database)
        try await database.close()
      }
    }
  }

  private static func reopen() throws {
    let directory = try TemporaryDirectory()
    // Block: Files, where they matter
    try after.close()
  }

  private static func tellTheTime() throws {
    // Block: Time, 2
    try checkSound(database)
  }

  private static func reproduce() throws {
    // Block: Chance
  }

  private static func observe(_ database: Database) async throws {
    // Block: Observers
  }

  private static func fail(_ database: Database) throws {
    // Block: Failures on purpose
    // Block: Failures on purpose, 3
  }

  private static func refuse() async throws {
    // Block: Failures on purpose, 2
    #expect(try busy.count(Book.self) == 0)
  }

  private static func verify(_ database: Database) throws {
    // Block: A last look
    try expectSound(database)
  }
}
