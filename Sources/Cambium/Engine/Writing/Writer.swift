import Dispatch
import LMDB
import Synchronization

/// One write that waits for its turn, or has it.
struct WriteJob: @unchecked Sendable {
  // It is Sendable because a queued job comes from the async `write`, whose body is Sendable, and
  // the job of a synchronous `write` never leaves its thread.
  let id: Int
  let metadata: [String: String]
  let expecting: SequenceNumber?
  /// Not generic, and called with its transaction: the optimizer of Swift 6.3 crashes if generic
  /// code makes a noncopyable one.
  let body: (borrowing Database.Transaction) throws -> Void
  let finish: (Result<Void, any Error>) -> Void
}

/// Gives writes their turn. One group runs at a time: the thread that has the turn takes all
/// waiting writes, runs each body, commits once, and resumes all (group commit).
///
/// A synchronous write runs on its caller's thread, the others on the writer's own queue. A group
/// begins and ends in one call, so LMDB's write transaction never changes threads (H7).
final class Writer: Sendable {
  private struct Queue {
    var waiting: [WriteJob] = []
    var nextID = 0
    var isScheduled = false
    var isClosed = false
    /// The number of bodies in the last group of the queue, and the time that its commit took.
    var last = (count: 0, commit: Duration.zero)
  }

  /// The maximum time for which a background write lets others go first.
  private static let stepBackMax = Duration.milliseconds(20)
  /// The longest time for which further writes are waited for: a commit may have moved the tail.
  private static let gatheringMax = Duration.milliseconds(5)

  let directory: OpenDirectory
  /// The background jobs.
  let jobs: Jobs
  private let turn = DispatchSemaphore(value: 1)
  private let owner = Atomic<UInt>(0)
  /// The number of threads that wait for the turn.
  let waiting = Atomic<Int>(0)
  private let queue = Mutex(Queue())
  private let background: any BackgroundWork
  private let settling: SettleJob
  private let thread: any WorkQueue

  private var groupCount: Int { directory.options.stepSizes.groupCount }

  init(_ directory: OpenDirectory) {
    self.directory = directory
    background = directory.options.background
    thread = background.makeQueue("cambium.writer")
    jobs = Jobs(background, directory.report)
    settling = SettleJob(directory)
    jobs.register(CheckpointJob(self))
    jobs.register(IndexBuildJob(self))
    jobs.register(PositionJob(self))
    jobs.register(CatchUpJob(self))
    jobs.register(settling)
    jobs.register(FlushJob(self))
    jobs.register(CompressionJob(directory))
    directory.feed.setRemedy { [weak self] in try self?.catchUpLate() }
    directory.feed.setFailure { [weak self] in self?.failToSettle($0) }
  }

  // MARK: Turns

  /// Lets waiting threads of this process have the turn first, for a limited time. The semaphore
  /// would give it to a thread that asks again at once, while the waiting ones are waking up.
  func stepBack() {
    let end = ContinuousClock.now + Writer.stepBackMax
    while waiting.load(ordering: .relaxed) > 0, ContinuousClock.now < end { usleep(50) }
  }

  /// Runs a body while no transaction of any process writes.
  ///
  /// - Parameters:
  ///   - timeout: The time to wait for others; nil for the one in the options.
  ///   - body: The closure to run.
  /// - Returns: The value that `body` returns.
  /// - Throws: ``DatabaseError/busy(reason:)`` after the timeout, ``DatabaseError/misuse(reason:)``
  ///   inside a write.
  func exclusively<R>(timeout: Duration? = nil, _ body: () throws -> R) throws -> R {
    guard let lock = directory.lock else {
      throw DatabaseError.readOnly(reason: "\(directory.path) is open for reading only")
    }
    // Before the lock, which a forked child shares with its parent.
    try translating { try directory.log.checkUsable() }
    if queue.withLock({ $0.isClosed }) {
      throw DatabaseError.closed(reason: "the database is closed")
    }
    let me = Platform.threadIdentity()
    if owner.load(ordering: .relaxed) == me {
      throw DatabaseError.misuse(
        reason: "write was called inside write; use the transaction that is open, or its attempt")
    }
    let timeout = timeout ?? directory.options.busyTimeout
    guard waitForTurn(timeout) else {
      throw DatabaseError.busy(reason: "another write of this process took longer than \(timeout)")
    }
    owner.store(me, ordering: .relaxed)
    defer {
      owner.store(0, ordering: .relaxed)
      turn.signal()
    }
    guard try translating({ try lock.lock(timeout: timeout) }) else {
      throw DatabaseError.busy(
        reason: "another process has been writing for longer than \(timeout)")
    }
    defer { lock.unlock() }
    return try body()
  }

  /// Waits for the turn, or gives up after `timeout`.
  ///
  /// On Linux the semaphore goes by the time of day, and gives up early when that is set forward.
  ///
  /// - Returns: True if this thread has the turn.
  private func waitForTurn(_ timeout: Duration) -> Bool {
    waiting.add(1, ordering: .relaxed)
    defer { waiting.subtract(1, ordering: .relaxed) }
    let end = ContinuousClock.now + timeout
    repeat {
      let left = max(end - .now, .zero)
      if turn.wait(timeout: .now() + left.seconds) == .success { return true }
    } while ContinuousClock.now < end
    return false
  }

  // MARK: Groups

  /// Runs a synchronous write, and the writes that wait with it.
  func run(_ job: WriteJob) throws {
    var others: [WriteJob] = []
    defer { schedule() }
    try exclusively {
      others = take(groupCount - 1)
      runGroup([job] + others)
    }
  }

  /// Runs a group of writes.
  ///
  /// - Returns: The time that its commit took.
  @discardableResult
  private func runGroup(_ jobs: [WriteJob]) -> Duration {
    var outcomes: [Result<Void, any Error>] = []
    var duration = Duration.zero
    do {
      try translating {
        let group = try WriteGroup.begin(in: directory)
        if !directory.options.isTemporary { try directory.fillReserve(of: group.state) }
        for job in jobs { outcomes.append(Result { try run(job, in: group) }) }
        duration = try commit(group)
      }
      for (job, outcome) in zip(jobs, outcomes) { job.finish(outcome) }
    } catch {
      // The group's commit failed, and with it every job that had not failed by itself.
      for (index, job) in jobs.enumerated() {
        let own = index < outcomes.count ? outcomes[index] : .success(())
        if case .failure = own { job.finish(own) } else { job.finish(.failure(error)) }
      }
    }
    return duration
  }

  /// Commits, and publishes the state's new position: by this group, or by catching up.
  ///
  /// - Returns: The time that the commit took.
  @discardableResult
  private func commit(_ group: WriteGroup) throws -> Duration {
    let start = background.now
    let outcome = try group.commit()
    let duration = background.now - start
    if let urgency = group.state.behind.takeRequest() {
      jobs.wake(settling, after: urgency == .now ? .zero : SettleJob.delay)
    }
    flushSoon()
    background.pass(.applied)
    switch outcome {
    case .nothing: break
    case .behind(let failure): fallBehind(failure, at: group.head.sequence)
    case .visible:
      directory.publish(group)
      jobs.considerAll()
      if group.stateWriter.folds.hasGivenUp || directory.options.buildsIndexesLater {
        jobs.wake(jobs[IndexBuildJob.self])
      }
    }
    return duration
  }

  /// Has the commits flushed that need not have been yet.
  private func flushSoon() {
    let tail = directory.log.tail
    guard tail.flushesWithin != nil, tail.takeFlushRequest() else { return }
    let job = jobs[FlushJob.self]
    // A failure keeps all further commits from being written.
    if let delay = job.delay, !jobs.wake(job, after: delay) { try? directory.log.sync() }
  }

  /// Folds in the records after the position of the state's file; the turn must be held.
  func catchUp() throws {
    let state = try directory.latestState()
    // One that has failed is replaced.
    if state.environment.health.failure == nil {
      try directory.usingReserve(of: state) { try state.behind.write() }
    }
    try commit(try WriteGroup.begin(in: directory))
    directory.feed.advance(to: try directory.latestState().applied())
  }

  private func run(_ job: WriteJob, in group: WriteGroup) throws {
    if let failure = group.failure { throw failure }
    try translating {
      try group.run(job.metadata) { transaction in
        if let expected = job.expecting { try transaction.check(.head(expected)) }
        try job.body(Database.Transaction(transaction))
      }
    }
  }

  // MARK: The queue

  /// The number of a new job.
  func nextID() -> Int {
    queue.withLock { queue in
      queue.nextID += 1
      return queue.nextID
    }
  }

  /// Queues a job.
  func enqueue(_ job: WriteJob) {
    let refusal = queue.withLock { queue -> DatabaseError? in
      if queue.isClosed { return .closed(reason: "the database is closed") }
      if queue.waiting.count >= directory.options.queueLength {
        return .busy(
          reason: "\(queue.waiting.count) writes are waiting; Options.queueLength is the limit")
      }
      queue.waiting.append(job)
      return nil
    }
    if let refusal { return job.finish(.failure(refusal)) }
    background.pass(.queued)
    schedule()
  }

  /// Takes a job out of the queue, if it has not started.
  func cancel(_ id: Int) {
    let job = queue.withLock { queue in
      queue.waiting.firstIndex { $0.id == id }.map { queue.waiting.remove(at: $0) }
    }
    job?.finish(.failure(CancellationError()))
  }

  private func take(_ count: Int) -> [WriteJob] {
    queue.withLock { queue in
      let jobs = Array(queue.waiting.prefix(count))
      queue.waiting.removeFirst(jobs.count)
      return jobs
    }
  }

  /// Ensures that the queue is processed.
  private func schedule() {
    let isNeeded = queue.withLock { queue in
      if queue.isScheduled || queue.waiting.isEmpty { return false }
      queue.isScheduled = true
      return true
    }
    if isNeeded { thread.run { self.workOff() } }
  }

  private func workOff() {
    gather()
    do {
      try exclusively {
        let jobs = take(groupCount)
        let commit = jobs.isEmpty ? .zero : runGroup(jobs)
        queue.withLock { $0.last = (jobs.count, commit) }
      }
    } catch {
      for job in take(.max) { job.finish(.failure(error)) }
    }
    queue.withLock { $0.isScheduled = false }
    schedule()
  }

  /// Waits until as many writes have joined as in the previous group, whose callers have just been
  /// resumed and often write again; for at most as long as that group's commit took, which is the
  /// cost of one group more. So those who come later make their transactions beside the next group.
  private func gather() {
    let (count, commit) = queue.withLock { $0.last }
    let end = background.now + min(commit, Writer.gatheringMax)
    while queue.withLock({ !$0.isClosed && $0.waiting.count < count }), background.now < end {
      background.pass(.gathering)
    }
  }

  // MARK: Consumers' positions

  /// Stores kept positions now.
  func flush() throws {
    if directory.positions.isEmpty { return }
    try exclusively {
      try translating { try catchUp() }
    }
  }

  // MARK: The end

  /// Refuses further writes, fails the waiting ones, and lets the running group finish.
  func close() {
    let waiting = queue.withLock { queue in
      queue.isClosed = true
      defer { queue.waiting.removeAll() }
      return queue.waiting
    }
    for job in waiting {
      job.finish(.failure(DatabaseError.closed(reason: "the database was closed")))
    }
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
