// Goal: it makes no difference if the entry of a long record was made ahead of its move to LMDB.
// Method: the entries made ahead beside those that a compressor makes again, and what LMDB has
// after the move; then many long transactions, beside which the background makes some of them.

import LMDB
import Testing

@testable import Cambium

@Suite("A long record of the log's tail", .timeLimit(.minutes(2)))
struct LongRecordTests {
  private let place: TailedPlace

  init() throws { place = try TailedPlace() }

  @Test("has its entry made ahead, and moves with it")
  func movingAhead() throws {
    let database = try place.open(bytes: 512 << 10)
    let log = database.directory.log
    try place.write(0..<2, to: database)
    // Each second one is long.
    for number in 2..<8 as Range<Int64> {
      let text = number % 2 == 0 ? 20_000 + Int(number) : 10
      try place.write(number..<(number + 1), to: database, text: text)
    }
    database.jobs.finish(database.jobs[CompressionJob.self])
    var made: [SequenceNumber: [UInt8]] = [:]
    try log.read { reader in
      reader.tail?.forEach { record in
        made[record.sequence] = reader.tail?.entry(of: record)
        let again = RecordEntry.make(of: record, log.sizes, ZstandardCompressor())
        #expect(made[record.sequence] == (record.storedCount > 20_000 ? again : nil))
      }
    }
    #expect(made.count == 3)
    try database.tag("moved", at: .sequence(8))
    #expect(try place.tail(of: database) == [])
    let view = try ReadTransaction(log.lmdb, tables: [])
    for (sequence, entry) in made {
      let stored = try LogTables.recordKey(sequence, part: 0).lend { key in
        try view.access.get(log.tables.records, key) { $0.array() }
      }
      #expect(stored == entry)
    }
    try place.expect(database, 0..<8)
    try database.close()
  }

  @Test("is found again, whether the background or the writer has compressed it")
  func beside() throws {
    let database = try place.open(bytes: 128 << 10)
    let log = database.directory.log
    var (ahead, moves) = (0, 0)
    for number in 0..<120 as Range<Int64> {
      try place.write(number..<(number + 1), to: database, text: 17_000 + 100 * Int(number))
      if try place.tail(of: database).isEmpty { moves += 1 }
      // Most of the time they run beside each other.
      if number % 8 != 0 { continue }
      database.jobs.finish(database.jobs[CompressionJob.self])
      try log.read { reader in
        reader.tail?.forEach { if reader.tail?.entry(of: $0) != nil { ahead += 1 } }
      }
    }
    #expect(ahead > 0 && moves > 0)
    try place.expect(database, 0..<120)
    try database.close()
    try place.place.use { try place.expect($0, 0..<120) }
  }
}
