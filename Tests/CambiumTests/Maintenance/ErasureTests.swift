// Goal: what is erased is nowhere any more, all else is as it was at every moment, and the log
// still verifies. Method: random histories, each moment compared with that of a copy that was made
// before; the files searched for the bytes; then what may be in the way: moves, baselines, archive,
// blobs, backups, forgery.

import Foundation
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("An erasure", .timeLimit(.minutes(3)))
struct ErasureTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test(
    "of a random history leaves every other node as it was at every moment",
    arguments: SeededGenerator.seeds(1, 2, 3, 4, 5))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    var erased = 0
    for round in 0..<12 {
      let course = try ErasureCourse(seed: seed &* 100 + UInt64(round))
      erased += try await course.run() ? 1 : 0
    }
    #expect(erased > 3)
  }

  @Test("goes on where a place takes that of another below it")
  func followed() throws {
    try place.use { database in
      for path: NodePath in ["c/d/f", "c/d/g", "p/w"] {
        try database.write { try $0.set(path, to: 1) }
      }
      let moves: [(NodePath, NodePath)] = [
        ("c/d/f", "r"), ("c/d", "q/z"), ("p", "q"), ("q/w", "c/d/e"),
      ]
      for (source, destination) in moves {
        try database.write { tx in
          if destination == "q" { try tx.remove("q") }
          try tx.move(source, to: destination)
        }
      }
    }
    var places = try ErasedPlaces("p")
    try ErasureRun.follow(&places, place.path, Database.Options())
    #expect(places.paths.contains("r"))
  }

  @Test("leaves nothing of a subject in the files")
  func bytes() throws {
    let (secret, noise) = ("Ada Lovelace 1815", Noise.bytes(40_000))
    try place.use { database in
      let blob = try database.store(Data(noise))
      try database.write { tx in
        try tx.set("users/ada-key-0/name", to: .string(secret))
        try tx.set("users/ada-key-0/portrait", to: .blob(blob))
        try tx.set("users/bob/name", to: "Bob")
      }
      for number in 0..<300 as Range<Int64> {
        try database.write { tx in
          try tx.update("users/bob", ["age": .integer(number)])
          try tx.set("users/ada-key-0/note", to: .string("\(secret), \(number)"))
        }
      }
      try database.write { tx in try tx.remove("users/ada-key-0") }
    }
    let searched = [Array(secret.utf8), Array("ada-key-0".utf8), Array(noise[1000..<1032])]
    for bytes in searched { #expect(try place.contains(bytes)) }
    let erasure = try Database.erase(
      "users/ada-key-0", at: place.path, metadata: ["reason": "asked for"])
    for bytes in searched { #expect(try !place.contains(bytes)) }
    #expect(erasure.transactions == 302 && erasure.blobs == 1 && erasure.sequence == 303)
    #expect(erasure.bytesAfter < erasure.bytesBefore)
    try place.use { database in
      #expect(try database.read { try $0["users/bob/age"].value } == 299)
      #expect(try database.read(at: .sequence(100)) { try $0["users/bob/age"].value } == 98)
      #expect(try database.read(at: .sequence(100)) { try $0["users"].childCount } == 1)
      let commit = try database.commit(5)
      #expect(commit.isErased)
      #expect(try commit.changes.fetch().map(\.path) == ["users/bob"])
      let record = try database.commit(303)
      #expect(!record.isErased && record.metadata["reason"] == "asked for")
      #expect(record.events.map(\.name) == [Erasure.eventName])
      try database.write { tx in try tx.set("users/ada-key-0", to: "anew") }
      #expect(try database.verify().unvouched == 0)
      try expectSound(database)
    }
  }

  @Test("of a property leaves the others of its record", arguments: [false, true])
  func property(isCompacted: Bool) throws {
    try place.use { database in
      try database.write { tx in
        try tx.set("users/ada", to: ["name": "Ada", "mail": "ada@example.com"])
        try tx.set("users/bob", to: ["mail": "bob@example.com"])
      }
      try database.write { tx in
        try tx.update("users/ada", ["mail": "countess@example.com", "age": 36])
      }
      try database.write { tx in try tx.update("users/ada", ["mail": "last@example.com"]) }
      try database.write { tx in try tx.remove("users/ada") }
      try database.write { tx in try tx.restore("users/ada", removedAt: 4) }
      if isCompacted { try database.compact(upTo: 4) }
    }
    try Database.erase("users/ada/mail", at: place.path)
    for text in ["ada@ex", "countess", "last@ex"] {
      #expect(try !place.contains(Array(text.utf8)))
    }
    try place.use { database in
      #expect(try database.read { try $0["users/ada"].value } == ["name": "Ada", "age": 36])
      #expect(try database.read { try $0["users/bob/mail"].value } == "bob@example.com")
      try expectSound(database)
    }
  }

  @Test("goes where the data was moved, if that is wanted")
  func moved() throws {
    try place.use { database in
      try database.write { tx in try tx.set("people/ada/name", to: "Ada") }
      try database.write { tx in try tx.move("people", to: "users") }
      try database.write { tx in try tx.move("users/ada/name", to: "names/1") }
      try database.write { tx in try tx.set("users/bob", to: "Bob") }
    }
    let planned = try Database.planErasure(of: "users/ada", at: place.path)
    #expect(planned.places == ["names/1", "people/ada", "users/ada"])
    #expect(planned.sequence == .zero && planned.transactions == 2)
    #expect(throws: DatabaseError.self) { try Database.erase("users/ada", at: place.path) }
    #expect(try place.use { try $0.head } == 4)
    let erasure = try Database.erase("users/ada", at: place.path, includingMoved: true)
    #expect(erasure.places == planned.places && erasure.operations == planned.operations)
    try place.use { database in
      #expect(try database.read { try $0["names"].exists })
      #expect(try database.read { try $0["names"].childCount } == 0)
      #expect(try database.read(at: .sequence(1)) { try $0["people"].childCount } == 0)
      #expect(try database.read { try $0["users"].childCount } == 1)
      try expectSound(database)
    }
  }

  @Test("keeps a blob that something else refers to, and one that nothing refers to yet")
  func blobs() throws {
    try place.use { database in
      let (shared, own) = (
        try database.store(Data(Noise.bytes(300))), try database.store(Data(Noise.bytes(200)))
      )
      _ = try database.store(Data(Noise.bytes(100)))
      try database.write { tx in
        try tx.set("users/ada", to: ["both": .array([.blob(shared), .blob(own)])])
        try tx.set("films/1", to: .blob(shared))
      }
    }
    #expect(try Database.erase("users/ada", at: place.path).blobs == 1)
    for count in [300, 100] { #expect(try place.contains(Noise.bytes(count))) }
    #expect(try !place.contains(Noise.bytes(200)))
    try place.expectSound()
  }

  @Test("reaches baseline and archive", arguments: [false, true])
  func compacted(archives: Bool) throws {
    try place.use { database in
      try database.write { tx in try tx.set("secret/a", to: "hidden treasure") }
      try database.writeCounts(2...20)
      try database.compact(upTo: 5)
      try database.write { tx in try tx.set("secret/b/c", to: "hidden treasure") }
      try database.write { tx in try tx.remove("secret") }
      try database.writeCounts(23...40)
      try database.write { tx in try tx.restore("secret", removedAt: 22) }
      try database.compact(upTo: 30, archives: archives)
      try database.tag("here", at: .sequence(35))
      try database.consumer("mirror").advance(to: 33)
    }
    try Database.erase("secret", at: place.path)
    #expect(try !place.contains(Array("treasure".utf8)))
    try place.use { database in
      #expect(try database.horizon == 30)
      #expect(try database.tags.map(\.name) == ["here"])
      #expect(try database.consumer("mirror").position() == 33)
      #expect(try database.read { try $0["secret"].exists } == false)
      #expect(try database.read(at: .sequence(35)) { try $0["n/5/count"].value } == 34)
      try database.rebuild()
      try expectSound(database)
      guard archives else { return }
      let copy = place.beside("copy.cambium")
      try database.replay(to: copy, until: 22)
      let restored = try Database(at: copy)
      #expect(try restored.read { try $0["n/5/count"].value } == 20)
      #expect(try restored.verify().unvouched == 2)
      try expectSound(restored)
      try restored.close()
    }
    #expect(try place.names.filter { $0.hasPrefix("baseline") }.allSatisfy { $0.hasSuffix(".1") })
    try Database.erase("n/5", at: place.path)
    try place.expectSound()
  }

  @Test("can be undone no more than compaction can, and what came before it can be")
  func undo() throws {
    try place.use { database in
      try database.write { tx in
        try tx.set("a", to: 1)
        try tx.set("secret", to: 2)
      }
      try database.write { tx in try tx.set("a", to: 3) }
    }
    try Database.erase("secret", at: place.path)
    try place.use { database in
      #expect(throws: DatabaseError.self) { try database.undo(3) }
      // The newest change is the one before the erasure.
      #expect(try database.undoLast()?.undoes == [2])
      #expect(try database.read { try $0["a"].value } == 1)
      try database.undo(1)
      #expect(try database.read { try $0.root.rows() }.isEmpty)
      try expectSound(database)
    }
  }

  @Test("goes on in backups that are made of it, and can be restored")
  func backups() throws {
    try place.use { database in
      try database.writeCounts(1...30)
      try database.write { tx in try tx.set("secret", to: "hidden treasure") }
    }
    try Database.erase("secret", at: place.path)
    try place.use { database in
      _ = try database.backUp(to: place.backup)
      #expect(try place.restoredHead() == 32)
      #expect(try place.withRestored(.sequence(31)) { try $0.verify().unvouched } == 1)
    }
    #expect(try !place.contains(Array("treasure".utf8)))
  }

  @Test("is refused where there is nothing, at the root, and while the database is open")
  func refused() throws {
    try place.fill(3)
    let before = try place.names
    for path in ["n/4", "", "m"] as [NodePath] {
      #expect(throws: DatabaseError.self) { try Database.erase(path, at: place.path) }
    }
    try place.use { _ in
      #expect(throws: DatabaseError.self) { try Database.erase("n/1", at: place.path) }
    }
    let missing = place.beside("missing.cambium")
    #expect(throws: DatabaseError.noDatabase(path: missing)) {
      try Database.erase("n/1", at: missing)
    }
    #expect(try place.names == before)
    #expect(try place.use { try $0.head } == 3)
    try place.expectSound()
  }

  @Test("leaves records whose forgery shows")
  func forged() throws {
    try place.fill(3)
    try Database.erase("n/2", at: place.path)
    try place.editLog { transaction, tables in
      let key = LogTables.recordKey(2, part: 0)
      let stored = try key.lend { try transaction.access.get(tables.records, $0) { $0.array() } }
      var record = try #require(stored).lend { try TransactionRecord($0) }
      var forged = OperationWriter()
      forged.write(.set("m", Content(kind: .scalar, bytes: [ValueTag.true])))
      record.erase(leaving: forged)
      let bytes = record.stored()
      try key.lend { key in try bytes.lend { try transaction.put(tables.records, key, $0) } }
    }
    try place.use { database in
      let findings = try database.verify().findings.map { "\($0)" }
      #expect(findings.contains { $0.contains("what is left of record 2") })
    }
  }
}

extension Place {
  /// True if any file of the database contains these bytes.
  func contains(_ bytes: [UInt8]) throws -> Bool {
    try FileManager.default.subpathsOfDirectory(atPath: path).contains { name in
      let file = "\(path)/\(name)"
      if Files.isDirectory(file) { return false }
      return try Data(contentsOf: URL(filePath: file)).firstRange(of: bytes) != nil
    }
  }
}

/// A random history, of which a random place is erased, and a copy made before, which is compared.
private struct ErasureCourse {
  private let place: Place
  private let seed: UInt64
  private var random: SeededGenerator

  init(seed: UInt64) throws {
    place = try Place()
    self.seed = seed
    random = SeededGenerator(seed: seed &+ 1 << 40)
  }

  /// Erases a random place, and compares the result with the copy.
  ///
  /// - Returns: True if there was something to erase.
  func run() async throws -> Bool {
    var random = random
    let database = try place.open()
    let history = RandomHistory(database, seed: seed, callsMax: 8)
    try await history.run(calls: 60 + random.below(200))
    if random.oneIn(2) {
      try history.compact(archives: random.oneIn(2))
      try await history.run(calls: 40)
    }
    let wanted = history.calls.path()
    try await database.close()
    let copy = place.beside("copy.cambium")
    try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    let erasure: Erasure
    do {
      erasure = try Database.erase(wanted, at: place.path, includingMoved: true)
    } catch let error as DatabaseError where error.isRefusal {
      try place.expectSound()
      return false
    }
    do { try compare(copy, erasure) } catch {
      throw Divergence("seed \(seed), \(wanted) (\(erasure.places)): \(error)")
    }
    return true
  }

  private func compare(_ copy: String, _ erasure: Erasure) throws {
    let old = try Database(at: copy)
    let new = try place.open()
    let (horizon, head) = (try old.horizon.rawValue, try old.head.rawValue)
    try requireSame(
      [try new.horizon.rawValue, try new.head.rawValue], [horizon, head + 1], "ends")
    for sequence in horizon...head {
      let moment = Moment.sequence(SequenceNumber(sequence))
      let rows = try old.read(at: moment) { try $0.root.rows() }
      let expected = ErasureCourse.rows(rows, without: erasure.places)
      let found = ErasureCourse.rows(
        try new.read(at: moment) { try $0.root.rows() }, without: erasure.places)
      try requireSame(found, expected, "transaction \(sequence)")
    }
    for found in try new.verify().findings { throw Divergence("\(found)") }
    try new.rebuild()
    try new.write { tx in try tx.set("after", to: 1) }
    try expectSound(new)
    try new.close()
    try old.close()
  }

  /// Rows without what is at some places. When a record with an erased property was last changed,
  /// and whether there still is one, is left open.
  private static func rows(_ rows: [Row], without places: [NodePath]) -> [Row] {
    var left = rows.filter { row in !places.contains { row.path.isWithin($0) } }
    var counts: [NodePath: Int] = [:]
    for row in left { counts[row.path.parent ?? .root, default: 0] += 1 }
    for index in left.indices {
      left[index].childCount = counts[left[index].path] ?? 0
      for place in places where place.parent == left[index].path {
        guard case .map(var record)? = left[index].value, let name = place.last else { continue }
        record[name.description] = nil
        left[index].value = record.isEmpty ? nil : .map(record)
        left[index].modified = nil
      }
      if places.contains(where: { $0.parent == left[index].path }) { left[index].modified = nil }
    }
    return left
  }
}

extension DatabaseError {
  /// True if there was nothing to erase, or it was moved too often.
  fileprivate var isRefusal: Bool {
    switch self {
    case .notFound, .misuse: true
    default: false
    }
  }
}
