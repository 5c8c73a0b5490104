// Commits that reach the file later, while other threads write to it or read it. The judge is the
// number of the last commit: who begins to read after it finds it whole, or a later one.

import Dispatch
import Synchronization
import Testing

@testable import LMDB

@Suite("Commits that other threads write to the file", .timeLimit(.minutes(5)))
struct WriteBehindThreadsTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  @Test("are found whole by readers on other threads, once they are committed")
  func readers() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 20_000)
    let committed = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    let problems = Mutex<[String]>([])
    @Sendable func read() throws {
      let least = committed.load(ordering: .acquiring)
      #expect(try behind.settle())
      let found = try WriteBehindTests.content(environment, table)
      let numbers = Set(found.values)
      let number = numbers.first.flatMap { Int($0) } ?? 0
      if numbers.count > 1 || number < least || found.count != min(number, 1) * 50 {
        problems.withLock { $0.append("\(number) after \(least): \(found.count) \(numbers)") }
      }
    }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        if thread > 0 {
          while !isOver.load(ordering: .relaxed) {
            // One reads, the others write to the file for the writer.
            if thread == 1 { try read() } else if thread == 2 { try behind.writeBack() }
            if thread == 3 { try behind.write() }
            usleep(UInt32(thread * 300))
          }
          return
        }
        defer { isOver.store(true, ordering: .relaxed) }
        for number in 1...2000 {
          let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
          for key in 0..<50 {
            // The writer finds its own, wherever they are by now.
            let before = try transaction.access.get(table, "key \(key)")
            if before != (number == 1 ? nil : "\(number - 1)") {
              problems.withLock { $0.append("\(before ?? "nothing") before \(number)") }
            }
            try transaction.put(table, "key \(key)", "\(number)")
          }
          try transaction.commit()
          committed.store(number, ordering: .releasing)
          if behind.isFull { try behind.turn() }
        }
      } catch {
        problems.withLock { $0.append("\(error)") }
        isOver.store(true, ordering: .relaxed)
      }
    }
    #expect(problems.withLock { $0 } == [])
  }

  @Test("are made while another thread writes those before to the file")
  func meanwhile() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func put(_ key: String, expecting present: [String] = []) throws {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      for key in present { #expect(try transaction.access.get(table, key) == "1") }
      try transaction.put(table, key, "1")
      try transaction.commit()
    }
    // The back is in the file, and cleared by the next transaction, in the middle of what follows.
    try put("older")
    try behind.turn()
    try put("first")
    #expect(try behind.writeBack())
    // While one thread has LMDB's only transaction that writes, another waits for it in `write`.
    let (holds, begins) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let done = DispatchSemaphore(value: 0)
    let ends = DispatchGroup()
    let found = Mutex((isInTime: false, isWritten: false))
    DispatchQueue(label: "holder").async(group: ends) {
      let transaction = try? DirectTransaction(environment)
      holds.signal()
      let isInTime = done.wait(timeout: .now() + 10) == .success
      found.withLock { $0.isInTime = isInTime }
      _ = consume transaction
    }
    holds.wait()
    DispatchQueue(label: "another").async(group: ends) {
      begins.signal()
      let isWritten = (try? behind.write()) == true
      found.withLock { $0.isWritten = isWritten }
    }
    begins.wait()
    usleep(300_000)
    try put("second", expecting: ["older", "first"])
    try put("third", expecting: ["first", "second"])
    done.signal()
    ends.wait()
    #expect(found.withLock { $0.isInTime }, "a commit waited for the file")
    #expect(found.withLock { $0.isWritten })
    #expect(try WriteBehindTests.content(environment, table).keys.sorted() == ["first", "older"])
    #expect(!behind.isEmpty && !behind.isBackWaiting && behind.since != nil)
    try put("fourth", expecting: ["first", "second", "third"])
    #expect(try behind.settle())
    #expect(
      try WriteBehindTests.content(environment, table).keys.sorted()
        == ["first", "fourth", "older", "second", "third"])
    #expect(behind.isEmpty && behind.since == nil)
  }
}
