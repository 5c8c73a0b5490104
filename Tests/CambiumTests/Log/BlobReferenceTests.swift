// Goal: no value refers to a blob that is not there, and where one does, verification and the check
// of a backup say so.
// Method: references to what was never stored, to another size, to what a failed body stored; then
// chunks are removed behind the database's back, below records, baselines, segments and backups.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A reference to a blob", .timeLimit(.minutes(1)))
struct BlobReferenceTests {
  private let place: Place
  private static let unknown = Blob(hash: [UInt8](repeating: 7, count: 32), size: 300_000)

  init() throws { place = try Place() }

  private func content(_ number: Int, count: Int = 300_000) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* ($0 >> 8 | 1) &+ number) })
  }

  // MARK: Writing

  /// Every way to store a value that holds one.
  static let ways:
    [(name: String, write: @Sendable (borrowing Database.Transaction, Value) throws -> Void)] = [
      ("set", { try $0.set("x", to: $1) }),
      ("set, in an array", { try $0.set("x", to: [1, [$1]]) }),
      ("set, in a record", { try $0.set("x", to: ["a": 1, "b": $1]) }),
      ("set, in a map of a record", { try $0.set("x", to: ["a": ["b": $1]]) }),
      ("set, as a property", { try $0.set("r/a", to: $1) }),
      ("update", { try $0.update("r", ["a": $1]) }),
      ("append", { try $0.append(.array([$1]), to: "r", "list") }),
      ("insert", { try $0.insert($1, at: 0, into: "r", "list") }),
      ("member of a set", { try $0.insert($1, into: "r", "set") }),
      ("entry", { try $0.set("r", "map", "k", to: $1) }),
      ("event", { try $0.event("seen", $1) }),
    ]

  @Test(
    "that is not stored is refused by every call, and taken once it is",
    arguments: ways.indices)
  func refused(index: Int) throws {
    let way = Self.ways[index]
    try place.use { database in
      try database.write { tx in try tx.set("r", to: ["list": [], "set": [], "map": [:]]) }
      let error = #expect(throws: DatabaseError.self, "\(way.name)") {
        try database.write { tx in try way.write(tx, .blob(Self.unknown)) }
      }
      guard case .badValue(_, let reason)? = error, reason.contains("not stored") else {
        Issue.record("\(way.name): \(error as Any)")
        return
      }
      #expect(try database.head == 1)
      let blob = try database.store(content(1))
      try database.write { tx in try way.write(tx, .blob(blob)) }
      try database.write { tx in try way.write(tx, .blob(try tx.store(content(2)))) }
      #expect(try database.head == 3)
      try expectSound(database)
    }
  }

  @Test("of another size is refused", arguments: [0, 1, 299_999, 300_001, 262_144, 900_000])
  func size(size: UInt64) throws {
    try place.use { database in
      for content in [content(1), Data(repeating: 0, count: 300_000)] {
        let blob = try database.store(content)
        #expect(throws: DatabaseError.self) {
          try database.write { tx in try tx.set("x", to: .blob(Blob(hash: blob.hash, size: size))) }
        }
        try database.write { tx in try tx.set("x", to: .blob(blob)) }
      }
      let empty = try database.store(Data())
      try database.write { tx in try tx.set("x", to: .blob(empty)) }
      try expectSound(database)
    }
  }

  @Test("to what a body stored that failed is refused")
  func failedBody() throws {
    try place.use { database in
      struct Stop: Error {}
      var blob: Blob?
      #expect(throws: Stop.self) {
        try database.write { tx in
          blob = try tx.store(content(3))
          throw Stop()
        }
      }
      let lost = try #require(blob)
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("x", to: .blob(lost)) }
      }
      try database.write { tx in
        try tx.set("y", to: 1)
        #expect(throws: DatabaseError.self) { try tx.set("x", to: .blob(lost)) }
      }
      #expect(try database.read { try $0["y"].value } == 1)
      try expectSound(database)
    }
  }

  // MARK: Verification

  private func remove(_ chunk: UInt32, of blob: Blob) throws {
    try place.editLog { transaction, tables in
      _ = try blob.key(chunk).lend { try transaction.delete(tables.blobs, $0) }
    }
  }

  private func expectMissing(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try place.use { database in
      let findings = try database.verify().findings
      #expect(
        findings.contains { $0.part == "log" && "\($0)".contains(text) }, "\(findings)",
        sourceLocation: sourceLocation)
    }
  }

  @Test(
    "of a record is a finding where all of the blob is gone, or its end", arguments: [true, false])
  func record(isWhole: Bool) throws {
    let blob = try place.use { database in
      let blob = try database.store(content(1))
      try database.write { tx in try tx.set("x", to: ["deep": .array([.blob(blob)])]) }
      try database.write { tx in try tx.set("x", to: 1) }
      try expectSound(database)
      return blob
    }
    try remove(1, of: blob)
    if isWhole { try remove(0, of: blob) }
    try expectMissing("record 1 refers to the blob")
  }

  @Test("of a record is a finding where the value came without its blob")
  func appended() throws {
    try place.fill(1)
    try place.appendToLog("x", .blob(Self.unknown))
    try expectMissing("record 2 refers to the blob 0707070707070707")
  }

  @Test("of a baseline is a finding; what compaction gave up is none")
  func baseline() throws {
    let blob = try place.use { database in
      let kept = try database.store(content(1))
      try database.write { tx in try tx.set("x", to: .blob(kept)) }
      let gone = try database.write { tx in
        let gone = try tx.store(content(2))
        try tx.set("y", to: .blob(gone))
        return gone
      }
      try database.write { tx in try tx.set("y", to: 1) }
      try database.write { tx in try tx.set("z", to: 1) }
      try database.compact(upTo: 4)
      #expect(try database.directory.log.read { try !$0.hasBlob(gone) })
      try expectSound(database)
      return kept
    }
    for chunk in 0..<blob.chunkCount { try remove(chunk, of: blob) }
    try expectMissing("the baseline of transaction 4 refers to the blob")
  }

  @Test("of an archived record is a finding")
  func segment() throws {
    let blob = try place.use { database in
      let blob = try database.store(content(1))
      try database.write { tx in try tx.set("x", to: .blob(blob)) }
      try database.write { tx in try tx.set("x", to: 1) }
      try database.compact(upTo: 2, archives: true)
      try database.write { tx in try tx.set("x", to: 2) }
      try expectSound(database)
      return blob
    }
    for chunk in 0..<blob.chunkCount { try remove(chunk, of: blob) }
    try expectMissing("record 1 refers to the blob")
  }

  @Test("that was erased is none any more")
  func erased() throws {
    try place.use { database in
      let blob = try database.store(content(1))
      try database.write { tx in try tx.set("secret/x", to: .blob(blob)) }
      try database.write { tx in try tx.set("other", to: 1) }
    }
    try Database.erase("secret", at: place.path)
    try place.expectSound()
  }

  // MARK: Backups

  @Test(
    "in a backup is damage where the blob is missing, of a record or a baseline",
    arguments: [true, false])
  func backup(isCompacted: Bool) throws {
    let blob = try place.use { database in
      let blob = try database.store(content(1))
      try database.write { tx in try tx.set("x", to: .blob(blob)) }
      try database.write { tx in try tx.set("y", to: 1) }
      if isCompacted { try database.compact(upTo: 2) }
      try database.backUp(to: place.beside("whole.backup"))
      #expect(try Database.checkBackup(place.beside("whole.backup")).damage == [])
      return blob
    }
    for chunk in 0..<blob.chunkCount { try remove(chunk, of: blob) }
    try place.use { database in
      try database.backUp(to: place.backup)
      try database.backUp(toFile: place.beside("one.backup"))
    }
    for path in [place.backup, place.beside("one.backup")] {
      let damage = try Database.checkBackup(path).damage
      let cause = isCompacted ? "the baseline of transaction 2" : "record 1"
      #expect(damage.count == 1 && damage[0].hasPrefix("\(cause) refers to the blob"), "\(damage)")
    }
  }

  @Test(
    "in a backup is named where there are ten; of more only the number is", arguments: [10, 13])
  func manyInBackup(count: Int) throws {
    let blobs = try place.use { database in
      try (0..<count).map { number in
        let blob = try database.store(content(number, count: 100))
        try database.write { tx in try tx.set("x", to: .blob(blob)) }
        return blob
      }
    }
    for blob in blobs { try remove(0, of: blob) }
    try place.use { try $0.backUp(to: place.backup) }
    let damage = try Database.checkBackup(place.backup).damage
    let named = damage.filter { $0.contains("refers to the blob") }
    #expect(named.count == 10 && Set(named).count == 10, "\(damage)")
    let rest = damage.filter { !named.contains($0) }
    #expect(rest == (count > 10 ? ["\(count - 10) more blobs are missing"] : []))
  }
}
