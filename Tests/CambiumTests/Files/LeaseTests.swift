// Goal: what was stored and is referred to by nothing is kept while its lease lasts, and collected
// after it; what is referred to is never collected. Method: one database with a clock that the test
// moves, one situation each; random histories are in StagingModelTests.swift.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("The lease of a blob", .timeLimit(.minutes(1)))
struct LeaseTests {
  private let clock = TestClock()
  private let content = noise(1, count: 600_000)

  /// Lends a database with two transactions, which must be sound in the end.
  private func withPrepared(_ body: (Database) throws -> Void) throws {
    try withDatabase(clock.configure) { database in
      try database.count(2)
      try body(database)
    }
  }

  @Test("keeps what was stored for a day, and no longer, whether or not anything is compacted")
  func ends() throws {
    for compacts in [true, false] {
      try withPrepared { database in
        let blob = try database.store(content)
        if compacts { try database.compact(upTo: 1) }
        try clock.pass(.days(1) - .microseconds(1), in: database)
        try database.compact(upTo: 1)
        #expect(try database.holds(blob) == [true])
        try clock.pass(.microseconds(1), in: database)
        try database.compact(upTo: 1)
        #expect(try database.holds(blob) == [false])
        #expect(try database.leases == [:])
      }
    }
  }

  @Test("can be renewed, is never made shorter, and cannot be renewed once all is gone")
  func renewed() throws {
    try withPrepared { database in
      let blob = try database.store(content)
      try clock.pass(.seconds(3600), in: database)
      try database.renewLease(of: blob, for: .days(3))
      try database.renewLease(of: blob, for: .zero)
      _ = try database.store(content)
      try clock.pass(.days(3) - .microseconds(1), in: database)
      try database.compact()
      #expect(try database.holds(blob) == [true])
      try clock.pass(.microseconds(1), in: database)
      // Nobody has looked yet.
      try database.renewLease(of: blob, for: .seconds(1))
      try database.compact()
      #expect(try database.holds(blob) == [true])
      try clock.pass(.seconds(1), in: database)
      try database.compact()
      #expect(try database.holds(blob) == [false])
      #expect(throws: DatabaseError.self) { try database.renewLease(of: blob, for: .days(1)) }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("b", to: .blob(blob)) }
      }
      let again = try database.store(content)
      try database.write { tx in try tx.set("b", to: .blob(again)) }
      #expect(try database.read { try $0.read(again) } == content)
    }
  }

  @Test("is not needed by what is referred to, now, in the past, or in the archive")
  func referred() throws {
    for archives in [false, true] {
      try withPrepared { database in
        let blobs = try (0..<3).map { try database.store(noise($0, count: 1000)) }
        try database.write { tx in
          for (number, blob) in blobs.enumerated() {
            try tx.set(NodePath(keys: ["b", .integer(Int64(number))]), to: ["it": [.blob(blob)]])
          }
        }
        try database.write { tx in try tx.remove("b/1") }
        try clock.pass(.days(2), in: database)
        try database.compact(upTo: 1)
        #expect(try blobs.map { try database.holds($0)[0] } == [true, true, true])
        #expect(try database.leases == [:])
        try database.write { tx in try tx.remove("b/2") }
        try database.compact(upTo: 4, archives: archives)
        #expect(try blobs.map { try database.holds($0)[0] } == [true, archives, true])
        // A lease for what only the archive, or the baseline, refers to.
        for blob in blobs where try database.holds(blob) == [true] {
          try database.renewLease(of: blob, for: .seconds(1))
        }
        try clock.pass(.days(1), in: database)
        try database.compact(upTo: 4)
        #expect(try blobs.map { try database.holds($0)[0] } == [true, archives, true])
      }
    }
  }

  @Test("keeps what a transaction stores and does not refer to, and is not left where it does")
  func inTransaction() throws {
    try withPrepared { database in
      let (used, unused) = try database.write { tx in
        let (used, unused) = (try tx.store(Data("used".utf8)), try tx.store(Data("unused".utf8)))
        _ = try? tx.attempt {
          try tx.set("undone", to: .blob(unused))
          throw CancellationError()
        }
        try tx.set("b", to: .blob(used))
        return (used, unused)
      }
      #expect(try Array(database.leases.keys) == [unused.hash])
      #expect(try database.holds(used, unused) == [true, true])
      try clock.pass(.days(1), in: database)
      try database.compact()
      #expect(try database.holds(used, unused) == [true, false])
    }
  }

  @Test("of what a merge took over and did not commit ends as any")
  func merge() throws {
    let place = try Place()
    try place.use(clock.configure) { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.branch(to: place.beside("b.cambium"))
      let branch = try Database(at: place.beside("b.cambium"))
      let blob = try branch.store(content)
      try branch.write { tx in try tx.set("a", to: .blob(blob)) }
      try database.write { tx in try tx.set("a", to: 2) }
      #expect(throws: DatabaseError.self) { try database.merge(branch) }
      #expect(try database.holds(blob) == [true])
      try clock.pass(.days(1), in: database)
      try database.compact()
      #expect(try database.holds(blob) == [false])
      try branch.close()
    }
    try place.expectSound()
  }

  @Test("of a day is given to what has none: a restored backup, an older program, a broken store")
  func adopted() throws {
    let place = try Place()
    let blob = try place.use(clock.configure) { database in
      try database.count(4)
      return try database.store(content)
    }
    // As an older program leaves it: with no lease, and without the last chunk.
    try place.editLog { transaction, tables in
      try blob.key(2).lend { _ = try transaction.delete(tables.blobs, $0) }
      let name = Array(BlobLeases.name(blob.hash).utf8)
      try name.lend { _ = try transaction.delete(tables.meta, $0) }
    }
    try place.use(clock.configure) { database in
      try database.compact(upTo: 2)
      #expect(try Array(database.leases.keys) == [blob.hash])
      try clock.pass(.days(1), in: database)
      try database.compact()
      #expect(try database.directory.log.read { try !$0.hasBlobs() })
    }
    try place.expectSound()
  }

  @Test("ends in the background as well, although everything else is kept")
  func background() async throws {
    let place = try Place()
    let database = try place.open {
      clock.configure(&$0)
      $0.compactionLook = (.zero, 1)
    }
    let blob = try await database.store(content)
    try clock.pass(.days(1), in: database)
    let isGone = try await eventually {
      try database.commit { tx in try tx.set("n", to: 1) }
      database.finishCompaction()
      return try database.holds(blob) == [false]
    }
    #expect(isGone)
    #expect(try database.information().horizon == .zero)
    try await database.close()
    try place.expectSound()
  }

  @Test("of an upload ends in the background, where no blob has one")
  func uploadInBackground() async throws {
    let place = try Place()
    let database = try place.open {
      clock.configure(&$0)
      $0.compactionLook = (.zero, 1)
    }
    _ = try database.stage(name: "a", lease: .seconds(10))
    try clock.pass(.days(1), in: database)
    let isGone = try await eventually {
      try database.commit { tx in try tx.set("n", to: 1) }
      database.finishCompaction()
      return try !place.names.contains { $0.hasPrefix(UploadPart.prefix) }
    }
    #expect(isGone)
    try await database.close()
    try place.expectSound()
  }

  @Test("covers a blob that another stores meanwhile, whose chunks are not written over")
  func storedMeanwhile() throws {
    try withPrepared { database in
      let good = noise(6, count: 66 * BlobChunks.chunkBytes)
      let blob = Blob(hash: Array(good).lend { Digest.of($0) }, size: UInt64(good.count))
      let bad = Array(noise(7, count: BlobChunks.chunkBytes))
      var isStored = false
      // The bytes are no longer those that the address was taken of.
      try database.store(blob, leased: BlobLeases.usual) { _ in
        if !isStored { _ = try database.store(good) }
        isStored = true
        return bad
      }
      #expect(try database.read { try $0.read(blob) } == good)
    }
  }

  @Test("that ends while its blob is being stored makes storing begin anew, and leaves no gap")
  func endsMeanwhile() throws {
    try withPrepared { database in
      let block = Array(noise(5, count: BlobChunks.chunkBytes))
      func chunk(_ number: UInt32) -> [UInt8] { [UInt8(number)] + block.dropFirst() }
      let digest = Digest()
      // Two commits: the first has 64 chunks.
      for number in 0..<66 as Range<UInt32> { digest.update(chunk(number)) }
      let blob = Blob(hash: digest.current(), size: UInt64(66 * BlobChunks.chunkBytes))
      var asked: [UInt32] = []
      try database.store(blob, leased: 0) { number in
        asked.append(number)
        if number == 65, asked.count == 66 {
          try clock.pass(.seconds(1), in: database)
          try database.compact()
          #expect(try database.directory.log.read { try !$0.hasBlobs() })
        }
        return chunk(number)
      }
      #expect(asked == Array(0..<66) + Array(0..<66))
      #expect(try database.holds(blob) == [true])
      func collect() throws {
        try clock.pass(.seconds(1), in: database)
        try database.compact()
        #expect(try database.directory.log.read { try !$0.hasBlobs() })
      }
      try collect()
      // Where that never ends, it gives up, and leaves nothing that is not collected.
      let error = #expect(throws: DatabaseError.self) {
        try database.store(blob, leased: 0) { number in
          if number == 65 { try collect() }
          return chunk(number)
        }
      }
      guard case .busy? = error else { throw Divergence("it is \(String(describing: error))") }
      try collect()
    }
  }

  @Test("covers a blob of which only the first chunks are stored; a gap in one is damage")
  func inPart() throws {
    for number in [2, 1] as [UInt32] {
      let place = try Place()
      let blob = try place.use(clock.configure) { try $0.store(content) }
      try place.editLog { transaction, tables in
        try blob.key(number).lend { _ = try transaction.delete(tables.blobs, $0) }
      }
      try place.use(clock.configure) { database in
        let findings = try database.verify().findings
        #expect(findings.isEmpty == (number == 2))
      }
    }
  }

  @Test("has the bytes that the file format says")
  func golden() throws {
    let place = try Place()
    let blob = Blob(hash: Array(0..<32), size: 5)
    try place.use { database in
      let log = try LogWriter.begin(database.directory.log)
      let head = try log.reader.head()
      try log.lease(blob, until: 1_700_000_000_000_000)
      try log.lease(blob, until: 1_600_000_000_000_000)
      try log.commit(head: head)
      let name = "lease/000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
      let entry = try database.directory.log.read { try $0.entry(name) { $0.array() } }
      #expect(entry?.hex == "00401e18240a0600")
      #expect(try database.leases == [Array(0..<32): 1_700_000_000_000_000])
    }
    try place.expectSound()
  }
}
