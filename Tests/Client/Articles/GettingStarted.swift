// The code of the article on getting started: its blocks belong together, in order. Blocks that
// await are in async functions. Erasing comes last, since the database must be closed for it.

import Scratch
import Testing

@Suite("GettingStarted.md")
struct GettingStartedTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Self.open()
        try Self.write(database)
        try Self.read(database)
        try Self.readThePast(database)
        try Self.undo(database)
        try Self.writeOnConditions(database)
        try await Self.writeWithoutBlocking(database)
        try await Self.follow(database)
        let film = try Self.storeLargeValues(database)
        try await Self.readARange(database, film)
        try Self.dropHistory(database)
        try Self.checkAndClose(database)
        try Self.erase()
      }
    }
  }

  private static func open() throws -> Database {
    // Block: Open
    return database
  }

  private static func write(_ database: Database) throws {
    // Block: Write
    // Block: Write, 2
    try sensors.write { tx in try tx.set("one", to: 1) }
    try sensors.sync()
    try sensors.close()
    // Block: Write, 3
    let now = try database.snapshot()
    #expect(try now["users/ada"]["born"] == nil && now["users/ada"]["tags"] == ["vip"])
    #expect(try now["users/ada/city"].value == .string("London"))
  }

  private static func read(_ database: Database) throws {
    // Block: Read
    #expect(name == .string("Ada Lovelace"))
    // Block: Read, 2
  }

  private static func readThePast(_ database: Database) throws {
    // Block: Read the past
    #expect(try before["users/ada"]["name"] == .string("Ada"))
    #expect(try !hourAgo["users/ada"].exists)
    // Block: Read the past, 2
    // Block: Read the past, 3
    // Block: Read the past, 4
    #expect(try database.read { try $0["orders/2"]["total"] } == .double(3))
  }

  private static func undo(_ database: Database) throws {
    // Block: Undo
    #expect(try database.read { try $0["users/ada"]["name"] } == .string("Ada Lovelace"))
    // Block: Undo, 2
    #expect(try release.sequence == database.head)
  }

  private static func writeOnConditions(_ database: Database) throws {
    // Block: Write on conditions
    #expect(try database.read { try $0["users/ada"]["name"] } == .string("Countess of Lovelace"))
  }

  private static func writeWithoutBlocking(_ database: Database) async throws {
    // Block: Write without blocking
    #expect(try database.read { try $0["orders"].childCount } == 102)
  }

  private static func follow(_ database: Database) async throws {
    // Block: Follow
    // Block: Follow, 2
    #expect(try database.read { try $0["counters/changes"].value } != nil)
  }

  private static func storeLargeValues(_ database: Database) throws -> Blob {
    // Block: Large values
    #expect(bytes == 10 << 20)
    return film
  }

  private static func readARange(_ database: Database, _ film: Blob) async throws {
    // Block: Large values, 2
  }

  private static func dropHistory(_ database: Database) throws {
    // Block: Drop old history
    // Block: Drop old history, 2
    // Block: Drop old history, 3
  }

  private static func checkAndClose(_ database: Database) throws {
    // Block: Check and close
    #expect(verification.isSound)
  }

  private static func erase() throws {
    // Block: Erase for good
    let database = try Database(at: "shop.cambium")
    #expect(try database.read { try !$0["users/ada"].exists })
    try checkSound(database)
    try database.close()
  }
}
