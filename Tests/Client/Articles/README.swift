// The code of README.md, run in the order in which it is read.

import Scratch
import Testing

@Suite("README.md")
struct ReadmeTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        try await Self.tree()
        try await Self.typed()
      }
    }
  }

  private static func tree() async throws {
    // Block: Use
    #expect(name == .string("Ada Lovelace") && before == .string("Ada"))
  }

  private static func typed() async throws {
    // Block: Use, 2
    #expect(late.map(\.id) == [id] && same.count == 1)
    try await air.close()
  }
}
