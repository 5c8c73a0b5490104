// Goal: compaction drops what it says, and nothing else: everything from the horizon on reads as
// before, and a fold of baseline and records gives the same state, byte for byte.
// Method: random histories on a database and on a model, compacted at random moments, rebuilt,
// broken off at every step, and opened again; then chosen moments, policies and damage.

import Foundation
import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Compaction", .timeLimit(.minutes(2)))
struct CompactionTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test(
    "at random moments leaves all that comes after, rebuilt too",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      var told = RandomHistory.Told()
      for round in 0..<8 {
        try await history.run(calls: 400)
        try history.compact(archives: seed % 2 == 0)
        try history.compareMoments(6)
        try history.compareTime(3, &told)
        let digest = try expectSound(database)
        if round % 3 == 0 {
          try await database.rebuild()
          #expect(try expectSound(database) == digest)
          try history.compareMoments(6)
        }
      }
      try await history.compareFeed()
      #expect(told.steps > 0 && told.blamed > 0 && told.differences > 0)
    }
  }

  @Test("broken off at any step goes on with the next opening, and ends the same")
  func brokenOff() throws {
    var digests: Set<[UInt8]> = []
    var isBrokenOff = true
    var calls = 0
    while isBrokenOff {
      let place = try Place()
      isBrokenOff = try place.use { database in
        try database.writeCounts(1...60)
        let (count, callsMax) = (Counter(), calls)
        do {
          try database.compact(upTo: 40, archives: calls % 2 == 0) { _ in count.next() < callsMax }
          return false
        } catch is CancellationError {
          return true
        }
      }
      if calls % 3 == 0 { try place.distrust() }
      try place.use { database in
        database.finishCompaction()
        #expect(try database.horizon == 40)
        try database.writeCounts(61...62)
        digests.insert(try expectSound(database))
        #expect(throws: DatabaseError.compacted(oldest: 40)) { _ = try database.commit(40) }
        #expect(try database.read(at: .sequence(40)) { try $0["n/5/count"].value } == 40)
      }
      #expect(try place.names.filter { $0.hasPrefix("baseline") } == ["baseline-40"])
      calls += 1
    }
    #expect(calls > 3)
    #expect(digests.count == 1)
  }

  @Test("finishes one that was broken off at any step, and then goes on to its own horizon")
  func finishingAnother() throws {
    for calls in 0..<10 {
      let place = try Place()
      try place.use { database in
        try database.writeCounts(1...60)
        let count = Counter()
        _ = try? database.compact(upTo: 40) { _ in count.next() < calls }
        try database.compact(upTo: 50)
        #expect(try database.horizon == 50)
        #expect(try database.compaction().isUnfinished() == false)
        try expectSound(database)
      }
    }
  }

  @Test("keeps a removed subtree that a later transaction restores, until that is dropped, too")
  func restored() throws {
    try place.use { database in
      try database.write { tx in try tx.set("a/b/c", to: 1) }
      try database.write { tx in try tx.set("leaf", to: "v") }
      try database.write { tx in
        try tx.remove("a")
        try tx.remove("leaf")
      }
      try database.write { tx in try tx.set("x", to: 1) }
      try database.write { tx in
        try tx.restore("a", removedAt: 3)
        try tx.restore("leaf", removedAt: 3)
      }
      try database.write { tx in try tx.set("x", to: 2) }
      try database.compact(upTo: 4)
      try expectSound(database)
      #expect(try database.read(at: .sequence(4)) { try $0["a"].exists } == false)
      #expect(try database.read(at: .sequence(5)) { try $0["a/b/c"].value } == 1)
      try database.rebuild()
      try expectSound(database)
      #expect(try database.read { try $0["a/b/c"].value } == 1)
      #expect(try database.read { try $0["leaf"].value } == "v")
      try database.compact(upTo: 6)
      try database.rebuild()
      try expectSound(database)
      #expect(try database.read { try $0["a/b/c"].value } == 1)
      #expect(try database.information().versions == 0)
    }
    try place.expectSound()
  }

  @Test("takes removed subtrees out for good; they cannot be restored any more")
  func swept() throws {
    try place.use { database in
      try database.write { tx in
        for number in 0..<500 as Range<Int64> {
          try tx.set(
            NodePath(keys: ["a", .integer(number % 7), .integer(number)]), to: .integer(number))
        }
        try tx.set("kept", to: true)
      }
      try database.write { tx in try tx.remove("a") }
      try database.write { tx in try tx.set("kept", to: false) }
      #expect(try database.information().nodes > 500)
      try database.compact(upTo: 3)
      #expect(try database.information().nodes == 1)
      try database.write { tx in
        let error = caught { try tx.restore("a", removedAt: 2) }
        #expect(error as? DatabaseError == .compacted(oldest: 3))
      }
      try expectSound(database)
    }
  }

  @Test("into segments lets every moment be restored", arguments: [0, 15])
  func archive(dropped: UInt64) throws {
    try place.use { database in
      try database.writeCounts(1...80)
      var digests: [[UInt8]] = []
      for sequence in dropped...80 {
        digests.append(try dump(database, at: SequenceNumber(sequence)))
      }
      if dropped > 0 { try database.compact(upTo: SequenceNumber(dropped)) }
      for horizon in [20, 21, 55, 80] as [SequenceNumber] {
        try database.compact(upTo: horizon, archives: horizon == 20)
      }
      try expectSound(database)
      for sequence in dropped...80 {
        let copy = place.beside("copy-\(sequence).cambium")
        try database.replay(to: copy, until: SequenceNumber(sequence))
        let restored = try Database(at: copy)
        #expect(try restored.head == SequenceNumber(sequence))
        #expect(
          try dump(restored, at: SequenceNumber(sequence)) == digests[Int(sequence - dropped)])
        try expectSound(restored)
        try restored.close()
      }
      if dropped > 0 {
        #expect(throws: DatabaseError.compacted(oldest: 80)) {
          try database.replay(to: place.beside("gone.cambium"), until: 3)
        }
      }
    }
  }

  /// Paths, values and modifying transactions at a moment.
  private func dump(_ database: Database, at sequence: SequenceNumber) throws -> [UInt8] {
    let rows = try database.read(at: .sequence(sequence)) { try $0.root.rows() }
    return Array(rows.map { "\($0)" }.joined(separator: "\n").utf8)
  }

  // MARK: Policies

  @Test("keeps the newest transactions, or those of a time, whichever are more")
  func policies() throws {
    try place.use { database in
      try database.writeCounts(1...30)
      let before = try database.retention()
      #expect(before == Retention() && before.keepsEverything)
      #expect(try database.compact().horizon == 0)
      #expect(try database.compact(keeping: Retention(transactions: 40)).horizon == 0)
      #expect(try database.compact(keeping: Retention(duration: .seconds(60))).horizon == 0)
      #expect(try database.compact(keeping: Retention(transactions: 25)).horizon == 5)
      let both = Retention(transactions: 20, duration: .seconds(60))
      #expect(try database.compact(keeping: both).horizon == 5)
      Thread.sleep(forTimeInterval: 0.02)
      try database.writeCounts(31...31)
      #expect(try database.compact(keeping: Retention(duration: .milliseconds(10))).horizon == 30)
      var policy = Retention(transactions: 7, duration: .seconds(90))
      policy.archives = true
      policy.consumerLagMax = 9
      policy.keepsTags = false
      try database.setRetention(policy)
    }
    try place.use { database in
      #expect(try database.retention().transactions == 7)
      #expect(try database.retention().duration == .seconds(90))
      #expect(try database.retention().archives)
      #expect(try database.retention().consumerLagMax == 9)
      #expect(try database.retention().keepsTags == false)
      try expectSound(database)
    }
  }

  @Test("has nothing to do in an empty database, and after all was dropped")
  func nothing() throws {
    let keep = Retention(duration: .seconds(1))
    try place.use { database in
      #expect(try database.compact(keeping: keep).transactions == 0)
      try database.writeCounts(1...5)
      #expect(try database.compact(upTo: 5).horizon == 5)
      #expect(try database.compact(keeping: keep).transactions == 0)
      #expect(try database.compact(keeping: Retention(transactions: 0)).transactions == 0)
      #expect(try database.planCompaction(keeping: keep).transactions == 0)
      try expectSound(database)
    }
  }

  @Test("does not trust a checkpoint: what replaces the log is folded from it alone")
  func checkpoint() throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      try database.writeCounts(1...20)
      database.finishCheckpoint()
      try database.writeCounts(21...30)
    }
    let name = try #require(try place.names.first { $0.hasPrefix("checkpoint-") })
    let file = "\(place.path)/\(name)/data.mdb"
    var bytes = try Data(contentsOf: URL(filePath: file))
    let text = try #require(bytes.range(of: Data("the same".utf8)))
    bytes[text.lowerBound] ^= 1
    try bytes.write(to: URL(filePath: file))
    try place.use({ $0.checkpointGrowth = nil }) { database in
      try database.compact(upTo: 28)
      try database.rebuild()
      try expectSound(database)
    }
  }

  @Test("waits for consumers, up to a lag; one that is further behind is told")
  func consumers() async throws {
    let database = try place.open()
    try database.writeCounts(1...30)
    let consumer = database.consumer("mailer")
    try consumer.advance(to: 4)
    try database.writeCounts(31...31)
    #expect(try await database.compact(keeping: Retention(transactions: 5)).horizon == 4)
    var commits = try consumer.commits().makeAsyncIterator()
    #expect(try await commits.next()?.sequence == 5)
    var policy = Retention(transactions: 5)
    policy.consumerLagMax = 20
    #expect(try await database.compact(keeping: policy).horizon == 26)
    await #expect(throws: DatabaseError.compacted(oldest: 26)) { try await commits.next() }
    try consumer.advance(to: 26)
    var after = try consumer.commits().makeAsyncIterator()
    #expect(try await after.next()?.sequence == 27)
    try expectSound(database)
    try await database.close()
  }

  @Test("in the background follows the policy, while others write and observe")
  func automatic() async throws {
    let database = try place.open { $0.compactionLook = (.zero, 1) }
    try await database.setRetention(Retention(transactions: 20))
    let observed = Task {
      var seen: [SequenceNumber] = []
      var restarts = 0
      var after = SequenceNumber.zero
      while after < 800 {
        do {
          for try await commit in database.changes(after: after) {
            seen.append(commit.sequence)
            after = commit.sequence
            if after >= 800 { break }
          }
        } catch DatabaseError.compacted(let oldest) {
          restarts += 1
          after = oldest
        }
      }
      return (seen, restarts)
    }
    for round in 0..<8 as Range<Int64> {
      try database.writeCounts(round * 100 + 1...(round + 1) * 100)
      database.finishCompaction()
    }
    let (seen, restarts) = try await observed.value
    // One that was under way through the last round could not see all of it.
    for next in 801...900 as ClosedRange<Int64> where try database.horizon < 700 {
      try database.writeCounts(next...next)
      database.finishCompaction()
    }
    #expect(try database.horizon >= 700)
    #expect(seen == seen.sorted() && Set(seen).count == seen.count && seen.last == 800)
    // There are at most as many gaps as restarts, which were reported.
    #expect(zip(seen, seen.dropFirst()).count { $0.next != $1 } <= restarts)
    try expectSound(database)
    try await database.close()
  }

  @Test("a thousand times over does not let the files grow")
  func thousand() async throws {
    let database = try place.open()
    let consumer = database.consumer("mailer")
    var sizes: [UInt64] = []
    var next: UInt64 = 0
    for round in 0..<1_000 as Range<Int64> {
      try database.writeCounts(round * 3 + 1...(round + 1) * 3)
      var commits = try consumer.commits().makeAsyncIterator()
      for _ in 0..<3 {
        next += 1
        #expect(try await commits.next()?.sequence == SequenceNumber(next))
      }
      try consumer.advance(to: SequenceNumber(next))
      try await database.compact(keeping: Retention(transactions: 10))
      if round % 100 == 99 {
        let information = try database.information()
        sizes.append(information.logBytes + information.stateBytes)
      }
    }
    // A file is as large as its fullest moment so far, which depends on what runs beside it.
    #expect(try #require(sizes.last) <= sizes[1] * 5 / 4, "\(sizes)")
    #expect(try database.read { try $0["n/5/count"].value } == 3000)
    try expectSound(database)
    try await database.close()
  }

  @Test("leaves free pages, which a vacuum gives back; not while somebody has the files open")
  func vacuum() throws {
    try place.use { database in
      for number in 0..<300 as Range<Int64> {
        let text = Value.string(String(repeating: "x", count: 3_000))
        try database.write { tx in try tx.set("a", to: ["number": .integer(number), "text": text]) }
      }
      _ = try database.store(Data(repeating: 7, count: 1 << 20))
      try database.compact(upTo: 290)
      #expect(throws: DatabaseError.alreadyOpen(path: place.path)) {
        try Database.vacuum(at: place.path)
      }
    }
    let done = try Database.vacuum(at: place.path)
    #expect(done.bytesAfter < done.bytesBefore / 5)
    #expect(Files.size(of: place.log) < done.bytesAfter)
    #expect(try place.names.filter { $0.hasSuffix(".tmp") } == [])
    try place.use { database in
      #expect(try database.read { try $0["a/number"].value } == 299)
      #expect(try database.read(at: .sequence(290)) { try $0["a/number"].value } == 289)
      try database.writeCounts(1...3)
      try expectSound(database)
    }
    #expect(throws: DatabaseError.noDatabase(path: place.beside("none"))) {
      try Database.vacuum(at: place.beside("none"))
    }
    try place.expectSound()
  }
}

/// The error that a body throws; nil if it throws none.
func caught(_ body: () throws -> Void) -> (any Error)? {
  do { try body() } catch { return error }
  return nil
}

/// Counts calls.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// Counts a call, and returns the number of calls before it.
  func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}

extension Database {
  /// One transaction for each number: a counter at one of five places, and a subtree that comes and
  /// goes.
  func writeCounts(_ numbers: ClosedRange<Int64>) throws {
    for number in numbers {
      try self.write { tx in
        let path = NodePath(keys: ["n", .integer(number % 10 < 5 ? 5 : number % 5)])
        try tx.set(path, to: ["count": .integer(number), "text": "a text that is the same"])
        if number % 4 == 0 { try tx.set("tree/a/b", to: .integer(number)) }
        if number % 4 == 2 { try tx.remove("tree") }
      }
    }
  }
}
