import Cambium
import Foundation
import Synchronization
import Testing

@testable import CambiumServer

@Suite("Requests with a key") struct AnsweredRequestsTests {
  private final class Clock: Sendable {
    let offset = Mutex<Double>(0)
  }

  private static func request(
    _ body: String, key: String?, caller: Caller = .everything
  ) -> Request {
    Request(
      method: .post, path: "/v1/apply", headers: key.map { ["idempotency-key": $0] } ?? [:],
      body: Array(body.utf8), caller: caller)
  }

  private static func count(_ database: Database) throws -> Value? {
    try database.read { try $0["count"].value }
  }

  private static func increment(
    _ answered: AnsweredRequests, _ body: String, key: String?, caller: Caller = .everything
  ) async throws -> AnsweredRequests.Receipt {
    try await answered.write(request(body, key: key, caller: caller)) { tx in
      try tx.increment("count", by: 1)
      return .string("value of \(body)")
    }
  }

  @Test("are made once, and answered alike")
  func once() async throws {
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    let first = try await Self.increment(answered, "a", key: "k")
    #expect(first.isRecorded && !first.isRepeated)
    #expect(first.sequence == (try database.head))
    try await database.write { try $0.set("other", to: 1) }
    var second = try await Self.increment(answered, "a", key: "k")
    #expect(second.isRepeated)
    second.isRepeated = false
    #expect(second == first)
    #expect(try Self.count(database) == 1)
    // One without a key is made each time.
    _ = try await Self.increment(answered, "a", key: nil)
    _ = try await Self.increment(answered, "a", key: nil)
    #expect(try Self.count(database) == 3)
  }

  @Test("leave no receipt behind when something is erased, which a receipt could tell")
  func erased() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var database = try Database(at: path)
    _ = try await Self.increment(AnsweredRequests(database), "a", key: "k")
    try await database.write { try $0.set("users/ada", to: 1) }
    try await database.close()
    _ = try Database.erase("users/ada", at: path)
    database = try Database(at: path)
    var names: [String] = []
    try database.forEachNote(startingWith: "") { name, _ in names.append(name) }
    #expect(names == [])
    let exists = try database.read { try $0["users/ada"].exists }
    #expect(!exists)
    #expect(try Self.count(database) == 1)
    try await database.close()
  }

  @Test("keep their receipts when the database is opened again")
  func durable() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var database = try Database(at: path)
    _ = try await Self.increment(AnsweredRequests(database), "a", key: "k")
    try await database.close()
    database = try Database(at: path)
    #expect(try await Self.increment(AnsweredRequests(database), "a", key: "k").isRepeated)
    #expect(try Self.count(database) == 1)
    let findings = try database.verify().findings
    #expect(findings.isEmpty)
  }

  @Test("are refused where the key is that of another request, and where it cannot be one")
  func keys() async throws {
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    _ = try await Self.increment(answered, "a", key: "k")
    await #expect(throws: AnsweredRequests.KeyError.reused) {
      _ = try await Self.increment(answered, "b", key: "k")
    }
    for key in ["", "a b", "ü", String(repeating: "k", count: 256)] {
      await #expect(throws: AnsweredRequests.KeyError.malformed(bytesMax: 255)) {
        _ = try await Self.increment(answered, "a", key: key)
      }
    }
    // A key counts for its caller alone.
    let other = Caller(name: "other", scope: .root, canWrite: true)
    let receipt = try await Self.increment(answered, "b", key: "k", caller: other)
    #expect(!receipt.isRepeated)
    #expect(try Self.count(database) == 2)
  }

  @Test("that were refused are refused again, though they could be made now")
  func refusals() async throws {
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    let request = Self.request("a", key: "k")
    let make: @Sendable () async throws -> AnsweredRequests.Receipt = {
      try await answered.write(request) { tx in
        try tx.set("part", to: 1)
        if try !tx["place"].exists {
          throw DatabaseError.notFound("place", reason: "there is none")
        }
        return .null
      }
    }
    let refusal = DatabaseError.notFound("place", reason: "there is none")
    let head = try database.head
    await #expect(throws: refusal) { _ = try await make() }
    #expect(try database.head == head)
    #expect(try database.read { try !$0["part"].exists })
    try await database.write { try $0.set("place", to: 1) }
    await #expect(throws: refusal) { _ = try await make() }
    #expect(try database.read { try !$0["part"].exists })
  }

  @Test("that fail for another reason are made when they come again")
  func failures() async throws {
    struct Away: Error {}
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    let request = Self.request("a", key: "k")
    await #expect(throws: Away.self) {
      _ = try await answered.write(request) { tx in
        try tx.set("part", to: 1)
        throw Away()
      }
    }
    let receipt = try await answered.write(request) { tx in
      try tx.set("part", to: 2)
      return .null
    }
    #expect(receipt.isRecorded && !receipt.isRepeated)
  }

  @Test("that change nothing have a receipt without a transaction")
  func nothing() async throws {
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    let request = Self.request("a", key: "k")
    let make: @Sendable () async throws -> AnsweredRequests.Receipt = {
      try await answered.write(request) { tx in .bool(try tx.remove("place")) }
    }
    let first = try await make()
    #expect(!first.isRecorded && first.value == false)
    #expect(first.sequence == (try database.head))
    try await database.write { try $0.set("place", to: 1) }
    let second = try await make()
    #expect(second.isRepeated && second.value == false && second.sequence == first.sequence)
    #expect(try database.read { try $0["place"].exists })
  }

  @Test("made at the same time are made once")
  func together() async throws {
    let database = try Database.inMemory()
    let answered = AnsweredRequests(database)
    let receipts = try await withThrowingTaskGroup(of: AnsweredRequests.Receipt.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await Self.increment(answered, "\(number % 10)", key: "\(number % 10)")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(try Self.count(database) == 10)
    #expect(receipts.count { !$0.isRepeated } == 10)
    #expect(Set(receipts.map(\.sequence)).count == 10)
  }

  @Test("are forgotten after their time, and are no more than may be")
  func bounds() async throws {
    let database = try Database.inMemory()
    let clock = Clock()
    var limits = AnsweredRequests.Limits()
    (limits.keep, limits.countMax, limits.sweepEvery) = (.seconds(100), 20, .zero)
    let answered = AnsweredRequests(database, limits: limits) {
      [clock] in Date(timeIntervalSince1970: clock.offset.withLock { $0 })
    }
    for number in 0..<20 { _ = try await Self.increment(answered, "a", key: "\(number)") }
    await #expect(throws: AnsweredRequests.KeyError.tooMany(20)) {
      _ = try await Self.increment(answered, "a", key: "20")
    }
    // A repeated one is answered though there is no room.
    #expect(try await Self.increment(answered, "a", key: "3").isRepeated)
    clock.offset.withLock { $0 = 99 }
    #expect(try await Self.increment(answered, "a", key: "3").isRepeated)
    clock.offset.withLock { $0 = 101 }
    #expect(try await !Self.increment(answered, "a", key: "3").isRepeated)
    var left = 0
    try database.forEachNote(startingWith: "") { _, _ in left += 1 }
    #expect(left == 1)
    #expect(try Self.count(database) == 21)
  }
}
