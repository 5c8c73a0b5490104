// Goal: a database of format 1 opens for ever, and means what it meant. Method: the log of one
// that an earlier version wrote is opened and compared, line by line, with what that version read
// from it; and today's version must still write the same operations for the same calls.
//
// The fixture is the log alone; the state is folded from it. It was written by
//
//     CAMBIUM_WRITE_FIXTURE=1 swift test --filter FixtureTests
//
// and is never written again once a version with its format is released: a new format gets a new
// one.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A database of format 1", .serialized)
struct FixtureTests {
  private static let log = Fixtures.folder.appending(path: "format-1/log/data.mdb")
  private static let expected = Fixtures.folder.appending(path: "format-1.expected.jsonl")
  private static let isWriting =
    ProcessInfo.processInfo.environment["CAMBIUM_WRITE_FIXTURE"] == "1"

  @Test("is written anew when that is asked for", .enabled(if: isWriting))
  func write() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/format-1"
    let database = try Database(at: path)
    try FixtureContent.write(to: database)
    let dump = try FixtureDump(database)
    try database.close()
    try FileManager.default.createDirectory(
      at: Self.log.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(contentsOf: URL(filePath: "\(path)/log/data.mdb")).write(to: Self.log)
    try Data((dump.lines.joined(separator: "\n") + "\n").utf8).write(to: Self.expected)
  }

  /// Lends a copy of the fixture, opened.
  private func withFixture(_ body: (Database, String) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/format-1"
    try FileManager.default.createDirectory(
      atPath: "\(path)/log", withIntermediateDirectories: true)
    try Data(contentsOf: Self.log).write(to: URL(filePath: "\(path)/log/data.mdb"))
    let database = try Database(at: path)
    try body(database, directory.path)
    try Self.expectSoundButForBlob(database)
    try database.close()
  }

  /// Checks that nothing is wrong but a blob that was never stored, to which the version of then
  /// let a value refer.
  static func expectSoundButForBlob(
    _ database: Database, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let findings = try database.verify().findings
    #expect(
      findings.allSatisfy { "\($0)".contains("refers to the blob 8081828384858687") },
      "\(findings)", sourceLocation: sourceLocation)
  }

  private func expectedLines() throws -> [String] {
    let text = String(decoding: try Data(contentsOf: Self.expected), as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }

  private func expect(
    _ lines: [String], _ expected: [String], _ what: String,
    location: SourceLocation = #_sourceLocation
  ) {
    #expect(lines.count == expected.count, "\(what)", sourceLocation: location)
    for (number, (line, expected)) in zip(lines, expected).enumerated() where line != expected {
      Issue.record(
        "\(what), line \(number + 1): \(line)\nnot \(expected)", sourceLocation: location)
      return
    }
  }

  @Test("opens and says what it said")
  func opens() throws {
    let expected = try expectedLines()
    #expect(expected.count > 500)
    try withFixture { database, _ in
      #expect(try database.head == 28)
      expect(try FixtureDump(database).lines, expected, "opened")
      try database.rebuild()
      expect(try FixtureDump(database).lines, expected, "rebuilt")
    }
  }

  @Test("takes further transactions")
  func grows() throws {
    let expected = try expectedLines()
    try withFixture { database, _ in
      try database.write { tx in
        try tx.set("new", to: ["value": 1, "a new name": 2])
        try tx.update("records/mixed", ["value": 3])
        try tx.remove("values")
        try tx.move("tree", to: "wood")
      }
      let lines = try FixtureDump(database).lines.filter { $0.hasPrefix("{\"at\"") }
      expect(lines, expected.filter { $0.hasPrefix("{\"at\"") }, "the past")
    }
  }

  @Test("is copied by a replay with every link of its chain")
  func replays() throws {
    let expected = try expectedLines()
    try withFixture { database, directory in
      let path = "\(directory)/copy"
      try database.replay(to: path)
      let copy = try Database(at: path)
      // The first two lines hold the data that does not travel with the log.
      let lines = Array(try FixtureDump(copy).lines.dropFirst(2))
      expect(lines, Array(expected.dropFirst(2)), "the copy")
      try Self.expectSoundButForBlob(copy)
      try copy.close()
    }
  }

  @Test("has everything in it")
  func coverage() throws {
    let expected = try expectedLines().joined(separator: "\n")
    for kind in ["null", "bool", "integer", "double", "string", "data", "date", "uuid", "decimal"] {
      #expect(expected.contains("[\"\(kind)\""))
    }
    for kind in ["array", "map", "reference", "blob"] {
      #expect(expected.contains("[\"\(kind)\""))
    }
    try withFixture { database, _ in
      var codes: Set<UInt8> = []
      for sequence in 1...(try database.head.rawValue) {
        var reader = OperationReader(try record(sequence, of: database).operations)
        while let operation = try reader.next() {
          var writer = OperationWriter()
          writer.write(operation)
          codes.formUnion(writer.bytes.prefix(1))
        }
      }
      #expect(codes == Set(1...11))
    }
  }

  private func record(_ sequence: UInt64, of database: Database) throws -> TransactionRecord {
    try database.directory.log.read { try $0.record(SequenceNumber(sequence)) }
  }

  @Test("is what the same calls write today")
  func writing() throws {
    try withFixture { database, directory in
      var options = Database.Options()
      options.refersLoosely = true
      let today = try Database(at: "\(directory)/today", options: options)
      try FixtureContent.write(to: today)
      #expect(try today.head == database.head)
      for sequence in 1...(try database.head.rawValue) {
        let (old, new) = (try record(sequence, of: database), try record(sequence, of: today))
        #expect(old.operations.hex == new.operations.hex, "transaction \(sequence)")
        #expect(old.metadata == new.metadata && old.operationCount == new.operationCount)
      }
      #expect(try today.verify().digest == database.verify().digest)
      try today.close()
    }
  }
}
