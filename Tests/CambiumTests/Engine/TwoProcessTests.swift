// Several processes on one database. The others are exit tests: this program, started again, which
// runs only the body that is given.
//
// Processes tell each other where they are through files beside the database.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("Several processes", .timeLimit(.minutes(2)))
struct TwoProcessTests {
  private let place: Place

  init() throws {
    place = try Place()
    try place.fill(1)
  }

  @Test("write in one order, and each sees all of it")
  func writing() async throws {
    async let other = #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 0..<500 as Range<Int64> {
        try database.commit { tx in try Counting.step(tx, "theirs", number) }
      }
      try await database.close()
    }
    let database = try place.open()
    await onThreads(1) { _ in
      for number in 0..<500 as Range<Int64> {
        try database.commit { tx in try Counting.step(tx, "ours", number) }
      }
    }
    _ = await other
    try Counting.expect(database, steps: 500)
    try expectSound(database)
    try await database.close()
    try place.expectSound()
  }

  /// The work of each of two writers, and a check of what both have done.
  private enum Counting {
    /// Counts for itself and for both, under names of properties that both make up as they go.
    static func step(_ tx: borrowing Database.Transaction, _ name: String, _ number: Int64) throws {
      let key = try Key(name)
      try tx.increment("both", by: 1)
      try tx.increment(NodePath(keys: ["each", key]), by: 1)
      try tx.set(
        NodePath(keys: ["steps", key, .integer(number)]),
        to: ["\(name) \(number % 50)": .integer(number), "shared \(number % 50)": 1])
    }

    static func expect(_ database: Database, steps: Int64) throws {
      try database.read { snapshot in
        #expect(snapshot.sequence == SequenceNumber(UInt64(1 + 2 * steps)))
        #expect(try snapshot["both"].value == .integer(2 * steps))
        for name in ["ours", "theirs"] {
          let node = snapshot[NodePath(keys: ["steps", try Key(name), .integer(77)])]
          #expect(try node["\(name) 27"] == 77)
          #expect(try snapshot[NodePath(keys: ["steps", try Key(name)])].childCount == Int(steps))
        }
      }
      #expect(try database.information().names == 150)
    }
  }

  @Test("tell each other's observers of every commit")
  func observing() async throws {
    let database = try place.open()
    async let seen = sequences(101, of: database.changes(after: 0))
    let fromNow = database.changes()
    async let first = sequences(1, of: fromNow)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 0..<100 as Range<Int64> {
        try database.commit { tx in try tx.set("n/1", to: .integer(number)) }
      }
      try await database.close()
    }
    let found = try await (seen, first)
    #expect(found.0 == numbers(1, 101))
    #expect(found.1 == [2])
    try await database.close()
  }

  @Test("begin to observe now, not where this process last looked")
  func observingFromNow() async throws {
    let database = try place.open()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 0..<10 as Range<Int64> {
        try database.commit { tx in try tx.set("n/1", to: .integer(number)) }
      }
    }
    #expect(try database.head == 11)
    #expect(database.changes().after == 11)
    try await database.close()
  }

  @Test("wait for each other, and get .busy when it takes too long")
  func busy() async throws {
    let signals = (ready: place.beside("ready"), done: place.beside("done"))
    async let other = #expect(processExitsWith: .success) {
      [path = place.path as String, ready = signals.ready as String, done = signals.done as String]
      in
      let database = try Database(at: path)
      try database.commit { tx in
        try tx.set("theirs", to: 1)
        try Signal.send(ready)
        try Signal.wait(for: done)
      }
      try await database.close()
    }
    try await Signal.arrival(of: signals.ready)
    let database = try place.open { $0.busyTimeout = .milliseconds(50) }
    let error = #expect(throws: DatabaseError.self) {
      try database.commit { tx in try tx.set("ours", to: 1) }
    }
    if case .busy? = error {} else { Issue.record("\(error as Any)") }
    #expect(try database.read { try !$0["theirs"].exists })
    try Signal.send(signals.done)
    _ = await other
    try database.commit { tx in try tx.set("ours", to: 1) }
    #expect(try database.read { try $0["theirs"].value } == 1)
    try expectSound(database)
    try await database.close()
  }

  @Test("are kept out by a writer whose forked child tries to write")
  func forked() async throws {
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      var ends: [Int32] = [0, 0]
      try #require(unsafe pipe(&ends) == 0)
      let child = try #require(Forking.fork())
      if child == 0 {
        // Only once the parent writes.
        var byte: UInt8 = 0
        _ = unsafe read(ends[0], &byte, 1)
        do { try database.commit { _ in } } catch DatabaseError.closed { _exit(0) } catch {}
        _exit(1)
      }
      try database.commit { tx in
        try tx.set("n/1", to: 2)
        _ = unsafe write(ends[1], [1], 1)
        #expect(Forking.status(of: child) == 0)
        #expect(try !FileLock(path: "\(path)/write.lock").lock(timeout: .zero))
      }
      try expectSound(database)
      try await database.close()
    }
  }

  @Test("can open, read and observe while another has a transaction open")
  func openingMeanwhile() async throws {
    let signals = (ready: place.beside("ready"), done: place.beside("done"))
    async let other = #expect(processExitsWith: .success) {
      [path = place.path as String, ready = signals.ready as String, done = signals.done as String]
      in
      let database = try Database(at: path)
      try database.commit { tx in
        try tx.set("theirs", to: 1)
        try Signal.send(ready)
        try Signal.wait(for: done)
      }
    }
    try await Signal.arrival(of: signals.ready)
    for isReadOnly in [true, false] {
      async let opened: Void = onThreads(1) { [place] _ in
        let head = try place.use({ $0.readOnly = isReadOnly }) { try $0.head }
        #expect(head >= 1)
        try Signal.send(place.beside("opened \(isReadOnly)"))
      }
      let isOpened = try await eventually { Files.exists(place.beside("opened \(isReadOnly)")) }
      #expect(isOpened)
      if !isOpened { try Signal.send(signals.done) }
      await opened
    }
    try Signal.send(signals.done)
    _ = await other
    try place.expectSound()
  }

  @Test("may rebuild the state under each other's snapshots, reads and writes")
  func rebuilding() async throws {
    let database = try place.open()
    let held = try database.snapshot()
    for round in 1...3 as ClosedRange<Int64> {
      await #expect(processExitsWith: .success) { [path = place.path as String] in
        let database = try Database(at: path)
        try await database.rebuild()
        try database.commit { tx in try tx.increment("n/1", by: 1) }
        try await database.close()
      }
      #expect(try database.read { try $0["n/1"].value } == .integer(1 + 2 * round - 1))
      try database.commit { tx in try tx.increment("n/1", by: 1) }
      #expect(try held["n/1"].value == 1)
    }
    #expect(try database.information().generation == 4)
    #expect(try database.read { try $0["n/1"].value } == 7)
    try expectSound(database)
    try await database.close()
    try place.expectSound()
  }

  @Test("may close while another goes on; what that writes is not taken for synced")
  func closing() async throws {
    let database = try place.open()
    try database.commit { tx in try tx.set("a", to: 1) }
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in try tx.set("a", to: 2) }
      try await database.close()
    }
    var isClean = try database.directory.log.read { try $0.stateMark()?.isClean }
    #expect(isClean == true)
    try database.commit { tx in try tx.set("a", to: 3) }
    isClean = try database.directory.log.read { try $0.stateMark()?.isClean }
    #expect(isClean == false)
    try expectSound(database)
    try await database.close()
    #expect(try place.mark?.isClean == true)
  }

  @Test("take over a map that another has grown")
  func growth() async throws {
    let database = try place.open { $0.mapSize = 1 << 20 }
    #expect(try database.read { try $0["n/1"].value } == 1)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in
        for number in 0..<50 as Range<Int64> {
          try tx.set(
            NodePath(keys: ["large", .integer(number)]),
            to: .data(Data(repeating: 7, count: 1 << 20 - 1000)))
        }
      }
    }
    #expect(try database.read { try $0["large"].childCount } == 50)
    #expect(try database.commit(2).operationCount == 50)
    try database.commit { tx in try tx.set("ours", to: 1) }
    #expect(try database.read { try $0["ours"].value } == 1)
    try expectSound(database)
    try await database.close()
  }
}
