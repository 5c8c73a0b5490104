// Goal: commits that are flushed later are there after any end of the process, are flushed in time
// by whoever should do it, and say nothing untrue about what is durable.
// Method: whether something is flushed is asked of the tail, and its frames are read from the file.
// That a loss of power takes no more than it may is proved by the torture, which sees the calls.

import LMDB
import Testing

@testable import Cambium

@Suite("Durability", .timeLimit(.minutes(2)))
struct DurabilityTests {
  private let place: TailedPlace

  init() throws { place = try TailedPlace() }

  private func options(_ limit: Duration, bytes: Int = 4 << 10) -> Database.Options {
    var options = Database.Options()
    options.durability = .soon(within: limit)
    options.stepSizes.tail.bytes = bytes
    return options
  }

  private func open(
    _ limit: Duration = .seconds(3600), bytes: Int = 4 << 10, at path: String? = nil
  ) throws -> Database {
    try Database(at: path ?? place.path, options: options(limit, bytes: bytes))
  }

  private func hasUnflushed(_ database: Database) -> Bool {
    database.directory.log.tail.hasUnflushed
  }

  /// The numbers of the records in the tail's file that say which record before was durable, each
  /// with that record.
  private func claims(_ path: String) throws -> [[UInt64]] {
    let file = try #require(try PrewrittenFile(Tail.path(in: "\(path)/log"), isReadOnly: true))
    var scan = TailScan(file, seed: 0)
    return try TailFile(path).frames(path).map { place in
      let header = try #require(try scan.header(at: place.lowerBound))
      return [header.sequence.rawValue, header.durable.rawValue]
    }
  }

  // MARK: Flushing

  @Test("waits for a flush that is asked for, and each frame says how far the log was durable")
  func flushing() throws {
    let database = try open()
    try place.write(0..<1, to: database)
    #expect(!hasUnflushed(database))
    try place.write(1..<5, to: database)
    #expect(hasUnflushed(database))
    try database.sync()
    #expect(!hasUnflushed(database))
    try place.write(5..<7, to: database)
    #expect(hasUnflushed(database))
    let copy = try place.crash()
    #expect(try claims(copy) == [[2, 1], [3, 1], [4, 1], [5, 1], [6, 5], [7, 5]])
    // A commit of LMDB is durable with all that comes before it.
    try database.tag("here")
    #expect(!hasUnflushed(database))
    try database.close()
    try place.expect(place.open(at: copy), 0..<7)
  }

  @Test("is there after the end of the process, and flushed by the next one")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      var options = Database.Options()
      options.durability = .soon(within: .seconds(3600))
      let database = try Database(at: path, options: options)
      for number in 0..<40 as Range<Int64> { try TailedPlace.write(number, to: database) }
      // So that the next process need not write to catch up.
      #expect(try database.head == 40)
      #expect(database.directory.log.tail.hasUnflushed)
      kill(getpid(), SIGKILL)
    }
    try expectFlushing()
  }

  /// Opens what a process has left that was killed, on the caller's thread.
  private func expectFlushing() throws {
    let work = ManualWork()
    var options = Database.Options()
    options.background = work
    let database = try Database(at: place.path, options: options)
    #expect(hasUnflushed(database))
    work.runAll()
    #expect(!hasUnflushed(database))
    try place.expect(database, 0..<40)
    #expect(try database.information().tail?.transactions == 39)
    try database.close()
  }

  @Test("comes in the background, within the time that the options allow")
  func background() throws {
    let work = ManualWork()
    var options = options(.milliseconds(400))
    options.background = work
    let database = try Database(at: place.path, options: options)
    try place.write(0..<4, to: database)
    #expect(work.delays.contains(.milliseconds(200)))
    #expect(hasUnflushed(database))
    work.runOne { $0 == .milliseconds(200) }
    #expect(!hasUnflushed(database))
    // Where the job does not come, the first commit after that time does its work.
    try place.write(4..<5, to: database)
    #expect(hasUnflushed(database))
    let end = ContinuousClock.now + .milliseconds(400)
    while ContinuousClock.now < end { usleep(1000) }
    try place.write(5..<6, to: database)
    #expect(!hasUnflushed(database))
    try database.close()
  }

  @Test("comes by itself")
  func system() throws {
    let database = try open(.milliseconds(10))
    try place.write(0..<2, to: database)
    let end = ContinuousClock.now + .seconds(30)
    while hasUnflushed(database), ContinuousClock.now < end { usleep(1000) }
    #expect(!hasUnflushed(database))
    try database.close()
  }

  @Test("that fails is told, and nothing is written after it", arguments: [true, false])
  func failing(_ isAskedFor: Bool) throws {
    let (heard, work) = (Heard(), ManualWork())
    var options = options(.seconds(3600))
    options.background = work
    options.diagnostics = { heard.add($0) }
    let database = try Database(at: place.path, options: options)
    try place.write(0..<4, to: database)
    let broken = try BrokenFile(try tailDescriptor(), .full)
    if isAskedFor {
      #expect(throws: DatabaseError.self) { try database.sync() }
    } else {
      work.runOne { $0 == .seconds(1800) }
      #expect(heard.flushes == 1)
    }
    #expect(throws: DatabaseError.self) { try place.write(4..<5, to: database) }
    #expect(try database.read { try $0["n"].childCount } == 4)
    try broken.mend()
    // The system would let this one succeed, without what was lost.
    #expect(throws: DatabaseError.self) { try database.sync() }
    #expect(throws: DatabaseError.self) { try place.write(4..<5, to: database) }
    try? database.close()
    try place.expect(open(), 0..<4)
  }

  /// The descriptor of the file of this place's tail.
  private func tailDescriptor() throws -> Int32 {
    let path = Files.resolved(Tail.path(in: "\(place.path)/log"))
    let found = (3..<1024 as Range<Int32>).first { Files.resolved("/proc/self/fd/\($0)") == path }
    return try #require(found)
  }

  // MARK: Files

  @Test("needs a larger file than full durability, and makes it in place of a smaller one")
  func growing() throws {
    var database = try place.open(bytes: 4 << 10)
    try place.write(0..<4, to: database)
    #expect(try database.information().tail?.bytes == 4 << 10)
    #expect(try database.information().durability == .full)
    let copy = try place.crash()
    try database.close()
    database = try open(at: copy)
    #expect(try !place.tail(of: database).isEmpty)
    try place.write(4..<8, to: database)
    try database.tag("here")
    try place.write(8..<12, to: database)
    #expect(try database.information().tail?.bytes == 64 << 10)
    #expect(try database.information().durability == .soon(within: .seconds(3600)))
    #expect(try !place.tail(of: database).isEmpty)
    try place.expect(database, 0..<12)
    try database.close()
    // And that goes on with the larger one.
    database = try place.open(bytes: 4 << 10, at: copy)
    try place.write(12..<14, to: database)
    #expect(try place.tail(of: database) == [13, 14])
    try place.expect(database, 0..<14)
    try database.close()
  }

  @Test("of a commit that is too large for the file is full")
  func large() throws {
    let database = try open()
    try place.write(0..<3, to: database)
    #expect(hasUnflushed(database))
    try place.write(3..<4, to: database, text: 40 << 10)
    #expect(!hasUnflushed(database))
    try place.write(4..<5, to: database)
    #expect(hasUnflushed(database))
    try place.expect(database, 0..<5)
    try database.close()
  }

  @Test("differs between processes, and all of them see all")
  func mixed() async throws {
    let database = try open()
    try place.write(0..<4, to: database)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let other = try TailedPlace.open(path)
      try TailedPlace.write(4, to: other)
      try await other.close()
    }
    try place.write(5..<7, to: database)
    try place.expect(database, 0..<7)
    try await database.close()
  }

  @Test("of memory is for databases in memory")
  func memory() throws {
    var options = Database.Options()
    options.durability = .memory
    let error = #expect(throws: DatabaseError.self) {
      try Database(at: place.path, options: options)
    }
    #expect("\(error as Any)".contains("inMemory"))
    #expect(!Files.exists(place.path))
    let database = try Database.inMemory()
    #expect(try database.information().durability == .memory)
    try place.write(0..<20, to: database)
    #expect(try database.information().tail == nil)
    try database.close()
  }
}
