// A process that is killed, at any moment, loses nothing that was acknowledged.
//
// A child writes, notes each write that returned in a file, and is killed by a timer of its own.
// Then the
// database must open without a rebuild, hold every acknowledged transaction, be sound, and be a
// prefix
// of what the child would have written.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("A process that is killed", .timeLimit(.minutes(2)))
struct CrashTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("while it writes loses nothing that was acknowledged", arguments: 1...6)
  func writing(seed: Int) async throws {
    for round in 0..<2 {
      let delay = seed * 17 + round * 9
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = place.path as String, acknowledged = place.beside("acknowledged") as String,
          delay = delay as Int
        ] in
        let file = try WakeFile(path: acknowledged)
        let database = try Database(at: path)
        killAfter(milliseconds: delay)
        while true {
          let sequence = try database.commit { tx in
            try CrashTests.write(tx)
            return tx.sequence
          }
          file.write(sequence.rawValue)
        }
      }
      try expectPrefix()
    }
  }

  /// One transaction, which follows from its number.
  private static func write(_ tx: borrowing Database.Transaction) throws {
    let number = Int64(tx.sequence.rawValue)
    try tx.set("last", to: .integer(number))
    try tx.set(NodePath(keys: ["n", .integer(number % 13)]), to: ["x": .integer(number)])
    if number % 5 == 0 { try tx.remove(NodePath(keys: ["n", .integer(number % 11)])) }
    if number % 50 == 0 { try tx.set("blob", to: .blob(try tx.store(Data("\(number)".utf8)))) }
  }

  private func expectPrefix() throws {
    let acknowledged = try WakeFile(path: place.beside("acknowledged")).read() ?? 0
    let heard = Heard()
    let head = try place.use({ $0.diagnostics = heard.add }) { database in
      let head = try database.head
      #expect(head.rawValue >= acknowledged)
      let last = try database.read { try $0["last"].value }
      #expect(head == 0 ? last == nil : last == .integer(Int64(head.rawValue)))
      try expectSound(database)
      return head
    }
    #expect(heard.rebuilds == [])
    #expect(try !place.names.contains { $0.hasSuffix(".tmp") })
    try expectSame(head)
  }

  /// Checks that the database is what the first `head` transactions make of an empty one.
  private func expectSame(_ head: SequenceNumber) throws {
    let other = try Place()
    try other.use { database in
      for _ in 0..<head.rawValue { try database.write { tx in try CrashTests.write(tx) } }
    }
    let digests = try [place, other].map { try $0.use { try $0.verify().digest } }
    #expect(digests[0] == digests[1])
  }

  @Test("while it creates a database leaves nothing that stands in the way")
  func creating() async throws {
    for delay in [0, 2, 4, 8, 16] {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = place.path as String, delay = delay as Int] in
        killAfter(milliseconds: delay)
        _ = try Database(at: path)
        while true { usleep(1000) }
      }
      try place.use { try $0.write { tx in try tx.increment("a", by: 1) } }
    }
    #expect(try place.use { try $0.read { try $0["a"].value } } == 5)
    try place.expectSound()
  }

  @Test("inside a write leaves nothing of it, and the next writer goes on")
  func insideWrite() async throws {
    try place.fill(2)
    let database = try place.open()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in
        try tx.set("n/1", to: 100)
        kill(getpid(), SIGKILL)
      }
    }
    #expect(try database.head == 2)
    try database.commit { tx in try tx.set("n/2", to: 200) }
    #expect(try database.read { try $0["n/1"].value } == 1)
    #expect(try database.read { try $0["n/2"].value } == 200)
    try expectSound(database)
    try await database.close()
  }

  @Test("with a snapshot keeps no pages alive")
  func staleReader() async throws {
    try place.fill(2)
    let database = try place.open()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      let snapshot = try database.snapshot()
      #expect(snapshot.sequence == 2)
      kill(getpid(), SIGKILL)
    }
    for environment in [
      database.directory.log.lmdb, try database.directory.currentState().environment,
    ] {
      environment.clearStaleReaders()
    }
    let before = try database.directory.currentState().environment.usage().usedBytes
    for _ in 0..<200 { try database.commit { tx in try tx.increment("n/1", by: 1) } }
    let after = try database.directory.currentState().environment.usage().usedBytes
    #expect(after - before < 500_000)
    try expectSound(database)
    try await database.close()
  }

  // MARK: The disk

  @Test("has its disk full gets .full, loses nothing, and goes on when there is room")
  func diskFull() async throws {
    try place.fill(2)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try FileSizeLimit.set(Files.size(of: "\(path)/log/data.mdb"))
      let large = Value.data(Data(Noise.bytes(500_000)))
      let error = #expect(throws: DatabaseError.self) {
        try database.commit { tx in try tx.set("a", to: large) }
      }
      if case .full? = error {} else { Issue.record("\(error as Any)") }
      #expect(try database.read { try !$0["a"].exists })
      try FileSizeLimit.set(nil)
      try database.commit { tx in try tx.set("a", to: large) }
      #expect(try database.head == 3)
      #expect(try database.verify().findings == [])
      try await database.close()
    }
    try place.expectSound()
  }

  @Test(
    "has room for the log alone says so, and shows the commit once there is room, new names and all"
  )
  func stateFull() async throws {
    try place.fill(2)
    await #expect(processExitsWith: .success) {
      [path = place.path as String, state = try place.state as String] in
      let database = try Database(at: path)
      try database.commit { tx in
        for number in 0..<5000 as Range<Int64> {
          try tx.set(NodePath(keys: ["m", .integer(number)]), to: 1)
        }
      }
      // A reader has the state's file written.
      try #require(database.head == 3)
      try #require(Files.size(of: state) > Files.size(of: "\(path)/log/data.mdb") + 200_000)
      try FileSizeLimit.set(Files.size(of: state))
      try database.commit { tx in
        for number in 0..<500 as Range<Int64> {
          try tx.set(NodePath(keys: ["r", .integer(number)]), to: ["fresh": .string("a text")])
        }
      }
      let error = #expect(throws: DatabaseError.self) { try database.head }
      if case .stateBehind(applied: 3, head: 4, _)? = error {
      } else {
        Issue.record("\(error as Any)")
      }
      // There is no room for a second state either, so that no more can be compared.
      let verification = try database.verify()
      #expect(verification.behind == 1 && verification.findings.count == 1)
      #expect(verification.findings.first?.isRepairable == true && verification.records == 4)
      try FileSizeLimit.set(nil)
      #expect(try database.head == 4)
      try database.commit { tx in try tx.set("b", to: ["newer": 1]) }
      #expect(try database.head == 5)
      #expect(try database.read { try $0["r/499"]["fresh"] } == "a text")
      #expect(try database.verify().findings == [])
      try await database.close()
    }
    try place.expectSound()
  }

  @Test("has a commit written in part on a full disk loses nothing, and goes on")
  func shortWrite() async throws {
    try place.fill(2)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in try tx.set("b", to: 1) }
      try FileSizeLimit.set(Files.size(of: "\(path)/log/data.mdb") + 10_000)
      let large = Value.data(Data(Noise.bytes(500_000)))
      let error = #expect(throws: DatabaseError.self) {
        try database.commit { tx in try tx.set("a", to: large) }
      }
      if case .full? = error {} else { Issue.record("\(error as Any)") }
      try FileSizeLimit.set(nil)
      try database.commit { tx in try tx.set("a", to: large) }
      #expect(try database.head == 4)
      #expect(try database.read { try $0["b"].value } == 1)
      #expect(try database.verify().findings == [])
      try await database.close()
    }
    try place.expectSound()
  }
}
