import Foundation
import LMDB
import Synchronization
import Testing

@testable import Cambium

/// Rebuilding the state, and healing one that is behind: at opening, at the next write, and under
/// readers.
@Suite("Recovery", .timeLimit(.minutes(1)))
struct RecoveryTests {
  private let place: Place

  init() throws { place = try Place() }

  // MARK: Rebuilding

  @Test("gives the same dump, publishes a generation, and removes the one before")
  func rebuild() throws {
    try withDatabase { database in
      for number in 0..<30 {
        try database.write { tx in
          try tx.set(
            NodePath(keys: ["n", .integer(Int64(number % 7))]), to: ["x": .integer(Int64(number))])
          if number % 5 == 0 { try tx.remove("n/5") }
        }
      }
      let digest = try expectSound(database)
      for generation in 2...4 as ClosedRange<UInt64> {
        try database.rebuild()
        #expect(try database.information().generation == generation)
        let states = try Files.names(in: database.path).filter { $0.hasPrefix("state-") }
        #expect(states == ["state-\(generation)"])
        #expect(try expectSound(database) == digest)
      }
      try database.write { tx in try tx.set("after", to: 1) }
      #expect(try database.head == 31)
    }
  }

  @Test("leaves held snapshots of earlier generations as they are")
  func heldSnapshots() throws {
    try withDatabase { database in
      var held: [Snapshot] = []
      for number in 1...4 as ClosedRange<Int64> {
        try database.write { tx in try tx.set("a", to: .integer(number)) }
        held.append(try database.snapshot())
        held.append(try database.snapshot(at: .sequence(1)))
        try database.rebuild()
      }
      try database.write { tx in try tx.set("a", to: 5) }
      #expect(try held.map { try $0["a"].value } == [1, 1, 2, 1, 3, 1, 4, 1])
    }
  }

  @Test("disturbs no reader, writer or observer")
  func meanwhile() async throws {
    try await withDatabase { database in
      try await database.write { tx in
        for number in 0..<50 { try tx.set(NodePath(keys: ["n", .integer(Int64(number))]), to: 0) }
      }
      let failures = Mutex<[String]>([])
      async let seen = sequences(101, of: database.changes(after: 0))
      await onThreads(4) { thread in
        for number in 1...100 {
          do {
            switch thread {
            case 0: if number % 5 == 0 { try database.rebuild() }
            case 1: try database.write { tx in try tx.set("n/7", to: .integer(Int64(number))) }
            default:
              for _ in 0..<20 {
                let count = try database.read { try $0["n"].childCount }
                if count != 50 { failures.withLock { $0.append("\(count) children") } }
              }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      let found = try await seen
      #expect(found == numbers(1, 101))
    }
  }

  @Test("that is cancelled changes nothing, and leaves nothing")
  func cancelled() throws {
    try place.fill(3)
    try place.use { database in
      #expect(throws: CancellationError.self) { try database.rebuild { _ in false } }
      #expect(try database.information().generation == 1)
      try database.write { tx in try tx.set("a", to: 1) }
      try expectSound(database)
    }
    #expect(try place.names == ["log", "state-1", "wake", "write.lock", "write.lock.wait"])
  }

  @Test("at opening can be cancelled; the next opening does it")
  func cancelledAtOpening() async throws {
    try place.fill(3)
    try place.distrust()
    #expect(throws: CancellationError.self) {
      try Database(at: place.path) { _ in false }
    }
    let path = place.path
    let opening = Task { try await Database.open(at: path) { _ in true } }
    opening.cancel()
    // The task may or may not have begun before it was cancelled, so both outcomes are right.
    do { try await opening.value.close() } catch is CancellationError {}
    #expect(try place.use { try $0.head } == 3)
    try place.expectSound()
  }

  @Test("tells how far it has come")
  func progress() async throws {
    try place.fill(5)
    try place.distrust()
    let steps = Mutex<[WorkProgress]>([])
    let database = try await Database.open(at: place.path) { step in
      steps.withLock { $0.append(step) }
      return true
    }
    let told = steps.withLock { $0 }
    #expect(told.last?.done == 5)
    #expect(told.allSatisfy { $0.phase == "rebuild" && $0.total == 5 })
    #expect(told.map(\.done) == told.map(\.done).sorted())
    try await database.close()
  }

  @Test("that is killed is begun anew by the next opening")
  func killed() async throws {
    try place.fill(20)
    try place.distrust()
    for _ in 0..<2 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
        _ = try Database(at: path) { _ in
          kill(getpid(), SIGKILL)
          return true
        }
      }
    }
    #expect(try place.use { try $0.head } == 20)
    try place.expectSound()
    #expect(try !place.names.contains { $0.hasSuffix(".tmp") })
  }

  @Test("stops at a damaged record and names it; the old state stays in use")
  func damagedRecord() throws {
    try place.fill(6)
    try place.damageRecord(4)
    try place.use { database in
      let error = #expect(throws: DatabaseError.self) { try database.rebuild() }
      guard case .corrupt(let reason)? = error else {
        Issue.record("\(error as Any)")
        return
      }
      #expect(reason.contains("record 4"))
      #expect(try database.read { try $0["n/6"].value } == 6)
      #expect(try database.information().generation == 1)
      let findings = try database.verify().findings
      #expect(findings.count == 1)
      #expect(findings.first?.part == "log")
      #expect(findings.first?.description.contains("record 4") == true)
    }
  }

  @Test("of a log whose records were exchanged stops where the chain breaks")
  func exchangedRecord() throws {
    try place.fill(6)
    let other = try Place()
    try other.fill(6)
    let record = try other.use { try $0.directory.log.read { try $0.record(3).stored() } }
    try place.editLog { transaction, tables in
      try LogTables.recordKey(3, part: 0).lend { key in
        try record.lend { try transaction.put(tables.records, key, $0) }
      }
    }
    try place.use { database in
      let error = #expect(throws: DatabaseError.self) { try database.rebuild() }
      #expect(error.map { "\($0)" }?.contains("record 3") == true)
      let findings = try database.verify().findings
      #expect(findings.first?.description.contains("record 3") == true)
    }
  }

  // MARK: Healing

  @Test("of a record whose state was lost happens at the next write")
  func healedByWrite() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.appendToLog("b", 2)
      #expect(try database.head == 1)
      #expect(try database.information().head == 2)
      var sequence = SequenceNumber.zero
      let seen = try database.write { tx in
        sequence = tx.sequence
        try tx.increment("b", by: 1)
        return try tx["b"].value
      }
      #expect(seen == 3)
      #expect(sequence == 3)
      #expect(try database.head == 3)
      #expect(try database.read(at: .sequence(2)) { try $0["b"].value } == 2)
      #expect(try database.read { try $0["b"].value } == 3)
    }
  }

  @Test("happens also where the next write throws or does nothing")
  func healedByNothing() throws {
    struct Refusal: Error {}
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.appendToLog("b", 2)
      try database.write { _ in }
      #expect(try database.head == 2)
      try database.appendToLog("c", 3)
      #expect(throws: Refusal.self) {
        try database.write { tx in
          try tx.set("d", to: 4)
          throw Refusal()
        }
      }
      let seen = try database.write { tx in [try tx["c"].exists, try tx["d"].exists] }
      #expect(seen == [true, false])
      #expect(try database.head == 3)
    }
  }

  @Test("is told to observers")
  func healedForObservers() async throws {
    try await withDatabase { database in
      try await database.write { tx in try tx.set("a", to: 1) }
      try database.appendToLog("b", 2)
      try await database.write { _ in }
      #expect(database.directory.feed.applied == 2)
      try await database.write { tx in try tx.set("c", to: 3) }
      let found = try await sequences(3, of: database.changes(after: 0))
      #expect(found == [1, 2, 3])
    }
  }

  @Test(
    "at opening is told to observers, also where a later record is damaged",
    arguments: [false, true])
  func healedByOpening(isDamaged: Bool) throws {
    try place.fill(2)
    for value in 3...4 as ClosedRange<Int64> { try place.appendToLog("b", .integer(value)) }
    if isDamaged { try place.damageRecord(4) }
    try place.use { database in
      let head = try database.head
      #expect(head == (isDamaged ? 3 : 4))
      #expect(database.directory.feed.applied == head)
    }
  }

  @Test("does not happen in a handle for reading only, which shows what is applied")
  func notHealed() throws {
    try place.fill(2)
    try place.appendToLog("b", 2)
    try place.use({ $0.readOnly = true }) { database in
      let head = try database.head
      #expect(head == 2)
      #expect(try database.information().head == 3)
      #expect(try database.verify().findings == [])
    }
    #expect(try place.use { try $0.head } == 3)
    try place.expectSound()
  }
}
