// Goal: what compaction archives is read as it was before. Method: random histories, read whole
// before they are compacted at random moments, and again from archive and log after.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("An archived transaction", .timeLimit(.minutes(1)))
struct ArchiveTests {
  private let place: Place

  init() throws { place = try Place() }

  /// All that is known of a transaction without its values.
  private struct Told: Equatable {
    let sequence: SequenceNumber
    let time: Date
    let origin: UUID
    let metadata: [String: String]
    let operationCount: Int
    let events: [Event]
    let operations: [LoggedOperation]

    init(_ commit: Commit) throws {
      sequence = commit.sequence
      time = commit.time
      origin = commit.origin
      metadata = commit.metadata
      operationCount = commit.operationCount
      events = commit.events
      operations = try commit.operations()
    }
  }

  private func tell(
    _ database: Database, after: SequenceNumber? = 0, upTo: SequenceNumber? = nil,
    reversed: Bool = false
  ) throws -> [Told] {
    var told: [Told] = []
    let horizon = try database.horizon
    var commits = try database.commits(
      after: after, upTo: upTo, reversed: reversed, readsArchive: true)
    while let commit = try commits.next() {
      told.append(try Told(commit))
      #expect(commit.isArchived == (commit.sequence <= horizon))
    }
    return told
  }

  @Test(
    "is told as it was before it was archived, in both directions",
    arguments: SeededGenerator.seeds(1, 2))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      for _ in 0..<4 {
        try await history.run(calls: 500)
        let before = try tell(database)
        #expect(before.count == Int(history.model.head.rawValue))
        #expect(before.allSatisfy { $0.operations.count == $0.operationCount })
        try history.compact(archives: true)
        #expect(try tell(database) == before)
        #expect(try tell(database, after: nil) == before)
        #expect(try tell(database, reversed: true) == before.reversed())
        let (from, to) = (before.count / 3, before.count / 2)
        let some = try tell(
          database, after: SequenceNumber(UInt64(from)), upTo: SequenceNumber(UInt64(to)))
        #expect(some == Array(before[from..<to]))
        let one = try #require(before.randomElement(using: &history.calls.random))
        #expect(try Told(database.commit(one.sequence, readsArchive: true)) == one)
        let wanted = before.last { $0.time <= one.time }?.sequence
        #expect(try database.sequence(at: one.time, readsArchive: true) == wanted)
      }
    }
  }

  @Test("says that its values are gone, and is not read unasked")
  func values() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30, archives: true)
      #expect(try database.archiveHorizon == 0)
      let commit = try database.commit(7, readsArchive: true)
      #expect(commit.isArchived)
      #expect(throws: DatabaseError.compacted(oldest: 30)) { _ = try commit.changes.fetch() }
      #expect(throws: DatabaseError.compacted(oldest: 30)) { _ = try database.commit(7) }
      #expect(throws: DatabaseError.compacted(oldest: 30)) {
        var commits = try database.commits(after: 3)
        _ = try commits.next()
      }
    }
    try place.expectSound()
  }

  @Test("that was dropped without being archived is not there")
  func dropped() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 20)
      #expect(try database.archiveHorizon == 20)
      #expect(throws: DatabaseError.compacted(oldest: 20)) {
        _ = try database.commit(7, readsArchive: true)
      }
      try database.compact(upTo: 30, archives: true)
      #expect(try database.archiveHorizon == 20)
      #expect(throws: DatabaseError.compacted(oldest: 30)) {
        _ = try database.commit(20, readsArchive: true)
      }
      let archived = try database.commit(21, readsArchive: true)
      #expect(archived.sequence == 21)
      let created = try database.information().created
      #expect(throws: DatabaseError.compacted(oldest: 20)) {
        _ = try database.sequence(at: created.addingTimeInterval(-60), readsArchive: true)
      }
    }
    try place.expectSound()
  }

  @Test("of which something was erased is told with what is left")
  func erased() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30, archives: true)
    }
    try Database.erase("n/3", at: place.path)
    try place.use { database in
      let told = try tell(database)
      #expect(told.map(\.sequence.rawValue) == Array(1...told.count).map { UInt64($0) })
      #expect(told.allSatisfy { $0.operations.count == $0.operationCount })
      let paths = told.flatMap(\.operations).compactMap { operation -> NodePath? in
        if case .set(let path, _) = operation { path } else { nil }
      }
      #expect(paths.contains("n/2") && !paths.contains("n/3"))
      let commit = try database.commit(8, readsArchive: true)
      #expect(commit.isErased && commit.isArchived)
    }
    try place.expectSound()
  }

  @Test("that is not what was stored is found, and so is one that is another's")
  func damaged() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30, archives: true)
    }
    try place.editLog { transaction, tables in
      let stored = try LogReader(access: transaction.access, tables: tables, damage: LogDamage())
        .segment(after: 0)
      var segment = try #require(stored)
      var records: [TransactionRecord] = []
      try segment.forEach { records.append($0) }
      records[9].operations = records[8].operations  // its checksum is made anew, its link stays
      segment = Segment(after: 0)
      for record in records { segment.append(record.stored()) }
      try segment.key.lend { key in
        try segment.stored().lend { try transaction.put(tables.segments, key, $0) }
      }
    }
    try place.use { database in
      let reason = "the chain breaks in the archive, at record 10"
      #expect(throws: DatabaseError.corrupt(reason: reason)) {
        _ = try database.commit(3, readsArchive: true)
      }
      let later = try database.commit(31, readsArchive: true).sequence
      #expect(later == 31)
    }
  }
}
