// The code of the article on branches: its blocks belong together, in order.

import Cambium
import Scratch
import Testing

@Suite("Branches.md")
struct BranchesTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "shop.cambium")
        try Self.prepare(database)
        try Self.branch(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func prepare(_ database: Database) throws {
    try database.write { try $0.set("users/ada", to: ["name": "Ada", "born": 1816]) }
    try database.tag("release")
  }

  private static func branch(_ database: Database) throws {
    // Block: Make one
    // Block: Compare
    // Block: Merge
    #expect(preview?.conflicts.isEmpty == true && merged != nil)
    #expect(
      try database.read { try $0["users/ada"].value } == ["name": "Ada Lovelace", "born": 1815])
    // Block: Merge, 2
    #expect(try database.read { try $0["users/ada"]["born"] } == 1816)
    try branch.close()
  }
}
