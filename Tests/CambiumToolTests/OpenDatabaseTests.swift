import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("Opening a database for a command") struct OpenDatabaseTests {
  private static func call(_ words: String...) throws -> Call {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    return Call(try Parser(commands: Commands.all, here: here).parse(words), Output())
  }

  @Test("makes none for reading, and none for writing unless that is wanted")
  func creation() throws {
    try GitFixture.withFolder { folder in
      let path = folder + "/a.cambium"
      let call = try Self.call("put", path, "a", "1")
      let missing = DatabaseError.noDatabase(path: path)
      #expect(throws: missing) { try OpenDatabase.forReading(call) }
      #expect(throws: missing) { try OpenDatabase.forWriting(call) }
      #expect(throws: missing) { try OpenDatabase.forReplaying(call) }
      #expect(!FileManager.default.fileExists(atPath: path))
      try OpenDatabase.forWriting(call, creating: true).close()
      try OpenDatabase.forReading(call).close()
      let nowhere = try Self.call("put", folder + "/b/a.cambium", "a", "1")
      let failure = #expect(throws: Failure.self) {
        try OpenDatabase.forWriting(nowhere, creating: true)
      }
      #expect(failure?.code == "no_folder" && failure?.exit == .missing)
    }
  }

  @Test("tells whether the state was made again")
  func rebuild() throws {
    try GitFixture.withFolder { folder in
      let call = try Self.call("replay", folder + "/a.cambium")
      let database = try OpenDatabase.forWriting(call, creating: true)
      try database.write { tx in try tx.set("a", to: 1) }
      try database.close()
      let sound = try OpenDatabase.forReplaying(call)
      #expect(!sound.isRebuilt)
      try sound.database.close()
      try FileManager.default.removeItem(atPath: folder + "/a.cambium/state-1")
      let made = try OpenDatabase.forReplaying(call)
      #expect(made.isRebuilt)
      #expect(try made.database.read { try $0["a"].value } == 1)
      try made.database.close()
    }
  }

  @Test("turns each moment into a transaction")
  func moments() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      let sequence = { try OpenDatabase.sequence($0 as PointInTime?, in: database) }
      #expect(try sequence(nil) == 0)
      #expect(try sequence(.head(back: 0)) == 0)
      #expect(throws: DatabaseError.self) { try sequence(.head(back: 1)) }
      #expect(throws: DatabaseError.self) { try OpenDatabase.commit(.head(back: 0), of: database) }
      #expect(try OpenDatabase.snapshot(.date(.distantPast), of: database).sequence == 0)
      for number in 1...3 {
        try database.write { tx in try tx.set("a", to: .integer(Int64(number))) }
      }
      let second = try database.commit(2)
      #expect(try sequence(nil) == 3)
      #expect(try sequence(.sequence(2)) == 2 && sequence(.sequence(0)) == 0)
      #expect(try sequence(.head(back: 1)) == 2 && sequence(.head(back: 3)) == 0)
      #expect(try sequence(.date(.distantPast)) == 0 && sequence(.date(.distantFuture)) == 3)
      #expect(try OpenDatabase.commit(.date(second.time), of: database).time == second.time)
      #expect(try OpenDatabase.snapshot(.sequence(2), of: database)["a"].value == 2)
      for moment in [PointInTime.sequence(4), .head(back: 4)] {
        #expect(throws: DatabaseError.self) { try sequence(moment) }
      }
      let early = { try OpenDatabase.snapshot(.date(.distantPast), of: database) }
      let error = #expect(throws: DatabaseError.self) { try early() }
      #expect(error.map { Failure($0, database: nil).exit } == .missing)
    }
  }

  @Test("lets Ctrl-C end the process again when it is done")
  func interrupts() async {
    await #expect(processExitsWith: .signal(Sender.interrupt)) {
      Signals.deferInterrupts()
      try Signals.stopDeferring()
      Sender.send(Sender.interrupt) { false }
    }
    await #expect(processExitsWith: .exitCode(130)) {
      Signals.deferInterrupts()
      Sender.send(Sender.interrupt) { Signals.isInterrupted }
      do {
        try Signals.stopDeferring()
      } catch let failure as Failure {
        System.exit(failure.exit)
      }
    }
  }
}
