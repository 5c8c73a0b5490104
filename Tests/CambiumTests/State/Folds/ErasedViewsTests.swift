import Simulation
import Testing

@testable import Cambium

@Suite("Views of records that were erased") struct ErasedViewsTests {
  private let word = "xyzzy"

  private func write(_ database: Database, _ keys: ClosedRange<Int64>) throws {
    for key in keys {
      try database.write { tx in
        try tx.set(
          NodePath(keys: ["things", .integer(key)]),
          to: .map(["title": "red", "number": .integer(key), "kind": "a", "amount": 1.5]))
      }
    }
  }

  @Test("have nothing of them left, where they were in a baseline, too")
  func erasing() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    do {
      let database = try Database(at: path)
      try database.write { try $0.declare(ViewHistory.path, ViewHistory.definition) }
      try write(database, 1...10)
      let secret: ValueMap = ["title": .string(word), "number": 77, "kind": .string(word)]
      try database.write { try $0.set("things/secret", to: .map(secret)) }
      try write(database, 11...13)
      try database.compact(upTo: try database.head, archives: false)
      try write(database, 14...15)
      #expect(try database.read { try count($0) } > 0)
      try database.close()
    }
    try Database.erase("things/secret", at: path)
    let database = try Database(at: path)
    var random = SeededGenerator(seed: 1)
    try database.read { try ViewTests.compare($0, &random) }
    #expect(try database.read { try count($0) } == 0)
    try expectSound(database)
    try database.close()
  }

  /// The number of entries of views that name the secret.
  private func count(_ snapshot: Snapshot) throws -> Int {
    try ViewTests.entries(snapshot).count { $0.firstRange(of: Array(word.utf8)) != nil }
  }
}
