// Goal: compaction gives up the blobs that only dropped transactions referred to, and no other.
// Method: blobs that are replaced, removed, restored, shared, stored again; steps broken off.

import Foundation
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Compaction of blobs", .timeLimit(.minutes(1)))
struct BlobSweepTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("gives up those of what was dropped, and only those")
  func sweep() throws {
    try place.use { database in
      let blobs = try (0..<7).map { try store($0, in: database) }
      try database.write { tx in
        for (number, blob) in blobs.prefix(6).enumerated() {
          try tx.set(
            NodePath(keys: ["b", .integer(Int64(number))]), to: ["it": .array([.blob(blob)])])
        }
      }
      try database.write { tx in
        try tx.set("b/0", to: 0)  // replaced: goes
        try tx.remove("b/1")  // removed: goes
        try tx.remove("b/2")  // removed, and restored later: stays
        try tx.set("shared", to: .blob(blobs[3]))
        try tx.set("b/3", to: 0)  // referred to elsewhere: stays
      }
      try database.write { tx in try tx.set("n", to: 1) }
      try database.write { tx in
        try tx.restore("b/2", removedAt: 2)
        try tx.set("b/4", to: 0)  // replaced after the horizon: stays
      }
      try database.compact(upTo: 3)
      #expect(try there(database, blobs) == [false, false, true, true, true, true, true])
      #expect(try database.read(at: .sequence(3)) { try read($0, blobs[4]) } == content(4))
      try expectSound(database)
      try database.compact(upTo: 4)
      #expect(try there(database, blobs) == [false, false, true, true, false, true, true])
      #expect(try database.read { try read($0, blobs[2]) } == content(2))
      try database.rebuild()
      try expectSound(database)
    }
    try place.expectSound()
  }

  @Test("keeps those of the archive")
  func archive() throws {
    try place.use { database in
      let blob = try store(1, in: database)
      try database.write { tx in try tx.set("b", to: .blob(blob)) }
      try database.write { tx in try tx.set("b", to: 0) }
      try database.compact(upTo: 2, archives: true)
      try database.write { tx in try tx.set("b", to: 1) }
      try database.compact(upTo: 3)
      #expect(try there(database, [blob]) == [true])
      try expectSound(database)
    }
  }

  @Test("keeps one that was stored again, until it is referred to", arguments: [true, false])
  func storedAgain(inTransaction: Bool) throws {
    try place.use { database in
      let blob = try store(1, in: database)
      try database.write { tx in try tx.set("b", to: .blob(blob)) }
      try database.write { tx in try tx.set("b", to: 0) }
      if inTransaction {
        _ = try database.write { tx in try tx.store(content(1)) }
      } else {
        _ = try database.store(content(1))
      }
      try database.compact(upTo: 2)
      #expect(try there(database, [blob]) == [true])
      try database.write { tx in try tx.set("again", to: .blob(blob)) }
      try database.compact(upTo: 3)
      #expect(try database.read { try read($0, blob) } == content(1))
      try expectSound(database)
    }
  }

  @Test("keeps a content that a transaction stores again while it is being given up")
  func storedMeanwhile() throws {
    try place.use { database in
      let blob = try store(1, in: database)
      try database.write { tx in try tx.set("b", to: .blob(blob)) }
      try database.write { tx in try tx.set("b", to: 0) }
      try database.compact(upTo: 1)
      // As a compaction that is broken off leaves it: listed, and without its last chunk.
      let log = try LogWriter.begin(database.directory.log)
      let head = try log.reader.head()
      try log.setBlobsGivenUp([blob.hash])
      _ = try log.removeLastChunk(of: blob.hash)
      try log.commit(head: head)
      let again = try database.write { tx in try tx.store(content(1)) }
      try database.compact(upTo: 2)
      try database.write { tx in try tx.set("again", to: .blob(again)) }
      #expect(try database.read { try read($0, again) } == content(1))
      try expectSound(database)
    }
  }

  @Test("broken off at any step goes on; what is stored or referred to meanwhile stays")
  func brokenOff() throws {
    var calls = 0
    var isBrokenOff = true
    while isBrokenOff {
      let place = try Place()
      isBrokenOff = try place.use { database in
        let blobs = try (0..<4).map { try store($0, in: database) }
        for (number, blob) in blobs.enumerated() {
          let path = NodePath(keys: ["b", .integer(Int64(number))])
          try database.write { tx in try tx.set(path, to: .blob(blob)) }
          try database.write { tx in try tx.remove(path) }
        }
        let (count, callsMax) = (Counter(), calls)
        var wasBrokenOff = false
        do {
          try database.compact(upTo: 8) { _ in count.next() < callsMax }
        } catch is CancellationError {
          wasBrokenOff = true
        }
        // Stored as new where it is gone already, and taken off the list where it is not.
        let again = try database.store(content(2))
        try database.write { tx in try tx.set("again", to: .blob(again)) }
        try expectSound(database)
        try database.compact(upTo: 9)
        #expect(try there(database, blobs) == [false, false, true, false])
        #expect(try database.read { try read($0, again) } == content(2))
        try expectSound(database)
        return wasBrokenOff
      }
      calls += 1
    }
    #expect(calls > 4)
  }

  /// A few chunks that cannot be compressed.
  private func content(_ number: Int) -> Data {
    var random = SeededGenerator(seed: UInt64(number))
    return Data((0..<300_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }

  /// Stores one whose lease is over.
  private func store(_ number: Int, in database: Database) throws -> Blob {
    let blob = try database.store(content(number))
    try database.writer.exclusively {
      try database.directory.log.amend { try $0.removeLease(of: blob.hash) }
    }
    return blob
  }

  private func there(_ database: Database, _ blobs: [Blob]) throws -> [Bool] {
    try database.directory.log.read { log in try blobs.map { try log.hasBlob($0) } }
  }

  private func read(_ snapshot: Snapshot, _ blob: Blob) throws -> Data {
    var data = Data()
    try snapshot.read(blob) { data += $0 }
    return data
  }
}
