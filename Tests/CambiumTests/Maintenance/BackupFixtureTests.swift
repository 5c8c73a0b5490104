// Goal: a backup of version 1 can be restored for ever, and added to. Method: that of
// FixtureTests.swift. The backup is of the log in that fixture, in three parts: up to transaction
// 14; the rest; two transactions more, of which one is in a baseline. It was written by
//
//     CAMBIUM_WRITE_FIXTURE=1 swift test --filter BackupFixtureTests
//
// and is never written again once a version with its format is released.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A backup of version 1", .serialized)
struct BackupFixtureTests {
  private static let backup = Fixtures.folder.appending(path: "backup-1").path()
  private static let isWriting =
    ProcessInfo.processInfo.environment["CAMBIUM_WRITE_FIXTURE"] == "1"

  @Test("is written anew when that is asked for", .enabled(if: isWriting))
  func write() throws {
    try? FileManager.default.removeItem(atPath: Self.backup)
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/format-1"
    try FileManager.default.copyItem(
      atPath: Fixtures.folder.appending(path: "format-1").path(), toPath: path)
    let database = try Database(at: path)
    try database.replay(to: "\(directory.path)/half", until: 14)
    let half = try Database(at: "\(directory.path)/half")
    try half.backUp(to: Self.backup)
    try half.close()
    try database.tag("released", at: .sequence(28))
    try database.backUp(to: Self.backup)
    for text in ["folded", "a record"] {
      try database.write { tx in try tx.set("after", to: .string(text)) }
      if text == "folded" { try database.compact(upTo: 29) }
    }
    try database.backUp(to: Self.backup)
    try expectSound(database)
    try database.close()
  }

  /// Lends what is restored to a moment.
  private func withRestored(
    _ moment: Moment, from backup: String = backup, _ body: (Database, String) throws -> Void
  ) throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/restored"
    try Database.restore(backup, to: path, upTo: moment)
    let restored = try Database(at: path)
    try body(restored, directory.path)
    try FixtureTests.expectSoundButForBlob(restored)
    try restored.close()
  }

  @Test("is sound, and holds what it held")
  func check() throws {
    #expect(try Files.names(in: Self.backup) == ["manifest", "part-1", "part-2", "part-3"])
    let checked = try Database.checkBackup(Self.backup)
    #expect(checked.parts == 3 && checked.damage.count == 1)
    #expect(checked.damage.first?.contains("refers to the blob 8081828384858687") == true)
    #expect(checked.moments == [0...28, 29...30])
    #expect(checked.tags == [CommitTag(name: "released", sequence: 28)])
    let start = try PieceReader("\(Self.backup)/part-3").next()
    let head = try #require(start).content.lend { try PartStart($0) }.head
    #expect(head.sequence == 28)
  }

  @Test("restores to the database that it is of")
  func restores() throws {
    let file = Fixtures.folder.appending(path: "format-1.expected.jsonl")
    let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    try withRestored(.tag("released")) { restored, _ in
      let lines = try FixtureDump(restored).lines
      // Positions, the second line, are not in a backup.
      #expect(lines.count == expected.count && lines.first == expected.first)
      for (line, wanted) in zip(lines, expected).dropFirst(2) where line != wanted {
        Issue.record("\(line)\nnot \(wanted)")
        return
      }
    }
  }

  @Test("restores each stretch, from its records and from its baseline")
  func stretches() throws {
    for (moment, horizon) in [(0, 0), (14, 0), (15, 0), (29, 29), (30, 29)] {
      try withRestored(.sequence(SequenceNumber(UInt64(moment)))) { restored, _ in
        let (head, oldest) = (try restored.head, try restored.horizon)
        #expect(head == SequenceNumber(UInt64(moment)))
        #expect(oldest == SequenceNumber(UInt64(horizon)))
        let after = try restored.read { try $0["after"].value }
        #expect(after == [29: "folded", 30: "a record"][moment])
      }
    }
  }

  @Test("takes a further part")
  func grows() throws {
    try withRestored(.now) { restored, directory in
      let copy = "\(directory)/backup-1"
      try FileManager.default.copyItem(atPath: Self.backup, toPath: copy)
      try restored.write { tx in try tx.set("after", to: "today") }
      let addition = try restored.backUp(to: copy)
      #expect(addition.parts == 4 && addition.transactions == 1)
      try withRestored(.now, from: copy) { again, _ in
        let after = try again.read { try $0["after"].value }
        #expect(after == "today")
      }
    }
  }
}
