// The scheduling of all background work on an open database.
//
//     commit ──▶ isDue? ──┐
//     wake, a delay ──────┴──▶ wanted ──▶ the job's queue ──▶ step, step, … ──▶ when due again
//                                                               │
//                                            a failure is reported, and ends this run alone

import LMDB
import Synchronization

/// Runs the background jobs of one open database, each on a queue of its own.
///
/// Invariants:
/// 1. Each name has one job, and each job at most one piece of work that waits or runs. Checked by
///    `checkInvariants()` after every change.
/// 2. After `close` no job is wanted, and no step runs or begins. The first half is checked as
///    well; the second follows, since `take` gives a queue only what is wanted, and `close` waits.
/// 3. The steps of a job never overlap: they run on its queue, or for a caller who pauses it.
final class Jobs: Sendable {
  private struct Entry {
    var job: any Job
    let queue: any WorkQueue
    var isClosed: Bool
    /// True if there is work to do.
    var isWanted = false
    /// True while a piece of work waits on the queue, or runs there.
    var isScheduled = false
    /// True while the queue waits for a delay to pass.
    var isDelayed = false
    /// The number of callers that keep the job from running.
    var pauses = 0
    /// The thread that runs steps in the background; 0 for none.
    var worker: UInt = 0
  }

  private struct State {
    var entries: [Entry] = []
    /// The jobs of the entries, which each commit asks if they are due.
    private(set) var jobs: [any Job] = []
    var isClosed = false

    /// Notes that there are other jobs now.
    mutating func noteJobs() {
      jobs = entries.map(\.job)
      Jobs.checkInvariants(entries)
    }
  }

  private let state = Mutex(State())
  private let background: any BackgroundWork
  private let report: @Sendable (Diagnostic) -> Void

  init(_ background: any BackgroundWork, _ report: @escaping @Sendable (Diagnostic) -> Void) {
    self.background = background
    self.report = report
  }

  /// Changes the entry of a job, if there is one.
  @discardableResult
  private func change<R: Sendable>(_ name: String, _ body: (inout Entry) -> R) -> R? {
    state.withLock { state in
      defer { Jobs.checkInvariants(state.entries) }
      let index = state.entries.firstIndex { $0.job.name == name }
      return index.map { body(&state.entries[$0]) }
    }
  }

  private static func checkInvariants(_ entries: [Entry]) {
    assert(Set(entries.map(\.job.name)).count == entries.count, "a job is there twice")
    for entry in entries {
      assert(!entry.isClosed || !entry.isWanted, "\(entry.job.name) is wanted after closing")
      assert(entry.worker == 0 || entry.isScheduled, "\(entry.job.name) runs unscheduled")
      assert(entry.pauses >= 0, "\(entry.job.name) was resumed more often than paused")
    }
  }

  // MARK: The jobs

  /// Adds a job, replacing an earlier one of that name. A step of the earlier one that is running
  /// is its last, and the new one's steps come after it.
  func register(_ job: any Job) {
    if change(job.name, { $0.job = job }) != nil { return state.withLock { $0.noteJobs() } }
    let queue = background.makeQueue("cambium.\(job.name)", job.quality)
    state.withLock { state in
      state.entries.append(Entry(job: job, queue: queue, isClosed: state.isClosed))
      state.noteJobs()
    }
  }

  /// The job of a name, or nil.
  subscript(name: String) -> (any Job)? { change(name) { $0.job } }

  /// The job of a type that is registered once.
  subscript<J: Job>(type: J.Type) -> J {
    guard let found = all.lazy.compactMap({ $0 as? J }).first else {
      preconditionFailure("\(type) was not registered")
    }
    return found
  }

  private var all: [any Job] { state.withLock { $0.jobs } }

  // MARK: Scheduling

  /// Wakes the jobs for which an earlier process has left work.
  func start() {
    for job in all {
      if let delay = try? job.delayAfterOpening() { wake(job, after: delay) }
    }
  }

  /// Wakes the jobs that a commit has made due; returns at once.
  func considerAll() {
    for job in all where (try? job.isDue()) == true { wake(job) }
  }

  /// Schedules steps of a job soon, or after a delay; returns at once. The writer's turn may be
  /// held.
  ///
  /// - Returns: False once the job or the database has ended.
  @discardableResult
  func wake(_ job: any Job, after delay: Duration = .zero) -> Bool {
    change(job.name) { entry in
      if entry.isClosed { return false }
      if delay == .zero {
        want(&entry)
      } else if !entry.isDelayed {
        entry.isDelayed = true
        entry.queue.run(after: delay) { [weak self] in self?.endDelay(job.name) }
      }
      return true
    } ?? false
  }

  private func endDelay(_ name: String) {
    change(name) { entry in
      entry.isDelayed = false
      want(&entry)
    }
  }

  private func want(_ entry: inout Entry) {
    entry.isWanted = !entry.isClosed
    schedule(&entry)
  }

  /// Adds a piece of work to a wanted job's queue, unless it has one.
  private func schedule(_ entry: inout Entry) {
    guard entry.isWanted, !entry.isScheduled, entry.pauses == 0 else { return }
    entry.isScheduled = true
    let name = entry.job.name
    entry.queue.run { self.work(name) }
  }

  /// Runs steps until none is wanted.
  private func work(_ name: String) {
    while let job = take(name) {
      let progress = ProgressReporter(stop: { self.stop(job) })
      do {
        var next = JobStep.atOnce
        while next == .atOnce {
          try progress.check()
          next = try translating { try job.step(progress) }
        }
        if case .after(let delay) = next { wake(job, after: delay) }
      } catch  where progress.isStopped {
        change(name) { $0.isWanted = !$0.isClosed }
      } catch {
        end(job, error)
      }
    }
  }

  /// Takes a job if it is wanted; nil ends the work on its queue.
  private func take(_ name: String) -> (any Job)? {
    change(name) { entry in
      let isTaken = entry.isWanted && entry.pauses == 0
      if isTaken { entry.isWanted = false }
      entry.isScheduled = isTaken
      entry.worker = isTaken ? Platform.threadIdentity() : 0
      return isTaken ? entry.job : nil
    } ?? nil
  }

  /// The error with which a job's run in the background should end, if it should.
  private func stop(_ job: any Job) -> (any Error)? {
    let isPresent = change(job.name) { $0.job === job && $0.pauses == 0 }
    return isClosed ? Jobs.closed : isPresent == true ? nil : CancellationError()
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private static let closed = DatabaseError.closed(reason: "the database is closed")

  private func end(_ job: any Job, _ error: any Error) {
    if error is CancellationError {
      state.withLock { state in
        state.entries.removeAll { $0.job === job }
        state.noteJobs()
      }
      return job.fail(error)
    }
    if let diagnostic = job.diagnostic(error) { report(diagnostic) }
    job.failStep(error)
  }

  // MARK: For callers

  /// Keeps a job from running in the background while `body` runs, on this thread: a step under way
  /// ends first. The job continues afterwards, if it is still wanted. The body is given a reporter
  /// for the caller's handler, which also ends it when the database is closed.
  func pausing<R>(
    _ job: some Job, _ progress: ProgressHandler? = nil, _ body: (ProgressReporter) throws -> R
  ) rethrows -> R {
    change(job.name) { $0.pauses += 1 }
    defer {
      change(job.name) { entry in
        entry.pauses -= 1
        schedule(&entry)
      }
    }
    job.interrupt()
    finish(job)
    return try body(ProgressReporter(progress, stop: { self.isClosed ? Jobs.closed : nil }))
  }

  /// Waits for background work under way, but not on the thread that does it.
  func finish(_ job: any Job) {
    let queue = change(job.name) { $0.worker == Platform.threadIdentity() ? nil : $0.queue }
    queue??.finish()
  }

  /// Reports to callers that wait for jobs that these cannot continue for now.
  func failAll(_ error: any Error) { for job in all { job.fail(error) } }

  /// Ends all jobs, each after its present step, and waits for that. Remaining work is left to the
  /// next process.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for index in state.entries.indices {
        (state.entries[index].isClosed, state.entries[index].isWanted) = (true, false)
      }
    }
    for job in all {
      job.interrupt()
      job.fail(DatabaseError.closed(reason: "the database was closed"))
    }
    // A step may hold the last reference to the database, and close it.
    for job in all { finish(job) }
  }
}
