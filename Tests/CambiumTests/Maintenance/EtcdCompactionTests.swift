// The goal: what went wrong in etcd's compaction does not go wrong here; see EtcdTests.swift.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("etcd's issue of compaction", .timeLimit(.minutes(1)))
struct EtcdCompactionTests {
  private let place: Place

  init() throws { place = try Place() }

  /// Kills a process at each progress of a compaction, and looks at what is left.
  @Test("#17780, the revision goes back after a crash in compaction: head and horizon do not")
  func crash() async throws {
    try place.use { try $0.writeCounts(1...60) }
    for round in 0..<8 as Range<UInt64> {
      let before = try place.use { (try $0.head, try $0.horizon) }
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = place.path as String, round = round as UInt64] in
        let database = try Database(at: path)
        let head = try database.head
        let calls = Counter()
        try await database.compact(upTo: SequenceNumber(head.rawValue - 8)) { _ in
          calls.next() < Int(round % 4) ? true : killed()
        }
        killed()
      }
      try place.use { database in
        database.finishCompaction()
        #expect(try database.head == before.0)
        #expect(try database.horizon >= before.1)
        try database.writeCounts(Int64(before.0.rawValue) + 1...Int64(before.0.rawValue) + 9)
        #expect(try database.head.rawValue == before.0.rawValue + 9)
        try expectSound(database)
      }
    }
  }

  @Test("#18089 and #19179, a delete that is not told: one right after the horizon is")
  func deletes() async throws {
    let database = try place.open()
    for number in 0..<20 as Range<Int64> {
      try await database.write { tx in try tx.set("node", to: .integer(number)) }
      _ = try await database.write { tx in try tx.remove("node") }
    }
    for horizon in stride(from: 1, to: 39, by: 2) as StrideTo<UInt64> {
      try await database.compact(upTo: SequenceNumber(horizon))
      var commits = database.changes(after: SequenceNumber(horizon)).makeAsyncIterator()
      let commit = try #require(try await commits.next())
      let expected = Change(path: "node", old: .integer(Int64(horizon / 2)), new: nil)
      #expect(try commit.changes.fetch() == [expected])
      if horizon % 5 == 0 { try await database.rebuild() }
    }
    try expectSound(database)
    try await database.close()
  }

  @Test("#18667, a compacted revision is read: it is refused, however it is asked for")
  func reading() throws {
    try withDatabase { database in
      try database.writeCounts(1...30)
      let (early, time) = (try database.snapshot(at: .sequence(7)), try database.commit(7).time)
      try database.tag("early", at: .sequence(7))
      try database.compact(upTo: 20)
      let refused = DatabaseError.compacted(oldest: 20)
      #expect(throws: refused) { _ = try database.snapshot(at: .sequence(7)) }
      #expect(throws: refused) { _ = try database.snapshot(at: .time(time)) }
      #expect(throws: refused) { _ = try database.snapshot(at: .tag("early")) }
      #expect(throws: refused) { _ = try database.commit(20) }
      #expect(throws: refused) { _ = try database.history(of: "n/5", after: 19) }
      #expect(throws: refused) { _ = try database.diff(from: .sequence(19)) }
      #expect(throws: refused) { _ = try database.undo(20) }
      // A snapshot that was held before the compaction is still whole.
      #expect(try early["n/5/count"].value == 4)
      #expect(try database.read(at: .sequence(20)) { try $0["n/5/count"].value } == 20)
    }
  }
}

/// Ends this process at once.
@discardableResult
private func killed() -> Bool {
  kill(getpid(), SIGKILL)
  return false
}
