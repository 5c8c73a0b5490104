// Goal: whatever a job does, its steps never overlap, none comes after closing, and no other job
// takes harm. Method: jobs that do what a test says, on queues that run when it says so; then
// random histories of waking, pausing, running, failing and closing; and a job of a real database.

import Dispatch
import Foundation
import Simulation
import Synchronization
import Testing

@testable import Cambium

/// Does what a test says at each step, and counts.
private final class TestJob: Job {
  private struct State {
    var script: [Result<JobStep, DatabaseError>] = []
    var steps = 0
    var failures = 0
    var isDue = false
    var isRunning = false
    var overlaps = 0
  }

  let name: String
  private let state = Mutex(State())
  private let during: @Sendable () throws -> Void

  init(_ name: String, during: @escaping @Sendable () throws -> Void = {}) {
    self.name = name
    self.during = during
  }

  var steps: Int { state.withLock { $0.steps } }
  var failures: Int { state.withLock { $0.failures } }
  var overlaps: Int { state.withLock { $0.overlaps } }

  func set(due: Bool) { state.withLock { $0.isDue = due } }
  func add(_ outcomes: Result<JobStep, DatabaseError>...) {
    state.withLock { $0.script += outcomes }
  }

  func isDue() throws -> Bool { state.withLock { $0.isDue } }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    let outcome = state.withLock { state in
      state.steps += 1
      state.overlaps += state.isRunning ? 1 : 0
      state.isRunning = true
      return state.script.isEmpty ? .success(.whenDue) : state.script.removeFirst()
    }
    defer { state.withLock { $0.isRunning = false } }
    try during()
    return try outcome.get()
  }

  func fail(_ error: any Error) { state.withLock { $0.failures += 1 } }

  func diagnostic(_ error: any Error) -> Diagnostic? { .checkpointFailed("\(name): \(error)") }
}

@Suite("The background jobs of a database")
struct JobsTests {
  private let work = ManualWork()
  private let heard = Heard()
  private let jobs: Jobs
  private static let error = DatabaseError.misuse(reason: "not today")

  init() { jobs = Jobs(work, heard.add) }

  private func job(_ name: String, _ during: @escaping @Sendable () throws -> Void = {}) -> TestJob
  {
    let job = TestJob(name, during: during)
    jobs.register(job)
    return job
  }

  @Test("run where a commit has made them due, step by step until nothing is left")
  func steps() {
    let (due, other) = (job("due"), job("other"))
    due.set(due: true)
    due.add(.success(.atOnce), .success(.atOnce), .success(.whenDue))
    jobs.considerAll()
    #expect(work.count == 1 && due.steps == 0)
    work.runAll()
    #expect(due.steps == 3 && other.steps == 0)
  }

  @Test("are scheduled once, however often they are woken, and not forgotten while they run")
  func once() {
    let woken = Atomic(false)
    let busy = job("busy") { [jobs] in
      if woken.exchange(true, ordering: .relaxed) { return }
      jobs.wake(jobs[TestJob.self])
      jobs.wake(jobs[TestJob.self])
    }
    for _ in 0..<3 { jobs.wake(busy) }
    #expect(work.count == 1)
    work.runAll()
    #expect(busy.steps == 2 && busy.overlaps == 0)
  }

  @Test("begin no step after closing, and end with the one that they are at")
  func closing() {
    let running = job("running") { [jobs] in jobs.close() }
    let waiting = job("waiting")
    running.add(.success(.atOnce), .success(.atOnce))
    jobs.wake(running)
    jobs.wake(waiting)
    jobs.wake(waiting, after: .seconds(1))
    work.runAll()
    #expect(running.steps == 1 && waiting.steps == 0)
    #expect(running.failures == 1 && waiting.failures == 1)
    #expect(!jobs.wake(waiting) && !jobs.wake(running, after: .seconds(1)))
    waiting.set(due: true)
    jobs.considerAll()
    work.runAll(delayed: true)
    #expect(running.steps == 1 && waiting.steps == 0)
    #expect(heard.failures == [])
  }

  @Test("report a failure, leave the others alone, and are tried again when they are woken")
  func failing() {
    let (bad, good) = (job("bad"), job("good"))
    bad.add(.success(.atOnce), .failure(Self.error))
    jobs.wake(bad)
    jobs.wake(good)
    work.runAll()
    #expect(bad.steps == 2 && bad.failures == 1 && good.steps == 1)
    #expect(heard.failures == ["bad: \(Self.error)"])
    for job in [bad, good] { jobs.wake(job) }
    work.runAll()
    #expect(bad.steps == 3 && bad.failures == 1 && good.steps == 2)
  }

  @Test("are gone once they cancel themselves")
  func cancelling() {
    let tired = job("tired") { throw CancellationError() }
    jobs.wake(tired)
    work.runAll()
    #expect(tired.failures == 1 && heard.failures == [])
    #expect(!jobs.wake(tired) && jobs["tired"] == nil)
  }

  @Test("come back after the time that they name, counted once")
  func delays() {
    let patient = job("patient")
    patient.add(.success(.after(.seconds(5))))
    jobs.wake(patient, after: .seconds(2))
    jobs.wake(patient, after: .seconds(3))
    #expect(work.delays == [.seconds(2)])
    work.runAll()
    #expect(patient.steps == 0)
    work.runAll(delayed: true)
    #expect(patient.steps == 2)
  }

  @Test("wait while a caller pauses them, and go on where they were")
  func pausing() throws {
    let job = job("long") { [jobs] in
      // Its own step does not wait for itself.
      jobs.pausing(jobs[TestJob.self]) { _ in }
    }
    job.add(.success(.atOnce), .success(.atOnce))
    jobs.wake(job)
    jobs.pausing(job) { _ in
      work.runAll()
      #expect(job.steps == 0)
    }
    work.runAll()
    #expect(job.steps == 3)
    let isStopped = jobs.pausing(job) { progress in
      jobs.close()
      return progress.isStopped
    }
    #expect(isStopped)
  }

  @Test("stop after a step when another thread pauses them, and go on when it is done")
  func pausedByOther() {
    let (isPaused, isOver, hasEnded) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let isFirst = Atomic(true)
    let job = job("long") { [jobs] in
      if !isFirst.exchange(false, ordering: .relaxed) { return }
      Thread {
        jobs.pausing(jobs[TestJob.self]) { _ in
          isPaused.signal()
          isOver.wait()
        }
        hasEnded.signal()
      }.start()
      isPaused.wait()
    }
    job.add(.success(.atOnce), .success(.atOnce))
    jobs.wake(job)
    work.runAll()
    #expect(job.steps == 1)
    isOver.signal()
    hasEnded.wait()
    work.runAll()
    #expect(job.steps == 3)
  }

  @Test("take the place of one of the same name, after its last step")
  func replacing() {
    let second = TestJob("name")
    let first = job("name") { [jobs] in
      jobs.register(second)
      jobs.wake(second)
    }
    first.add(.success(.atOnce))
    jobs.wake(first)
    work.runAll()
    #expect(first.steps == 1 && second.steps == 1)
  }

  @Test("do what they should in any order of events", arguments: SeededGenerator.seeds(1, 2, 3))
  func randomOrder(seed: UInt64) {
    print("seed \(seed)")
    for round in 0..<200 as Range<UInt64> {
      var random = SeededGenerator(seed: seed &* 1000 &+ round)
      let (work, heard) = (ManualWork(), Heard())
      let jobs = Jobs(work, heard.add)
      let all = (0..<4).map { TestJob("job \($0)") }
      for job in all { jobs.register(job) }
      var failures = 0
      for _ in 0..<40 {
        let job = all[random.below(4)]
        switch random.below(6) {
        case 0: jobs.wake(job, after: random.oneIn(3) ? .seconds(1) : .zero)
        case 1: job.add(.success(.atOnce), .success(.after(.seconds(1))))
        case 2:
          job.add(.failure(Self.error))
          failures += 1
        case 3: if work.count > 0 { work.runOne(random.below(work.count)) }
        case 4: jobs.pausing(job) { _ in if random.oneIn(2) { jobs.wake(job) } }
        default: jobs.considerAll()
        }
      }
      for job in all { for _ in 0..<100 { jobs.wake(job); work.runAll(delayed: true) } }
      #expect(heard.failures.count == failures, "round \(round)")
      let before = all.map(\.steps)
      for job in all { jobs.wake(job) }
      jobs.close()
      work.runAll(delayed: true)
      #expect(all.map(\.steps) == before, "round \(round)")
      #expect(all.allSatisfy { $0.overlaps == 0 })
    }
  }

  @Test("of a database follow its commits, may take the writer's turn, and end with it")
  func database() throws {
    let job = TestJob("fifth")
    job.set(due: true)
    try withDatabase { database in
      database.jobs.register(job)
      try database.writeCounts(1...3)
      database.jobs.finish(job)
      #expect(1...3 ~= job.steps)
    }
    #expect(job.failures == 1)
    let steps = job.steps
    usleep(2000)
    #expect(job.steps == steps)
  }
}
