// Reading and repairing a damaged log: how much of it can be read, that nothing is written, and
// what a repair makes of it.
//
// Oracles: the database before the damage, read at each moment; and a second database that was
// never damaged, to which the same transactions were written, but for those that are lost.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A damaged log", .timeLimit(.minutes(1)))
struct DamagedLogTests {
  private let place: Place
  private let heard = Heard()
  private let rows: [[Row]]
  private static let count: UInt64 = 12

  init() throws {
    place = try Place()
    rows = try place.use { database in
      for number in 1...Self.count { try database.write { try Self.write(number, $0) } }
      return try (0...Self.count).map { number in
        try database.read(at: .sequence(SequenceNumber(number))) { try $0.root.rows() }
      }
    }
  }

  /// Transaction `number` makes a node with a property of its own, and changes a common one.
  private static func write(_ number: UInt64, _ tx: borrowing Database.Transaction) throws {
    try tx.set(
      NodePath(keys: ["n", .integer(Int64(number))]),
      to: ["p\(number)": .integer(Int64(number)), "kind": "node"])
    try tx.set("last", to: .integer(Int64(number)))
  }

  private func expectCorrupt(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    do {
      try body()
      Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch DatabaseError.corrupt(let reason) {
      #expect(reason.contains(text), sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  private func expectRows(_ database: Database, upTo last: UInt64) throws {
    #expect(try database.head == SequenceNumber(last))
    for number in 0...last {
      let moment = Moment.sequence(SequenceNumber(number))
      #expect(try database.read(at: moment) { try $0.root.rows() } == rows[Int(number)])
    }
  }

  // MARK: Opening

  @Test("is read up to the damage where the state must be made anew; nothing is written")
  func opening() throws {
    for damaged in [1, 2, 7, Self.count] {
      let place = try Place()
      try place.use { database in
        for number in 1...Self.count { try database.write { try Self.write(number, $0) } }
      }
      try place.damageRecord(SequenceNumber(damaged))
      try place.distrust()
      let (names, log) = (try place.names, try Data(contentsOf: URL(filePath: place.log)))
      let heard = Heard()
      let database = try place.open { $0.diagnostics = heard.add }
      try expectRows(database, upTo: damaged - 1)
      #expect(heard.damaged == [SequenceNumber(damaged)])
      #expect(heard.rebuilds == [])
      expectCorrupt("`cambium repair`") { try database.write { try $0.set("a", to: 1) } }
      expectCorrupt("record \(damaged) ") { try database.rebuild() }
      let findings = try database.verify().findings
      #expect(findings.map(\.part) == ["log"])
      #expect(findings.first?.description.contains("record \(damaged) ") == true)
      try database.close()
      #expect(try place.names == names)
      #expect(try Data(contentsOf: URL(filePath: place.log)) == log)
    }
  }

  @Test("is read as a whole where the state is sound; writing ends when the damage is met")
  func soundState() throws {
    try place.damageRecord(5)
    try place.use { database in
      try expectRows(database, upTo: Self.count)
      expectCorrupt("record 5 ") { _ = try database.commit(5) }
      expectCorrupt("record 5 ") { try database.write { try $0.set("a", to: 1) } }
      try expectRows(database, upTo: Self.count)
      #expect(try database.commit(6).sequence == 6)
    }
  }

  @Test("is read as a whole where a checkpoint lies behind the damage")
  func checkpoint() throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      try database.write { try $0.set("last", to: 12) }
      database.finishCheckpoint()
    }
    try place.damageRecord(5)
    try place.distrust()
    try place.use({ $0.diagnostics = heard.add }) { (database: Database) throws in
      #expect(try database.head == SequenceNumber(Self.count + 1))
      #expect(try database.read(at: .sequence(7)) { try $0.root.rows() } == rows[7])
    }
    #expect(heard.damaged == [])
  }

  @Test("that the state has not seen to its end is read up to the damage")
  func behind() throws {
    for node in ["x", "y", "z"] as [NodePath] { try place.appendToLog(node, 1) }
    try place.damageRecord(SequenceNumber(Self.count + 2))
    try place.use({ $0.diagnostics = heard.add }) { (database: Database) throws in
      #expect(try database.head == SequenceNumber(Self.count + 1))
      #expect(try database.read { try $0["x"].value } == 1)
      #expect(try database.read(at: .sequence(9)) { try $0.root.rows() } == rows[9])
      expectCorrupt("`cambium repair`") { try database.write { try $0.set("a", to: 1) } }
    }
    #expect(heard.damaged == [SequenceNumber(Self.count + 2)])
  }

  // MARK: Examining

  @Test("is examined without a change, and every damaged record is named")
  func examining() throws {
    #expect(try Database.examineLog(at: place.path).isSound)
    try place.damageRecord(3)
    try place.damageRecord(8)
    let before = try place.listing()
    let found = try Database.examineLog(at: place.path)
    #expect(try place.listing() == before)
    #expect(found.lost.map(\.sequence) == [3, 8])
    #expect(found.sound == 2)
    #expect(found.head == SequenceNumber(Self.count))
    #expect(found.records == Self.count - 2)
    #expect(found.findings == [])
  }

  @Test("whose record is missing, or is another's, is examined by number")
  func exchanged() throws {
    try place.editLog { transaction, tables in
      _ = try LogTables.recordKey(4, part: 0).lend { try transaction.delete(tables.records, $0) }
      let other = try LogTables.recordKey(6, part: 0).lend { key in
        try transaction.access.get(tables.records, key) { $0.array() }
      }
      try LogTables.recordKey(9, part: 0).lend { key in
        try (try #require(other)).lend { try transaction.put(tables.records, key, $0) }
      }
    }
    let found = try Database.examineLog(at: place.path)
    #expect(found.lost.map(\.sequence) == [4, 9])
    #expect(found.lost.first?.reason == "it is missing")
    #expect(found.lost.last?.reason == "it says that it is 6")
  }

  // MARK: Repairing

  /// Repairs, and opens the result, which must be sound; the original must not change.
  private func repaired<R>(
    _ method: LogRepair, _ body: (Database, RepairedLog) throws -> R
  ) throws -> R {
    let copy = try Place()
    let before = try place.listing()
    let result = try Database.repair(place.path, by: method, to: copy.path)
    #expect(try copy.names == ["log"])
    #expect(try Files.names(in: "\(copy.path)/log") == ["data.mdb", "lock.mdb"])
    let value = try copy.use { database in
      try expectSound(database)
      return try body(database, result)
    }
    #expect(try place.listing() == before)
    return value
  }

  @Test("that is cut has what was before the damage, with the same links")
  func cut() throws {
    let link = try place.use { try $0.directory.log.read { try $0.record(6).link } }
    try place.damageRecord(7)
    try place.damageRecord(9)
    try repaired(.cut) { database, result in
      #expect(result.head == 6 && result.kept == 6 && result.lostCount == 0)
      try expectRows(database, upTo: 6)
      #expect(try database.directory.log.read { try $0.head().link } == link)
      try database.write { try $0.set("a", to: 1) }
    }
  }

  @Test("that is salvaged lacks what the damaged records did, and nothing else")
  func salvage() throws {
    let lost: Set<UInt64> = [1, 6, 7, Self.count]
    for number in lost { try place.damageRecord(SequenceNumber(number)) }
    let oracle = try Place()
    let expected = try oracle.use { database in
      for number in 1...Self.count {
        // A placeholder for what is lost, so that the numbers are the same.
        try database.write {
          if lost.contains(number) {
            try $0.define("p\(number)")
          } else {
            try Self.write(number, $0)
          }
        }
      }
      return try (0...Self.count).map { number in
        try database.read(at: .sequence(SequenceNumber(number))) { try $0.root.rows() }
      }
    }
    try repaired(.salvage) { database, result in
      #expect(result.lost.map(\.sequence.rawValue) == lost.sorted())
      #expect(result.kept == Self.count - 4)
      #expect(try database.head == SequenceNumber(Self.count))
      for number in 0...Self.count {
        let moment = Moment.sequence(SequenceNumber(number))
        #expect(
          try database.read(at: moment) { try $0.root.rows() } == expected[Int(number)],
          "transaction \(number)")
      }
      for number in 1...Self.count {
        let note = try database.commit(SequenceNumber(number)).metadata["cambium.repair"]
        #expect((note?.hasPrefix("lost: ") == true) == lost.contains(number))
      }
    }
  }

  @Test("is salvaged without names that no state has, and what needs lost nodes is lost, too")
  func lostNames() throws {
    let place = try Place()
    try place.use { database in
      try database.write { try $0.set("a", to: ["name": "Ada"]) }
      try database.write { try $0.set("b", to: ["size": 1]) }
      try database.write { try $0.update("a", ["name": "Bea", "age": 3]) }
      try database.write { try $0.update("b", ["size": 2]) }
      try database.write { try $0.set("c", to: ["name": "Cleo", "age": 4, "size": 5]) }
    }
    try place.damageRecord(1)
    try FileManager.default.removeItem(atPath: Files.parent(of: place.state))
    let copy = try Place()
    let result = try Database.repair(place.path, by: .salvage, to: copy.path)
    #expect(result.lost.map(\.sequence) == [1, 3])
    #expect(result.lost.last?.reason.contains("cannot be applied") == true)
    try copy.use { database in
      try expectSound(database)
      #expect(try database.read { try $0["b"]["size"] } == 2)
      #expect(
        try database.read { try $0["c"].value }
          == ["lost-name-0": "Cleo", "age": 4, "size": 5])
    }
  }

  @Test("keeps the blobs that are whole")
  func blobs() throws {
    let good = Data(repeating: 1, count: 600_000)
    let bad = Data((0..<600_000).map { UInt8($0 % 251) })
    let blobs = try place.use { database in
      try [good, bad].map { data in try database.write { try $0.store(data) } }
    }
    try place.editLog { transaction, tables in
      _ = try blobs[1].key(1).lend { try transaction.delete(tables.blobs, $0) }
    }
    #expect(try Database.examineLog(at: place.path).blobsLost == 1)
    try repaired(.cut) { database, result in
      #expect(result.blobsLost == 1)
      var content = Data()
      try database.snapshot().read(blobs[0]) { content += $0 }
      #expect(content == good)
    }
  }

  @Test("is repaired though pages are damaged that LMDB would die of")
  func pages() throws {
    let place = try Place()
    try place.use { database in
      for number in 1...400 as ClosedRange<Int64> {
        try database.write {
          let text = String(repeating: "x", count: 300)
          try $0.set(NodePath(keys: ["n", .integer(number)]), to: .string(text))
        }
      }
    }
    // The leaf of the records table in the middle of the log: its number is spoiled.
    var data = try Data(contentsOf: URL(filePath: place.log))
    let wanted = Data(LogTables.recordKey(200, part: 0))
    let pages = stride(from: 2 * 4096, to: data.count, by: 4096).filter {
      data[$0 + 10] == 2 && data[$0..<($0 + 4096)].range(of: wanted) != nil
    }
    #expect(!pages.isEmpty)
    for page in pages { data[page + 1] ^= 0x40 }
    try data.write(to: URL(filePath: place.log))
    let found = try Database.examineLog(at: place.path)
    #expect(!found.findings.isEmpty)
    #expect(found.lost.contains { $0.sequence == 200 })
    #expect(found.records + found.lostCount == 400)
    #expect(found.lostCount < 40)
    let copy = try Place()
    let result = try Database.repair(place.path, by: .salvage, to: copy.path)
    #expect(result.kept == found.records && result.head == 400)
    try copy.use { database in
      try expectSound(database)
      let lost = Set(found.lost.map(\.sequence.rawValue))
      for number in 1...400 as ClosedRange<Int64> {
        #expect(
          try (database.read { try $0[NodePath(keys: ["n", .integer(number)])].value } == nil)
            == lost.contains(UInt64(number)))
      }
    }
  }

  // MARK: After a crash of the system

  @Test("whose newest page is damaged is not given to LMDB after a crash of the system")
  func rightSpine() throws {
    try place.distrust()
    // The last record defines this name, so no other leaf has it.
    let wanted = Data("p\(Self.count)".utf8)
    var data = try Data(contentsOf: URL(filePath: place.log))
    let pages = stride(from: 2 * 4096, to: data.count, by: 4096).filter {
      data[$0 + 10] == 2 && data[$0..<($0 + 4096)].range(of: wanted) != nil
    }
    #expect(!pages.isEmpty)
    for page in pages { data[page + 12] = 0xFF }
    try data.write(to: URL(filePath: place.log))
    expectCorrupt("damaged pages") { _ = try place.open() }
    #expect(try Database.examineLog(at: place.path).lostCount > 0)
  }

  // MARK: Pages alone

  @Test("and every other file of LMDB is walked page by page without LMDB")
  func pagesAlone() throws {
    let files = try Database.walkPages(of: place.path)
    #expect(files.map(\.path) == ["\(place.path)/log/data.mdb", try place.state])
    #expect(files.allSatisfy { $0.findings.isEmpty && $0.used > 2 && !$0.tables.isEmpty })
    #expect(try Database.walkPages(of: "\(place.path)/log").map(\.used) == [files[0].used])
    #expect(try Database.walkPages(of: place.log).map(\.used) == [files[0].used])
    var data = try Data(contentsOf: URL(filePath: place.log))
    for page in stride(from: 2 * 4096, to: data.count, by: 4096) { data[page] ^= 1 }
    try data.write(to: URL(filePath: place.log))
    #expect(try Database.walkPages(of: place.log)[0].findings.count > 0)
    try Data(count: 10_000).write(to: URL(filePath: place.log))
    #expect(try Database.walkPages(of: place.log)[0].findings.count == 1)
    #expect(throws: DatabaseError.noDatabase(path: "/nowhere")) {
      try Database.walkPages(of: "/nowhere")
    }
  }
}
