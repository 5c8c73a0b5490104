// Goal: an erasure leaves no copy of the state behind that holds what was erased: no checkpoint, no
// older generation, and nothing that was half-made. Method: a secret is written, a checkpoint is
// made of the state that holds it, and the bytes of every file are searched, before and after: for
// a database as it is, compacted, archived; opened again, and after a crash that left old copies.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A checkpoint and an erasure", .timeLimit(.minutes(2)))
struct ErasureCheckpointTests {
  private static let secret = Array("Ada Lovelace, born in 1815".utf8)
  private static let key = Array("subject-of-the-erasure".utf8)
  private static let place = NodePath(keys: ["users", .text("subject-of-the-erasure")])

  enum Past: CaseIterable, Sendable {
    /// The whole log is there.
    case whole
    /// The secret's first records are in a baseline.
    case compacted
    /// Besides, the records are in the archive.
    case archived
  }

  private let place: Place

  init() throws { place = try Place() }

  /// Writes the secret among other things, and makes a checkpoint of it.
  private func fill(_ past: Past) throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      let secret = String(decoding: Self.secret, as: UTF8.self)
      for number in 1...40 as ClosedRange<Int64> {
        try database.write { tx in
          try tx.set(Self.place, to: ["name": .string(secret), "number": .integer(number)])
          try tx.set(NodePath(keys: ["n", .integer(number)]), to: .integer(number))
        }
      }
      database.finishCheckpoint()
      if past != .whole { try database.compact(upTo: 31, archives: past == .archived) }
      // Compaction may have dropped the checkpoint; one is due again once the log is a quarter as
      // large as the state, which grows with every step in the background.
      let text = String(repeating: "x", count: 4000)
      for round in 1...100 {
        try database.write { tx in try tx.set("last", to: .string("\(round)\(text)")) }
        database.finishCheckpoint()
        if try !checkpoints.isEmpty { break }
      }
    }
    // One that was made before all that, as a file system may bring it back.
    #expect(try !checkpoints.isEmpty)
  }

  private var checkpoints: [String] {
    get throws {
      try place.names.filter { $0.hasPrefix("checkpoint-") && !$0.hasSuffix(".tmp") }
    }
  }

  private func expectErased(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for bytes in [Self.secret, Self.key] {
      #expect(try !place.contains(bytes), sourceLocation: sourceLocation)
    }
  }

  @Test("leaves none of it in the bytes of any file, at once or later", arguments: Past.allCases)
  func erased(_ past: Past) throws {
    try fill(past)
    let name = try #require(try checkpoints.first)
    let bytes = try Data(contentsOf: URL(filePath: "\(place.path)/\(name)/data.mdb"))
    #expect(bytes.firstRange(of: Self.secret) != nil)
    try Database.erase(Self.place, at: place.path)
    try expectErased()
    #expect(try checkpoints == [])
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      try expectErased()
      try database.write { tx in try tx.set("after", to: true) }
      database.finishCheckpoint()
      #expect(try checkpoints.count == 1)
      try expectErased()
      try database.compact(upTo: try database.head, archives: past == .archived)
      try database.rebuild()
      #expect(try database.read { try $0["n"].childCount } == 40)
      try expectSound(database)
    }
    try expectErased()
    // The state is rebuilt from the checkpoint and the baseline that are there now.
    try place.distrust()
    try place.use { database in
      #expect(try database.read { try $0[Self.place].exists } == false)
      try expectSound(database)
    }
    try expectErased()
  }

  @Test("goes at the next opening where a crash came before the sweep", arguments: Past.allCases)
  func crashed(_ past: Past) throws {
    try fill(past)
    let copy = place.beside("before.cambium")
    try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    try Database.erase(Self.place, at: place.path)
    // The log has its new content then, and everything that the old one named is still there; so
    // is what a checkpoint and a verification had begun.
    for name in try Files.names(in: copy) where UnusedDirectories.isNamedByLog(name) {
      guard !Files.exists("\(place.path)/\(name)") else { continue }
      try FileManager.default.copyItem(
        atPath: "\(copy)/\(name)", toPath: "\(place.path)/\(name)")
    }
    for name in ["checkpoint-77.tmp", "verify-77.tmp", "vacuum-77.tmp"] {
      try Files.createDirectory("\(place.path)/\(name)")
      try Data(Self.secret).write(to: URL(filePath: "\(place.path)/\(name)/data.mdb"))
    }
    #expect(try place.contains(Self.secret))
    try place.use { database in
      try expectErased()
      try expectSound(database)
    }
    try expectErased()
    #expect(try checkpoints == [])
  }
}
