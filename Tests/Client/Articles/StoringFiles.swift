// The code of the article on files: its blocks belong together, in order.

import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("StoringFiles.md")
struct StoringFilesTests {
  struct Letter: Model {
    var id = ID()
    var from = ""
    var scan: StoredFile?
    static let schema = ModelSchema<Letter>("letters")
  }

  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await inScratchDirectory {
        let database = try Database(at: "shop.cambium")
        try Self.store(database)
        try await Self.stream(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  private static func store(_ database: Database) throws {
    let bytes = Data(repeating: 7, count: 70_312)
    // Block: A file is a value
    #expect(letter?.scan?.description == "letter.png, 70312 bytes, image/png")
  }

  /// The pieces of a film from a place in it.
  private static func rest(from offset: UInt64) -> AsyncStream<Data> {
    AsyncStream { pieces in
      pieces.yield(Data(repeating: 9, count: 5_000_000 - Int(offset)))
      pieces.finish()
    }
  }

  private static func stream(_ database: Database) async throws {
    let source = rest(from: 0)
    // Block: Stream one in
    await watching.value
    #expect(upload.progress.fraction == 1)
    try breakOff(database)
    try await goOn(database)
    // Block: Leases
    // Block: Save one
    #expect(download.progress.phase == .finished)
  }

  private static func breakOff(_ database: Database) throws {
    let upload = try database.stage(name: "film.mp4")
    try upload.append(Data(repeating: 9, count: 1000))
    try upload.save()
  }

  private static func goOn(_ database: Database) async throws {
    // Block: Go on after a crash
    #expect(try database.uploads().isEmpty)
  }
}
