// The code of the first page of the documentation.

import Cambium
import Scratch
import Testing

@Suite("Cambium.md")
struct CambiumTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory { try Self.overview() }
    }
  }

  private static func overview() throws {
    // Block: Overview
    #expect(name == .string("Ada"))
    try database.close()
  }
}
