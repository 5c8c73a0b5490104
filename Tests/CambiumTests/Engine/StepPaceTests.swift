// Goal: compaction holds writers up for a few milliseconds at a time, whatever its commits take.
// Method: the pace alone, with times that are made up; and a write that waits while the history of
// 30,000 updates is cut, which must come before the steps that are still to come.

import Foundation
import Synchronization
import Testing

@testable import Cambium

@Suite("The steps of a compaction")
struct StepPaceTests {
  @Test("get less time after one that took long, and more again after short ones")
  func pace() {
    var pace = StepPace()
    #expect(pace.duration == .milliseconds(2))
    pace.note(.milliseconds(3))
    #expect(pace.duration == .milliseconds(2))
    pace.note(.milliseconds(7))
    #expect(pace.duration == .milliseconds(1))
    for _ in 0..<10 { pace.note(.milliseconds(50)) }
    #expect(pace.duration == .microseconds(250))
    pace.note(.milliseconds(1))
    #expect(pace.duration == .microseconds(312.5))
    for _ in 0..<20 { pace.note(.milliseconds(1)) }
    #expect(pace.duration == .milliseconds(2))
  }

  /// The number of cuts so far, and how many of them came before the write.
  private struct Course {
    var cuts = 0
    var cutsBeforeWrite: Int?
    var hasBegun = false
  }

  @Test("let a write that waits for its turn go first")
  func fairness() throws {
    let course = Mutex(Course())
    let opened = Mutex<Database?>(nil)
    let isWritten = DispatchSemaphore(value: 0)
    try withDatabase {
      $0.stepTook = { step, _ in
        guard step == "cut", let database = opened.withLock({ $0 }) else { return }
        let isFirst = course.withLock { course in
          defer { course.hasBegun = true }
          course.cuts += 1
          return !course.hasBegun
        }
        if !isFirst { return }
        Thread.detachNewThread {
          _ = try? database.write { tx in try tx.set("late", to: 1) }
          course.withLock { $0.cutsBeforeWrite = $0.cuts }
          isWritten.signal()
        }
        // The turn is held here, so the write waits for it.
        while database.writer.waiting.load(ordering: .relaxed) == 0 { usleep(100) }
      }
    } _: { database in
      opened.withLock { $0 = database }
      defer { opened.withLock { $0 = nil } }
      for number in 0..<30 as Range<Int64> {
        try database.write { tx in
          for node in 0..<1_000 as Range<Int64> {
            try tx.set(NodePath(keys: ["n", .integer(node)]), to: .integer(number))
          }
        }
      }
      try database.compact(upTo: 30)
      isWritten.wait()
      #expect(try database.read { try $0["late"].value } == 1)
    }
    let (before, all) = course.withLock { ($0.cutsBeforeWrite ?? .max, $0.cuts) }
    #expect(before <= 5, "the write came after \(before) of \(all) steps")
  }
}
