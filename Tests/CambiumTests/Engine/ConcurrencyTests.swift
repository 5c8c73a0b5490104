import FoundationEssentials
import LMDB
import Synchronization
import Testing

@testable import Cambium

/// Many threads and tasks on one database: nothing is lost, and no reader sees half of anything.
@Suite("Many threads", .timeLimit(.minutes(10)))
struct ConcurrencyTests {
  private struct Refusal: Error {}

  /// Every write adds one to the total and to one of sixteen parts, and takes a place in a list of
  /// its own; every seventh adds and throws.
  private static func add(_ tx: borrowing Database.Transaction, _ writer: Int, _ number: Int) throws
  {
    try tx.increment("total", by: 1)
    try tx.increment(NodePath(keys: ["parts", .integer(Int64(writer % 16))]), by: 1)
    try tx.set(
      NodePath(keys: ["done", .integer(Int64(writer)), .integer(Int64(number))]),
      to: ["x": .integer(Int64(number))])
    if number % 7 == 6 { throw Refusal() }
  }

  /// The total and the sum of the parts.
  private static func sums(_ snapshot: Snapshot) throws -> (total: Int64, parts: Int64) {
    var sum: Int64 = 0
    try snapshot["parts"].children.forEach {
      if case .integer(let part)? = try $0.value { sum += part }
    }
    if case .integer(let total)? = try snapshot["total"].value { return (total, sum) }
    return (0, sum)
  }

  @Test("that write, synchronously and not, and read, add up")
  func sum() async throws {
    try await withDatabase { database in
      let isDone = Atomic(false)
      async let readers: Void = onThreads(2) { _ in
        while !isDone.load(ordering: .relaxed) {
          let snapshot = try database.snapshot()
          let (total, parts) = try Self.sums(snapshot)
          if total != parts { Issue.record("\(total) is not \(parts) at \(snapshot.sequence)") }
          let head = snapshot.sequence.rawValue
          let past = try database.snapshot(at: .sequence(SequenceNumber(head / 2)))
          let (then, partsThen) = try Self.sums(past)
          if then != partsThen { Issue.record("\(then) was not \(partsThen)") }
        }
      }
      await withTaskGroup { group in
        group.addTask {
          await onThreads(8) { thread in
            for number in 0..<28 {
              do {
                try database.write { tx in try Self.add(tx, thread, number) }
              } catch is Refusal {}
            }
          }
        }
        for task in 8..<72 {
          group.addTask {
            for number in 0..<14 {
              do {
                try await database.write { tx in try Self.add(tx, task, number) }
              } catch is Refusal {
              } catch {
                Issue.record(error)
              }
            }
          }
        }
      }
      isDone.store(true, ordering: .relaxed)
      await readers
      let expected: Int64 = 8 * 24 + 64 * 12
      let sums = try database.read { try Self.sums($0) }
      #expect(sums == (expected, expected))
      #expect(try database.head == SequenceNumber(UInt64(expected)))
      #expect(try database.read { try $0["done"].childCount } == 72)
      #expect(try database.read { try $0["done/70"].childCount } == 12)
    }
  }

  @Test("share one snapshot, which stays as it is while others write")
  func sharedSnapshot() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<200 {
          try tx.set(
            NodePath(keys: ["n", .integer(Int64(number)), "child"]), to: ["x": 0, "y": "text"])
        }
      }
      let snapshot = try database.snapshot()
      onThreads(9) { thread in
        for round in 1...8 as ClosedRange<Int64> {
          if thread == 0 {
            try database.write { tx in
              for number in 0..<200 {
                try tx.set(
                  NodePath(keys: ["n", .integer(Int64(number)), "child"]),
                  to: ["x": .integer(round)])
              }
            }
            continue
          }
          var nodes = try snapshot["n"].descendants(includingSelf: false)
          var count = 0
          while let node = try nodes.next() {
            count += 1
            if node.path.depth == 3, try node.value != ["x": 0, "y": "text"] {
              Issue.record("\(node.path) has changed")
            }
          }
          if count != 400 { Issue.record("\(count) nodes") }
          if try snapshot["n/77/child"]["x"] != 0 { Issue.record("a property has changed") }
        }
      }
      #expect(try database.read { try $0["n/77/child"]["x"] } == 8)
    }
  }

  @Test("that define names at the same time agree on them")
  func names() async throws {
    try await withDatabase { database in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<16 {
          group.addTask {
            for number in 0..<10 {
              let record: Value = ["own \(task) \(number)": 1, "shared \(number)": 2]
              try await database.write { tx in
                try tx.set(
                  NodePath(keys: ["t", .integer(Int64(task)), .integer(Int64(number))]),
                  to: record)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try database.information().names == 170)
      #expect(try database.read { try $0["t/7/3"]["own 7 3"] } == 1)
      #expect(try database.read { try $0["t/7/3"]["shared 3"] } == 2)
    }
  }

  @Test("may verify at the same time, while others write")
  func verifying() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<100 { try tx.set(NodePath(keys: ["n", .integer(Int64(number))]), to: 1) }
      }
      let failures = Mutex<[String]>([])
      onThreads(3) { thread in
        for number in 0..<4 as Range<Int64> {
          do {
            if thread == 0 {
              for _ in 0..<10 { try database.write { tx in try tx.set("a", to: .integer(number)) } }
            } else {
              let findings = try database.verify().findings
              if !findings.isEmpty { failures.withLock { $0.append("\(findings)") } }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
    }
  }

  @Test("that close the database while others use it leave it sound")
  func closing() async throws {
    for _ in 0..<5 {
      let place = try Place()
      let database = try place.open()
      let written = Atomic(0)
      async let observer = sequences(.max, of: database.changes(after: 0))
      await onThreads(4) { thread in
        do {
          for number in 0..<200 {
            if thread == 0 && number == 100 { return try database.close() }
            if thread == 1 {
              _ = try database.read { try $0["n"].childCount }
            } else {
              try database.write { tx in
                try tx.set(
                  NodePath(keys: ["n", .integer(Int64(thread)), .integer(Int64(number))]), to: 1)
              }
              written.wrappingAdd(1, ordering: .relaxed)
            }
          }
        } catch DatabaseError.closed {}
      }
      let seen = try await observer
      #expect(seen == numbers(1, UInt64(seen.count)))
      try place.use { database in
        let head = try database.head.rawValue
        #expect(head >= UInt64(written.load(ordering: .relaxed)))
        #expect(seen.count <= head)
        try expectSound(database)
      }
    }
  }
}
