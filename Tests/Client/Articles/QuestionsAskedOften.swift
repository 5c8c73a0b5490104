// The code of the article of questions asked often.

import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("QuestionsAskedOften.md")
struct QuestionsAskedOftenTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "shop.cambium")
        try Self.undo(database)
        try Self.measure(database)
        try Self.backUp(database)
        try checkSound(database)
        try Self.reset(database)
      }
    }
  }

  private static func undo(_ database: Database) throws {
    // Block: History
    #expect(try database.read { try $0["notes/1"]["text"] } == "Hello")
  }

  private static func measure(_ database: Database) throws {
    // Block: Size and speed
  }

  private static func backUp(_ database: Database) throws {
    // Block: Safety
    let restored = try Database(at: "restored.cambium")
    #expect(try restored.head == database.head)
    try checkSound(restored)
    try restored.close()
  }

  private static func reset(_ database: Database) throws {
    // Block: Apps
    #expect(throws: DatabaseError.self) {
      var options = Database.Options()
      options.createIfMissing = false
      _ = try Database(at: path, options: options)
    }
  }
}
