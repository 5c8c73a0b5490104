// Goal: it makes no difference to anybody where a record of the log is, in LMDB or in the tail:
// not to readers, to other processes, to copies, nor to the next process after any end of this one.
// Method: each test first makes sure that there are records in the tail. Crashes are copies of the
// directory, taken while the database is open.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The log's tail", .timeLimit(.minutes(2)))
struct TailTests {
  private let place: TailedPlace

  init() throws { place = try TailedPlace() }

  // MARK: One process

  @Test("takes commits that LMDB then does not have, and gives them to every reader")
  func reading() throws {
    let database = try place.open()
    try place.write(0..<2, to: database)
    #expect(try place.tail(of: database) == [])
    let commit = try database.directory.log.newestCommit
    try place.write(2..<10, to: database)
    #expect(try place.tail(of: database) == Array(3...10))
    #expect(try database.directory.log.newestCommit == commit)
    let log = database.directory.log
    try log.read { reader in
      #expect(try reader.head().sequence == 10)
      #expect(try reader.storedHead().sequence == 2)
      for number in 1...10 as ClosedRange<UInt64> {
        let record = try reader.record(SequenceNumber(number))
        #expect(record.sequence.rawValue == number)
        #expect(try reader.time(of: record.sequence) == record.time)
        #expect(try reader.operationCount(of: record.sequence) == Int(record.operationCount))
      }
      #expect(throws: DatabaseError.self) { try reader.record(11) }
    }
    try place.expect(database, 0..<10)
    #expect(try database.snapshot(at: .sequence(6))["n"].childCount == 6)
    try database.close()
    try place.place.use { database in
      #expect(try place.tail(of: database) == [])
      try place.expect(database, 0..<10)
    }
  }

  @Test("moves to LMDB when it is full, for a large commit, and for what is not a record")
  func moving() throws {
    let database = try place.open(bytes: 8 << 10)
    try place.write(0..<4, to: database)
    #expect(try place.tail(of: database) == [3, 4])
    // Larger than a quarter of it.
    try place.write(4..<5, to: database, text: 3000)
    #expect(try place.tail(of: database) == [])
    try place.write(5..<7, to: database)
    #expect(try place.tail(of: database) == [6, 7])
    try database.tag("here", at: .sequence(7))
    #expect(try place.tail(of: database) == [])
    var moves = 0
    for number in 7..<200 as Range<Int64> {
      try place.write(number..<(number + 1), to: database)
      if try place.tail(of: database).isEmpty { moves += 1 }
    }
    #expect(moves > 1)
    try place.expect(database, 0..<200)
    #expect(Files.size(of: Tail.path(in: "\(place.path)/log")) == 8 << 10)
    try database.close()
    try place.place.expectSound()
  }

  @Test("is made larger once several commits were too large for it, and stays so")
  func growing() throws {
    let file = Tail.path(in: "\(place.path)/log")
    let database = try place.open(bytes: 8 << 10, bytesMax: 64 << 10)
    try place.write(0..<4, to: database)
    #expect(try place.tail(of: database) == [3, 4])
    // One alone, and one that a larger file would not take either, are no reason.
    try place.write(4..<5, to: database, text: 3000)
    try place.write(5..<6, to: database, text: 30_000)
    try place.write(6..<7, to: database)
    #expect(try place.tail(of: database) == [7])
    #expect(Files.size(of: file) == 8 << 10)
    // The second one gives the file up, and the next one makes a larger one.
    try place.write(7..<9, to: database, text: 3000)
    #expect(try place.tail(of: database) == [])
    try place.write(9..<13, to: database, text: 3000)
    #expect(try place.tail(of: database) == [10, 11, 12, 13])
    #expect(Files.size(of: file) == 64 << 10)
    let crashed = try place.crash()
    try place.expect(database, 0..<13)
    try database.close()
    for path in [place.path, crashed] {
      let database = try place.open(bytes: 8 << 10, at: path)
      try place.write(13..<14, to: database)
      let commit = try database.directory.log.newestCommit
      try place.write(14..<16, to: database, text: 3000)
      #expect(try database.directory.log.newestCommit == commit)
      try place.expect(database, 0..<16)
      try database.close()
    }
  }

  @Test("serves a reader that has begun before its records moved, and was written over")
  func readersThatStay() throws {
    let database = try place.open(bytes: 8 << 10)
    try place.write(0..<6, to: database)
    try database.directory.log.read { reader in
      try place.write(6..<60, to: database)
      #expect(try reader.head().sequence == 6)
      for number in 1...6 as ClosedRange<UInt64> {
        #expect(try reader.record(SequenceNumber(number)).sequence.rawValue == number)
      }
      #expect(throws: DatabaseError.self) { try reader.record(7) }
    }
    try database.close()
  }

  @Test("is made by default, but not for the first few commits")
  func byDefault() throws {
    try place.place.use { try place.write(0..<5, to: $0) }
    #expect(!Files.exists(Tail.path(in: "\(place.path)/log")))
    try place.place.use { database in
      try place.write(5..<40, to: database)
      #expect(try !place.tail(of: database).isEmpty)
    }
    try place.place.use { try place.expect($0, 0..<40) }
  }

  // MARK: Several processes

  @Test("is written by two processes by turns, and read by both")
  func processes() async throws {
    let database = try place.open()
    try place.write(0..<5, to: database)
    async let other = #expect(processExitsWith: .signal(SIGKILL)) {
      [path = place.path as String] in
      let database = try TailedPlace.open(path)
      for number in 5..<300 as Range<Int64> {
        try database.commit { tx in try tx.increment("theirs", by: 1) }
        if number % 7 == 0 { #expect(try database.read { try $0["theirs"].exists }) }
      }
      kill(getpid(), SIGKILL)
    }
    await onThreads(1) { _ in
      for number in 5..<300 as Range<Int64> {
        try TailedPlace.write(number, to: database)
        let log = database.directory.log
        let numbers = try log.read { reader in
          let head = try reader.head().sequence
          return (head, try reader.record(head).sequence, try reader.record(head.previous).sequence)
        }
        #expect(numbers.0 == numbers.1 && numbers.0.previous == numbers.2)
      }
    }
    _ = await other
    #expect(try database.head.rawValue == 300 + 295)
    #expect(try database.read { try $0["theirs"].value } == 295)
    try place.expect(database, 0..<300)
    try await database.close()
    try place.place.expectSound()
  }

  @Test("takes back what the disk did not take, and goes on")
  func failing() async throws {
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try TailedPlace.open(path, bytes: 8 << 10)
      for number in 0..<4 as Range<Int64> { try TailedPlace.write(number, to: database) }
      // From there on, writing to any file is refused, or cut short.
      try FileSizeLimit.set(1500)
      var count: Int64 = 4
      while count < 40, (try? TailedPlace.write(count, to: database)) != nil { count += 1 }
      #expect(count > 4 && count < 20)
      #expect(try database.directory.log.read { try $0.head().sequence.rawValue } == UInt64(count))
      try FileSizeLimit.set(nil)
      for number in count..<(count + 3) { try TailedPlace.write(number, to: database) }
      #expect(try database.read { try $0["n"].childCount } == Int(count) + 3)
      try expectSound(database)
      try await database.close()
    }
    try place.place.expectSound()
  }

  // MARK: Copies

  @Test("goes with a branch, a backup, and a file without its free pages")
  func copies() throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    #expect(try !place.tail(of: database).isEmpty)
    let branch = place.beside("branch")
    _ = try database.branch(to: branch)
    try database.backUp(to: place.beside("backup"))
    try database.close()
    let copy = try place.crash()
    try Database.vacuum(at: copy)
    #expect(!Files.exists(Tail.path(in: "\(copy)/log")))
    _ = try Database.restore(place.beside("backup"), to: place.beside("restored"))
    for path in [branch, copy, place.beside("restored")] {
      let database = try place.open(at: path)
      try place.expect(database, 0..<12)
      try place.write(12..<16, to: database)
      try place.expect(database, 0..<16)
      try database.close()
    }
  }

  // MARK: Histories

  @Test("holds any history with crashes and moves", arguments: 0..<12 as Range<UInt64>)
  func histories(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var path = place.path
    let bytes = [4 << 10, 8 << 10, 64 << 10][random.below(3)]
    var database = try place.open(bytes: bytes, at: path)
    var count: Int64 = 0
    for step in 0..<60 {
      switch random.below(10) {
      case 0: if count > 0 { try database.tag("tag-\(step)") }
      case 1:
        try database.close()
        database = try place.open(bytes: random.oneIn(4) ? 0 : bytes, at: path)
      case 2:
        let copy = place.beside("crash \(step)")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try database.close()
        path = copy
        database = try place.open(bytes: bytes, at: path)
      case 3:
        let head = try database.head.rawValue
        try database.compact(upTo: SequenceNumber(head > 20 ? head - 20 : 0))
      case 4: try database.rebuild()
      default:
        let more = Int64(1 + random.below(8))
        let text = random.below(random.oneIn(5) ? 3000 : 60)
        try place.write(count..<(count + more), to: database, text: text)
        count += more
      }
      #expect(try database.head.rawValue == UInt64(count), "seed \(seed), step \(step)")
    }
    if count > 0 { try place.expect(database, 0..<count) }
    try database.close()
  }
}
