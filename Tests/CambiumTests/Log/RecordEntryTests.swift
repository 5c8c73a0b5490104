// Goal: a record comes back from its compressed entry as it was sealed, and damage to an entry is
// never taken for a record. Method: logs of records of random sizes and contents, compared with the
// records that were appended; every byte of an entry changed; and databases that compress nearly
// everything, beside the model of their history.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("A compressed record", .timeLimit(.minutes(2)))
struct RecordEntryTests {
  // MARK: The stored form

  /// The golden record in an entry whose frame was put together by hand, by RFC 8878: a block as it
  /// is, of a single segment.
  private static var goldenEntry: [UInt8] {
    let record = GoldenLogTests.storedRecord
    var entry = Array(record[..<62])
    entry[9] = 0x80
    let rest = record[62...]
    entry += [UInt8](littleEndian: UInt32(rest.count + 9))
    entry += [0x28, 0xB5, 0x2F, 0xFD, 0x20, UInt8(rest.count)]
    let block = rest.count << 3 | 1
    entry += [UInt8(block & 0xFF), UInt8(block >> 8 & 0xFF), UInt8(block >> 16)]
    return entry + rest
  }

  @Test("is read from an entry as the file format says")
  func golden() throws {
    let entry = Self.goldenEntry
    #expect(try entry.lend { try RecordEntry.record($0) } == GoldenLogTests.record())
    #expect(try entry.lend { try RecordEntry.count(startingWith: $0) } == entry.count)
    #expect(try entry.lend { try TransactionRecord.operationCount(startingWith: $0) } == 1)
  }

  @Test("is never another one where a byte of its entry has changed, or some are missing")
  func damagedEntry() throws {
    let record = Self.record(2, TransactionRecord.firstLink, [UInt8](repeating: 7, count: 3000))
    let made = RecordEntry.make(of: record, RecordSizes(), ZstandardCompressor())
    for entry in [made, Self.goldenEntry] {
      let sound = try entry.lend { try RecordEntry.record($0) }
      #expect(try entry.lend { try RecordEntry.isCompressed($0) })
      func expectRefused(_ damaged: [UInt8], _ what: String) {
        do {
          let found = try damaged.lend { try RecordEntry.record($0) }
          #expect(found == sound, "\(what) is taken for another record")
        } catch { #expect(error is DatabaseError, "\(what): \(error)") }
      }
      for index in entry.indices {
        for change in [1, 0x80, 0xFF] as [UInt8] {
          var damaged = entry
          damaged[index] ^= change
          expectRefused(damaged, "byte \(index) changed by \(change)")
        }
        expectRefused(Array(entry[..<index]), "the first \(index) bytes")
      }
      expectRefused(entry + [0], "a byte more")
    }
  }

  private static func record(
    _ number: UInt64, _ previous: [UInt8], _ bytes: [UInt8]
  ) -> TransactionRecord {
    var record = TransactionRecord(
      sequence: SequenceNumber(number), clock: HybridClock(rawValue: number), time: 1000,
      origin: GoldenValue.uuid, metadata: ["why": "é"], operations: OperationWriter(),
      previous: previous)
    record.operations = bytes
    record.operationCount = UInt32(number)
    record.link = record.chained(to: previous)
    return record
  }

  // MARK: Logs

  @Test(
    "of any size and content comes back from a log, in one part or several",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func log(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let sizes = RecordSizes(
      partBytes: 128 << random.below(7), compressedBytes: 128 << random.below(4))
    let log = try Log(
      at: directory.path, Database.Options().environment(readOnly: false), records: sizes)
    defer { log.close() }
    var (head, records) = (LogHead(), [TransactionRecord]())
    try log.write(head: head) {
      try $0.setFormat(FormatEntry(origin: GoldenValue.uuid, created: 0))
    }
    var isFormatKnown = true
    for number in 1...60 as ClosedRange<UInt64> {
      let record = Self.record(number, head.link, Self.bytes(&random))
      head.advance(to: record)
      records.append(record)
      let format = try log.read { try $0.format().version }
      try log.append([record], head: head)
      let entry = try Self.entry(number, log)
      let isCompressed = try entry.lend { try RecordEntry.isCompressed($0) }
      let stored = record.stored()
      if isCompressed {
        #expect(stored.count >= sizes.compressedBytes && entry.count <= stored.count * 7 / 8)
        isFormatKnown = try isFormatKnown && log.read { try $0.format().version == 4 }
      } else {
        #expect(entry == stored)
        isFormatKnown = try isFormatKnown && log.read { try $0.format().version == format }
      }
    }
    #expect(isFormatKnown)
    try log.read { reader in
      var bytes = 0
      for record in records {
        let number = record.sequence
        #expect(try reader.record(number) == record)
        #expect(try reader.time(of: number) == record.time)
        #expect(try reader.operationCount(of: number) == Int(record.operationCount))
        bytes += try reader.entryBytes(of: number)
      }
      var walked = 0
      try reader.forEachRecordEntry(after: 0) { walked += $0 + $1 }
      #expect(bytes == walked)
    }
    var scan = try RecordScan(
      "\(directory.path)/data.mdb", after: BaselineMark(), head: head.sequence, tail: [])
    for record in records {
      guard case .sound(let found) = try scan.next() else {
        throw Divergence("repair would lose \(record.sequence)")
      }
      #expect(found == record)
    }
  }

  /// Bytes of a random length, of which some occur again and again.
  private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    let (count, kinds) = (random.below(6000), 1 << random.below(9))
    return (0..<count).map { _ in UInt8(random.below(kinds)) }
  }

  /// A record's parts, joined by their keys alone.
  private static func entry(_ number: UInt64, _ log: Log) throws -> [UInt8] {
    let transaction = try ReadTransaction(log.lmdb, tables: [log.tables.records])
    var bytes: [UInt8] = []
    try transaction.access.forEach(
      log.tables.records, startingWith: [UInt8](bigEndian: number)
    ) { _, value in bytes += value.array() }
    return bytes
  }

  // MARK: Databases

  @Test(
    "is part of the same history as others",
    arguments: SeededGenerator.seeds(1, 2))
  func history(seed: UInt64) async throws {
    print("seed \(seed)")
    let place = try Place()
    let database = try place.open {
      $0.stepSizes.records = RecordSizes(partBytes: 300, compressedBytes: 150)
      $0.stepSizes.tail.bytes = seed % 2 == 0 ? 0 : 16 << 10
    }
    let history = RandomHistory(database, seed: seed, callsMax: 30)
    var compressed = 0
    for round in 0..<3 {
      try await history.run(calls: 400)
      try history.compareMoments(10)
      try await history.compareFeed()
      compressed = max(compressed, try Self.compressedCount(database))
      if round == 1 { try history.compact(archives: seed == 1) }
      try expectSound(database)
      let copy = place.beside("copy \(round)")
      if round == 2 {
        try database.replay(to: copy)
      } else {
        _ = try database.branch(to: copy)
      }
      let twin = try Database(at: copy)
      let rows = try database.read { try $0.root.rows() }
      try requireSame(try twin.read { try $0.root.rows() }, rows, "the copy")
      try expectSound(twin)
      try await twin.close()
    }
    #expect(compressed > 5)
    try await database.close()
    try place.expectSound()
    try place.use { try $0.rebuild() }
    try place.expectSound()
  }

  private static func compressedCount(_ database: Database) throws -> Int {
    let log = database.directory.log
    try database.writer.exclusively { try log.emptyTail() }
    var count = 0
    let transaction = try ReadTransaction(log.lmdb, tables: [log.tables.records])
    try transaction.access.forEach(log.tables.records, startingWith: []) { key, value in
      let part = try key.load(UInt32.self, at: 8)
      if part == 0, try RecordEntry.isCompressed(value) { count += 1 }
    }
    return count
  }

  @Test("is erased like others")
  func erased() throws {
    let place = try Place()
    try place.use { database in
      try database.write { tx in
        for number in 0..<200 as Range<Int64> {
          let name: Value = .string("treasure of \(number % 10), of which there are many")
          try tx.set(NodePath(keys: ["secrets", .integer(number)]), to: name)
          try tx.set(NodePath(keys: ["others", .integer(number)]), to: "well known to everybody")
        }
      }
    }
    func holds(_ text: String) throws -> Bool {
      try place.use { database in
        let stored = try database.directory.log.read { try $0.record(1).stored() }
        return Data(stored).firstRange(of: Array(text.utf8)) != nil
      }
    }
    #expect(try holds("treasure") && holds("well known"))
    _ = try Database.erase("secrets", at: place.path)
    #expect(try !holds("treasure"))
    #expect(try holds("well known"))
    try place.expectSound()
  }
}
