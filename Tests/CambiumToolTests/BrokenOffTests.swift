import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("A compaction that was broken off") struct BrokenOffTests {
  @Test("is finished by the next one, also where that has nothing new to drop")
  func goesOn() throws {
    try GitFixture.withFolder { folder in
      let path = folder + "/a.cambium"
      let database = try Database(at: path)
      for number in 0..<20 as Range<Int64> {
        try database.write { tx in try tx.set("n", to: .integer(number)) }
      }
      #expect(throws: CancellationError.self) { try database.compact(upTo: 15) { _ in false } }
      #expect(try database.verify().isSound)
      try database.close()
      // Opening continues it in the background, and may finish it before.
      let said = try compact(path)
      #expect(["finished what was broken off\n", "nothing to drop\n"].contains(said))
      var options = Database.Options()
      options.readOnly = true
      let reader = try Database(at: path, options: options)
      #expect(try !reader.isCompactionUnfinished)
      #expect(try reader.horizon == 15)
      try reader.close()
    }
  }

  private func compact(_ path: String) throws -> String {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    let invocation = try Parser(commands: Commands.all, here: here)
      .parse(["compact", path, "--keep-last", "5", "--yes"])
    return try Captured.text { try CompactCommand.run(Call(invocation, $0)) }
  }
}
