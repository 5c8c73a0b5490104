import Dispatch
import Synchronization
import Testing

@testable import LMDB

/// The gate that keeps transactions out while the map is resized, and the resizing itself.
@Suite("The gate")
struct GateTests {
  @Test("lets one in alone, and says what that returned")
  func alone() throws {
    let gate = Gate()
    gate.enter()
    gate.enter()
    gate.leave()
    gate.leave()
    #expect(try gate.exclusively(of: .ofMap, timeout: .zero) { 5 } == 5)
    #expect(try gate.exclusively(of: .ofMap, timeout: .zero) { 6 } == 6)
  }

  @Test("gives up when someone stays inside, without having run anything, and is open then")
  func timeout() throws {
    let gate = Gate()
    gate.enter()
    var hasRun = false
    #expect(try gate.exclusively(of: .ofMap, timeout: .milliseconds(5)) { hasRun = true } == nil)
    #expect(!hasRun)
    gate.enter()
    gate.leave()
    gate.leave()
    #expect(try gate.exclusively(of: .ofMap, timeout: .milliseconds(5)) { hasRun = true } != nil)
    #expect(hasRun)
  }

  @Test("waits for those who have stepped aside only where all must be gone")
  func aside() throws {
    let gate = Gate()
    gate.enter()
    #expect(try gate.exclusively(of: .ofMap, timeout: .zero) { 5 } == nil)
    gate.stepAside()
    #expect(try gate.exclusively(of: .ofMap, timeout: .zero) { 5 } == 5)
    #expect(try gate.exclusively(of: .all, timeout: .zero) { 6 } == nil)
    gate.leaveAside()
    #expect(try gate.exclusively(of: .all, timeout: .zero) { 6 } == 6)
  }

  @Test("opens after an error")
  func error() throws {
    let gate = Gate()
    let error = StorageError(.invalid, "an error")
    #expect(throws: error) {
      try gate.exclusively(of: .ofMap, timeout: .zero) { () throws(StorageError) in throw error }
    }
    gate.enter()
    gate.leave()
  }

  @Test("never lets anyone in while someone is alone")
  func exclusion() {
    let gate = Gate()
    let inside = Atomic(0)
    let breaches = Atomic(0)
    let turns = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      for _ in 0..<100 {
        if thread < 2 {
          _ = try? gate.exclusively(of: .ofMap, timeout: .seconds(10)) { () throws(StorageError) in
            if inside.load(ordering: .sequentiallyConsistent) != 0 {
              breaches.wrappingAdd(1, ordering: .relaxed)
            }
            turns.wrappingAdd(1, ordering: .relaxed)
          }
        } else {
          gate.enter()
          inside.wrappingAdd(1, ordering: .sequentiallyConsistent)
          inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
          gate.leave()
        }
      }
    }
    #expect(breaches.load(ordering: .relaxed) == 0)
    #expect(turns.load(ordering: .relaxed) == 200)
  }

  // MARK: Growing

  @Test("lets the map grow between the transactions of other threads")
  func growth() throws {
    let directory = try ScratchDirectory()
    let environment = try directory.open(mapSize: 1 << 20, mapSizeMax: 1 << 28)
    try environment.put("a", String(repeating: "x", count: 5_000))
    let isDone = Atomic(false)
    let wrong = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        if thread == 0 {
          for step in 1...8 { try environment.growMap(headroom: 1 << (19 + step)) }
          isDone.store(true, ordering: .relaxed)
        } else {
          while !isDone.load(ordering: .relaxed) {
            if try environment.get("a")?.utf8.count != 5_000 {
              wrong.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
      } catch {
        isDone.store(true, ordering: .relaxed)
        Issue.record(error)
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(try environment.usage().mapBytes >= 1 << 27)
  }

  @Test("grows the map beside a reader that stays, which reads a map of its own")
  func heldReader() throws {
    let directory = try ScratchDirectory()
    let environment = try directory.open(mapSize: 1 << 20)
    try environment.put("a", "1")
    let table = try environment.table("words")
    let reader = try ReadTransaction(environment, tables: [table])
    try environment.growMap(headroom: 1 << 24)
    try environment.put("a", String(repeating: "x", count: 1 << 22))
    #expect(try reader.access.get(table, "a") == "1")
    #expect(try environment.get("a")?.utf8.count == 1 << 22)
  }

  @Test("refuses to grow the map under a reader that reads it, with .busy, and moves nothing")
  func pinnedReader() throws {
    let directory = try ScratchDirectory()
    let environment = try directory.open(mapSize: 1 << 20)
    try environment.put("a", "1")
    do {
      let reader = try ReadTransaction(pinning: environment)
      #expect(try kind { try environment.growMap(headroom: 1 << 24) } == .busy)
      #expect(try environment.usage().mapBytes == 1 << 20)
      _ = consume reader
    }
    try environment.growMap(headroom: 1 << 24)
    try environment.put("a", String(repeating: "x", count: 1 << 22))
  }
}
