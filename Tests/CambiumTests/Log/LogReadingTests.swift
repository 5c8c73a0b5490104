// Goal: records of any size come back, and the moment of any time is found. Method: logs written
// record by record, read whole and by bisection, against what was written.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The log")
struct LogReadingTests {
  /// A log of its own.
  private struct Bench {
    let directory: TemporaryDirectory
    let log: Log
    var head = LogHead()

    init() throws {
      directory = try TemporaryDirectory()
      // The parts that are counted here are those of records as they were sealed.
      log = try Log(
        at: directory.path, Database.Options().environment(readOnly: false),
        records: RecordSizes(compressedBytes: .max))
    }

    /// Appends a record in a transaction of its own.
    @discardableResult
    mutating func append(time: Int64 = 0, operations: [UInt8] = []) throws -> TransactionRecord {
      var record = TransactionRecord(
        sequence: head.sequence.next, clock: head.clock.next(microseconds: time), time: time,
        origin: GoldenValue.uuid, metadata: [:], operations: OperationWriter(), previous: head.link)
      record.operations = operations
      record.link = record.chained(to: head.link)
      (head.sequence, head.clock, head.time) = (record.sequence, record.clock, time)
      head.link = record.link
      if try !log.lmdb.hasRoom(for: 4 * operations.count) {
        try log.lmdb.growMap(headroom: 8 * operations.count)
      }
      let writer = try LogWriter.begin(log)
      try writer.append(record)
      try writer.commit(head: head)
      return record
    }

    func entryCount() throws -> Int { Int(try log.read { try $0.tableUsage()[0].tree.entries }) }
  }

  @Test("holds a record in as many parts as it takes")
  func parts() throws {
    var bench = try Bench()
    let overhead = try bench.append().stored().count
    var records: [TransactionRecord] = []
    var parts = 1
    // Lengths around a whole number of parts, counted with the record's other fields.
    for (size, count) in [(1, 1), (1, 2), (2, 2), (2, 3)] {
      let spare = count > size ? 1 : 0
      let bytes = size * LogTables.partBytesMax - overhead + spare
      var operations = [UInt8](repeating: UInt8(size), count: bytes)
      operations[bytes - 1] = 0xEE
      records.append(try bench.append(operations: operations))
      parts += count
      #expect(try bench.entryCount() == parts, "\(bytes) bytes")
    }
    for record in records {
      #expect(try bench.log.read { try $0.record(record.sequence) } == record)
    }
    try bench.append()
    #expect(try bench.log.read { try $0.record(6).sequence } == 6)
    bench.log.close()
  }

  @Test("names the record of which a part is missing or wrong")
  func damagedParts() throws {
    for what in ["missing", "short", "wrong"] {
      var bench = try Bench()
      try bench.append()
      try bench.append(operations: [UInt8](repeating: 7, count: LogTables.partBytesMax + 100))
      try bench.append()
      let transaction = try WriteTransaction(bench.log.lmdb)
      let key = LogTables.recordKey(2, part: 1)
      let part = try #require(
        try key.lend { try transaction.access.get(bench.log.tables.records, $0) { $0.array() } })
      try key.lend { key in
        switch what {
        case "missing": try transaction.delete(bench.log.tables.records, key)
        case "short":
          try part.dropLast().map { $0 }.lend {
            try transaction.put(bench.log.tables.records, key, $0)
          }
        default:
          try part.changing(50, by: 1).lend {
            try transaction.put(bench.log.tables.records, key, $0)
          }
        }
      }
      try transaction.commit()
      let error = #expect(throws: DatabaseError.self) { try bench.log.read { try $0.record(2) } }
      #expect(error.map { "\($0)" }?.contains("record 2 of the log") == true, "\(what)")
      for sound in [1, 3] as [SequenceNumber] {
        #expect(try bench.log.read { try $0.record(sound).sequence } == sound, "\(what)")
      }
      bench.log.close()
    }
  }

  @Test("takes transactions of more than 16 MiB through a database")
  func largeTransaction() throws {
    try withDatabase({ $0.stepSizes.records.compressedBytes = .max }) { database in
      func content(_ index: Int) -> Value {
        .data(Data(repeating: UInt8(index), count: Value.bytesMax - 1))
      }
      try database.write { tx in
        for index in 0..<18 {
          try tx.set(NodePath(keys: ["large", .integer(Int64(index))]), to: content(index))
        }
      }
      try database.write { tx in try tx.remove("large/3") }
      #expect(try database.directory.log.read { try $0.tableUsage()[0].tree.entries } == 3)
      try database.rebuild()
      for index in 0..<18 {
        let path = NodePath(keys: ["large", .integer(Int64(index))])
        #expect(try database.read(at: .sequence(1)) { try $0[path].value } == content(index))
        #expect(try database.read { try $0[path].value } == (index == 3 ? nil : content(index)))
      }
    }
  }

  // MARK: Moments

  private static let start: Int64 = 1_767_323_045_678_901

  /// The last record at or before a time, found one by one.
  private static func sequence(at time: Int64, _ times: [Int64]) -> SequenceNumber {
    SequenceNumber(UInt64(times.prefix { $0 <= time }.count))
  }

  @Test("finds the last record at or before any time", arguments: FormatSeeds.first(4))
  func moments(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    var bench = try Bench()
    var times: [Int64] = []
    var time = Self.start
    #expect(try bench.log.read { try $0.sequence(at: Date(microseconds: time)) } == .zero)
    for _ in 0..<40 {
      // Equal times come in rows, as after a clock that was set back.
      if random.chance(oneIn: 2) { time += Int64(random.below(4)) }
      if random.chance(oneIn: 6) { time += Int64(random.below(10_000_000_000)) }
      try bench.append(time: time)
      times.append(time)
      if times.count > 8 && times.count % 11 != 0 { continue }
      let wanted = Set(
        times.flatMap { ($0 - 2)...($0 + 2) } + [0, .max / 2, Self.start - 1_000_000])
      for time in wanted {
        let found = try bench.log.read { try $0.sequence(at: Date(microseconds: time)) }
        #expect(found == Self.sequence(at: time, times), "\(time), seed \(seed)")
      }
    }
    bench.log.close()
  }

  @Test("finds the last of many records of one time")
  func equalTimes() throws {
    for count in 1...9 as ClosedRange<UInt64> {
      var bench = try Bench()
      for _ in 0..<count { try bench.append(time: Self.start) }
      for (offset, sequence) in [(-1, 0), (0, count), (1, count)] as [(Int64, UInt64)] {
        let date = Date(microseconds: Self.start + offset)
        #expect(try bench.log.read { try $0.sequence(at: date) } == SequenceNumber(sequence))
      }
      bench.log.close()
    }
  }

  @Test("gives a database the moments of its transactions")
  func databaseMoments() throws {
    try withDatabase { database in
      for number in 1...20 as ClosedRange<Int64> {
        try database.write { tx in try tx.set("n", to: .integer(number)) }
      }
      let times = try (1...20 as ClosedRange<UInt64>).map {
        try database.commit(SequenceNumber($0)).time.microseconds
      }
      #expect(times == times.sorted())
      for time in Set(times.flatMap { [$0 - 1, $0, $0 + 1] }) {
        let expected = Self.sequence(at: time, times)
        let date = Date(microseconds: time)
        #expect(try database.sequence(at: date) == expected)
        let snapshot = try database.snapshot(at: .time(date))
        #expect(snapshot.sequence == expected)
        let value: Value? = expected == .zero ? nil : .integer(Int64(expected.rawValue))
        #expect(try snapshot["n"].value == value)
      }
    }
  }
}
