import LMDB
import Synchronization
import Testing

@testable import Cambium

/// Observers whose position outlives them. The tests of crashes end a process at once.
@Suite("A consumer", .timeLimit(.minutes(1)))
struct ConsumerTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("begins before the first commit, and goes on where it was")
  func position() async throws {
    try await withDatabase { database in
      for number in 1...5 {
        try await database.write { tx in try tx.set("a", to: .integer(Int64(number))) }
      }
      let consumer = database.consumer("mailer")
      #expect(try consumer.position() == 0)
      #expect(try await sequences(3, of: try consumer.commits()) == [1, 2, 3])
      try consumer.advance(to: 3)
      #expect(try consumer.position() == 3)
      #expect(try database.consumer("mailer").position() == 3)
      #expect(try await sequences(2, of: try consumer.commits()) == [4, 5])
      #expect(try database.consumer("another").position() == 0)
    }
  }

  @Test("stores its position by itself after a while, and is listed then")
  func flush() async throws {
    try await withDatabase { database in
      try await database.write { tx in try tx.set("a", to: 1) }
      try database.consumer("mailer").advance(to: 1)
      try database.consumer("billing").advance(to: 0)
      let isListed = try await eventually { try database.information().consumers.count == 2 }
      #expect(isListed)
      let listed = try database.information().consumers.map { "\($0.name) \($0.position)" }
      #expect(listed == ["billing 0", "mailer 1"])
      #expect(try database.head == 1)
    }
  }

  @Test("stores its position with the next commit")
  func storedWithCommit() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      try await database.write { tx in try tx.set("a", to: 1) }
      try database.consumer("mailer").advance(to: 1)
      try await database.write { tx in try tx.set("a", to: 2) }
      kill(getpid(), SIGKILL)
    }
    #expect(try place.use { try $0.consumer("mailer").position() } == 1)
    try place.expectSound()
  }

  @Test("stores its position when the database is closed")
  func storedByClosing() throws {
    try place.use { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.consumer("mailer").advance(to: 1)
    }
    #expect(try place.use { try $0.consumer("mailer").position() } == 1)
  }

  @Test("gets a commit again whose position was not stored: at least once")
  func atLeastOnce() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      for _ in 1...3 { try await database.write { tx in try tx.increment("a", by: 1) } }
      let consumer = database.consumer("mailer")
      #expect(try await sequences(2, of: try consumer.commits()) == [1, 2])
      try consumer.advance(to: 2)
      kill(getpid(), SIGKILL)
    }
    let database = try place.open()
    let consumer = database.consumer("mailer")
    #expect(try consumer.position() <= 2)
    let after = try consumer.position().rawValue
    #expect(
      try await sequences(Int(3 - after), of: try consumer.commits()) == numbers(after + 1, 3))
    try await database.close()
    try place.expectSound()
  }

  @Test("that stores its position with its own writes sees each commit once, wherever it is killed")
  func exactlyOnce() async throws {
    try place.use { database in
      for number in 1...30 {
        try database.write { tx in try tx.set("in", to: .integer(Int64(number))) }
      }
    }
    for steps in [3, 1, 7] {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = place.path as String, steps = steps as Int] in
        try await Summing(try Database(at: path)).run(steps) { kill(getpid(), SIGKILL) }
      }
    }
    let database = try place.open()
    try await Summing(database).run(.max) {}
    #expect(try database.read { try $0["sum"].value } == .integer(30 * 31 / 2))
    #expect(try database.read { try $0["count"].value } == 30)
    try await database.close()
    try place.expectSound()
  }

  /// Adds up what was put into `in`.
  private struct Summing {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// Calls `crash` inside the write after so many steps.
    func run(_ steps: Int, crash: @escaping @Sendable () -> Void) async throws {
      let consumer = database.consumer("sum")
      var step = 0
      for try await commit in try consumer.commits() {
        let isLast = step == steps
        step += 1
        let added = try commit.changes.fetch().first { $0.path == "in" }?.new
        try await database.write { tx in
          if let added {
            try tx.increment("sum", by: added)
            try tx.increment("count", by: 1)
          }
          if isLast { crash() }
          try tx.advance("sum", to: commit.sequence)
        }
        if try database.read({ try $0["count"].value }) == 30 { return }
      }
    }
  }

  @Test("keeps its position when the transaction that moves it throws")
  func thrown() throws {
    struct Refusal: Error {}
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.write { tx in try tx.advance("mailer", to: 7) }
      #expect(throws: Refusal.self) {
        try database.write { tx in
          try tx.advance("mailer", to: 9)
          throw Refusal()
        }
      }
      try database.write { tx in
        do {
          try tx.attempt {
            try tx.advance("mailer", to: 8)
            throw Refusal()
          }
        } catch is Refusal {}
      }
      #expect(try database.consumer("mailer").position() == 7)
      #expect(try database.head == 1)
    }
  }

  @Test("has the position of its own transaction, not an earlier one that was kept")
  func precedence() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      let consumer = database.consumer("mailer")
      try consumer.advance(to: 3)
      try database.write { tx in try tx.advance("mailer", to: 5) }
      #expect(try consumer.position() == 5)
      try consumer.advance(to: 1)
      #expect(try consumer.position() == 1)
    }
  }

  @Test("never goes back by itself while others commit")
  func steady() throws {
    try withDatabase { database in
      let setbacks = Atomic(0)
      onThreads(2) { thread in
        let consumer = database.consumer("mailer")
        for number in numbers(1, 300) {
          if thread == 0 {
            try database.write { tx in try tx.set("a", to: 1) }
          } else {
            try consumer.advance(to: number)
            for _ in 0..<40 where try consumer.position() != number {
              setbacks.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
      }
      #expect(setbacks.load(ordering: .relaxed) == 0)
    }
  }

  @Test("keeps its position when the database is closed after another process has rebuilt it")
  func closingAfterRebuild() async throws {
    try place.fill(5)
    let database = try place.open()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try await database.rebuild()
      try await database.close()
    }
    try database.consumer("mailer").advance(to: 3)
    try await database.close()
    try place.use { database in
      #expect(try database.consumer("mailer").position() == 3)
      try expectSound(database)
    }
  }

  @Test("may have a position before there is any commit")
  func beforeAll() throws {
    try withDatabase { database in
      try database.consumer("mailer").advance(to: 0)
      try database.write { tx in try tx.advance("billing", to: 0) }
      #expect(try database.information().consumers.count == 2)
    }
  }

  @Test("with a name that cannot be stored is refused, and disturbs nobody else's write")
  func badNames() throws {
    try withDatabase { database in
      let consumer = database.consumer(String(repeating: "x", count: 600))
      #expect(throws: DatabaseError.self) { try consumer.advance(to: 1) }
      try database.write { tx in try tx.set("b", to: 1) }
    }
  }
}
