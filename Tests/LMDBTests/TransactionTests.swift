import Dispatch
import Testing

@testable import LMDB

/// Reading and writing: what is seen when, what is refused, and what an error leaves.
@Suite("A transaction")
struct TransactionTests {
  private let directory: ScratchDirectory
  private let environment: Environment
  private let table: Table

  init() throws {
    directory = try ScratchDirectory()
    environment = try directory.open()
    table = try environment.table("words")
  }

  // MARK: Visibility

  @Test("is seen as a whole after its commit, and not before")
  func commits() throws {
    let before = try ReadTransaction(environment, tables: [table])
    let transaction = try WriteTransaction(environment)
    try transaction.put(table, "a", "1")
    try transaction.put(table, "b", "2")
    #expect(try transaction.access.get(table, "a") == "1")
    #expect(try environment.get("a") == nil)
    try transaction.commit()
    #expect(try environment.get("a") == "1")
    #expect(try environment.get("b") == "2")
    #expect(try before.access.get(table, "a") == nil)
  }

  @Test("that goes out of scope leaves nothing, and its number is taken again")
  func aborts() throws {
    func begin() throws -> UInt64 {
      let transaction = try WriteTransaction(environment)
      try transaction.put(table, "a", "1")
      return transaction.access.number
    }
    let number = try begin()
    #expect(try environment.get("a") == nil)
    #expect(try begin() == number)
  }

  @Test("has the number after the one before")
  func numbers() throws {
    var numbers: [UInt64] = []
    for text in ["1", "2", "3"] {
      try environment.write { transaction, table in
        numbers.append(transaction.access.number)
        try transaction.put(table, "a", text)
      }
    }
    #expect(numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2])
    #expect(try environment.usage().transaction == numbers[2])
  }

  @Test("says whether there was something to delete")
  func deletes() throws {
    try environment.put("a", "1")
    var answers: [Bool] = []
    try environment.write { transaction, table in
      answers.append(try transaction.delete(table, "a"))
      answers.append(try transaction.delete(table, "a"))
    }
    #expect(answers == [true, false])
    #expect(try environment.get("a") == nil)
  }

  @Test("counts a table's entries and pages")
  func counts() throws {
    try environment.write { transaction, table in
      for number in 0..<1000 { try transaction.put(table, "\(number)", "\(number)") }
    }
    let transaction = try ReadTransaction(environment, tables: [table])
    #expect(try transaction.access.count(table) == 1000)
    #expect(try transaction.access.size(table) > 10_000)
  }

  // MARK: Keys and values

  @Test(
    "takes keys of 1 to 511 bytes; others are refused before LMDB sees them",
    arguments: [0, 512, 600])
  func badKeys(count: Int) throws {
    let key = String(repeating: "a", count: count)
    var refusals: [StorageError.Kind?] = []
    try environment.write { transaction, table in
      try transaction.put(table, "before", "1")
      refusals.append(try kind { try transaction.put(table, key, "1") })
      refusals.append(try kind { try transaction.delete(table, key) })
      try transaction.put(table, "after", try transaction.access.get(table, key) ?? "nothing")
    }
    #expect(refusals == [.invalid, .invalid])
    #expect(try environment.get("after") == "nothing")
    #expect(try environment.get(key) == nil)
    #expect(environment.health.failure == nil)
  }

  @Test(
    "stores keys and values at the limits as they are",
    arguments: [(1, 0), (511, 0), (511, 3 << 20)])
  func limits(keyCount: Int, valueCount: Int) throws {
    let key = String(repeating: "\0", count: keyCount)
    let value = String(repeating: "abcdefg\0", count: valueCount / 8)
    try environment.put(key, value)
    #expect(try environment.get(key) == value)
  }

  @Test("appends in order only; what is there already is damage, after which nothing is begun")
  func append() throws {
    var refusal: StorageError.Kind?
    try environment.write { transaction, table in
      try transaction.put(table, "b", "2", .append)
      refusal = try kind { try transaction.put(table, "a", "1", .append) }
      try transaction.put(table, "c", "3", .append)
    }
    #expect(refusal == .corrupt)
    #expect(try environment.get("a") == nil)
    #expect(try environment.get("c") == "3")
    #expect(environment.health.failure != nil)
  }

  // MARK: Savepoints

  @Test("keeps what a savepoint released, and undoes what one rolled back, however deep")
  func savepoints() throws {
    var depths: [Int] = []
    var seen: [String?] = []
    try environment.write { transaction, table in
      try transaction.put(table, "0", "kept")
      try transaction.savepoint()
      try transaction.put(table, "1", "kept")
      try transaction.savepoint()
      try transaction.put(table, "2", "undone")
      try transaction.delete(table, "0")
      try transaction.savepoint()
      try transaction.put(table, "3", "released into what is undone")
      try transaction.release()
      depths.append(transaction.savepoints)
      seen.append(try transaction.access.get(table, "3"))
      transaction.rollBack()
      seen.append(try transaction.access.get(table, "0"))
      try transaction.savepoint()
      try transaction.put(table, "4", "kept")
      try transaction.release()
      try transaction.release()
      depths.append(transaction.savepoints)
    }
    #expect(depths == [2, 0])
    #expect(seen == ["released into what is undone", "kept"])
    let found = try ["0", "1", "2", "3", "4"].map { try environment.get($0) }
    #expect(found == ["kept", "kept", nil, nil, "kept"])
  }

  @Test("that goes out of scope inside savepoints leaves nothing")
  func abortedSavepoints() throws {
    func begin() throws {
      var transaction = try WriteTransaction(environment)
      for name in ["a", "b", "c"] {
        try transaction.put(table, name, "1")
        try transaction.savepoint()
      }
    }
    try begin()
    #expect(try environment.get("a") == nil)
    try environment.put("a", "2")
  }

  // MARK: A full map

  @Test("that fills the map is lost as a whole; after growing the work can be done again")
  func mapFull() throws {
    let small = try ScratchDirectory()
    let environment = try small.open(mapSize: 1 << 18)
    try environment.put("before", "1")
    let table = try environment.table("words")
    func fill() throws {
      try environment.write { transaction, _ in
        for number in 0..<8 {
          try transaction.put(table, "\(number)", String(repeating: "x", count: 100_000))
        }
      }
    }
    #expect(try kind { try fill() } == .mapFull)
    #expect(environment.health.failure == nil)
    #expect(try environment.get("0") == nil)
    #expect(try environment.get("before") == "1")
    try environment.growMap(headroom: 2_000_000)
    try fill()
    #expect(try environment.get("7")?.utf8.count == 100_000)
    #expect(try environment.get("before") == "1")
  }

  @Test("that filled the map takes no more")
  func afterMapFull() throws {
    let small = try ScratchDirectory()
    let environment = try small.open(mapSize: 1 << 18)
    let table = try environment.table("words")
    var transaction = try WriteTransaction(environment)
    let large = String(repeating: "x", count: 1 << 19)
    var answers: [StorageError.Kind?] = []
    answers.append(try kind { try transaction.put(table, "a", large) })
    answers.append(try kind { try transaction.put(table, "b", "small") })
    answers.append(try kind { try transaction.savepoint() })
    do { try transaction.commit() } catch let error as StorageError { answers.append(error.kind) }
    #expect(answers == [.mapFull, .badTransaction, .badTransaction, .badTransaction])
    #expect(try environment.get("b") == nil)
  }

  // MARK: Writers

  @Test("that writes waits for the one before")
  func oneWriter() throws {
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        for _ in 0..<50 { try increment() }
      } catch {
        Issue.record(error)
      }
    }
    #expect(try environment.get("counter") == "200")
  }

  private func increment() throws {
    try environment.write { transaction, table in
      let count = try transaction.access.get(table, "counter").flatMap { Int($0) } ?? 0
      try transaction.put(table, "counter", "\(count + 1)")
    }
  }
}
