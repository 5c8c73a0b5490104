import Foundation
import Synchronization

/// The threads on which requests are answered, and long bodies written while they are sent. A list
/// that waits for its client blocks one, so they are not those of Swift's concurrency, and more are
/// started while all are busy.
final class Workers: TaskExecutor {
  fileprivate struct State {
    var jobs: [UnownedJob] = []
    var first = 0
    var threadCount = 0
    var idleCount = 0
    /// The bodies that are being written.
    var bodyCount = 0
  }

  private let threadsMax: Int
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)

  init(threadsMax: Int = 64) { self.threadsMax = threadsMax }

  /// Threads that only write bodies.
  static func forBodies() -> Workers { Workers(threadsMax: 16) }

  /// Adds a job to the queue; the server limits how many requests there are.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let startsThread = state.withLock { state in
      state.jobs.append(job)
      guard state.idleCount < state.jobs.count - state.first, state.threadCount < threadsMax
      else { return false }
      state.threadCount += 1
      return true
    }
    work.signal()
    if startsThread { Thread.detachNewThread { [self] in runJobs() } }
  }

  /// Writes a body while it is sent. It takes a thread for as long as its client takes what it has
  /// asked for, so none waits for a thread.
  ///
  /// - Returns: False if each thread has one already.
  func write(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      if state.bodyCount >= threadsMax { return false }
      state.bodyCount += 1
      return true
    }
    guard isTaken else { return false }
    Task(executorPreference: self) {
      body()
      self.state.withLock { $0.bodyCount -= 1 }
    }
    return true
  }

  /// Runs jobs until there was none for ten seconds.
  private func runJobs() {
    let executor = unsafe asUnownedTaskExecutor()
    while let job = next() { unsafe job.runSynchronously(on: executor) }
  }

  private func next() -> UnownedJob? {
    state.withLock { $0.idleCount += 1 }
    while work.wait(timeout: .now() + 10) == .timedOut {
      let ends = state.withLock { state in
        if state.first < state.jobs.count { return false }
        state.threadCount -= 1
        state.idleCount -= 1
        return true
      }
      if ends { return nil }
    }
    return state.withLock { state in
      state.idleCount -= 1
      return state.takeFirst()
    }
  }
}

extension Workers.State {
  /// The oldest job. It is there: there is a signal for each.
  fileprivate mutating func takeFirst() -> UnownedJob? {
    let job = jobs[first]
    first += 1
    if first > 64 && first * 2 > jobs.count {
      jobs.removeFirst(first)
      first = 0
    }
    return job
  }
}
