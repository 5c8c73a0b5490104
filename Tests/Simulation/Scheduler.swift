import Cambium
import Dispatch
import LMDB
import Synchronization

/// Runs tasks, and the engine's background work, on one thread in an order drawn from a seed.
///
///     tasks ── jobs ──────────┐
///     the engine's queues ────┼──▶ ready ── drawn by the seed ──▶ run to its next suspension
///     the wake file's watch ──┘                │
///                                              └── at each step of a write some of the others run
///                                                  inside of it, as other threads would
///
/// So one seed is one schedule, which can be run again. A piece that takes the writer's turn does
/// not run inside a write, since it would wait there for ever: a task awaits ``turn()`` before it
/// does.
///
/// A task belongs here when it was made with `executorPreference`; its child tasks, what it awaits
/// of the engine, and default actors stay here then. Sleeping does not: it follows the clock.
package final class Scheduler: TaskExecutor {
  fileprivate enum Piece {
    case job(UnownedJob)
    case work(queue: Int, isDelayed: Bool, @Sendable () -> Void)
  }

  fileprivate struct State {
    var random: SeededGenerator
    var ready: [Piece] = []
    /// Queues of which a piece is running.
    var running: Set<Int> = []
    var queueCount = 0
    var watches: [Int: @Sendable () -> Void] = [:]
    var watchCount = 0
    /// The depth of the pieces that run inside each other.
    var depth = 0
    /// The number of running writes that hold the writer's turn.
    var held = 0
    var time = ContinuousClock.now
    var trace = Trace()
  }

  private let state: Mutex<State>
  private static let depthMax = 4
  private static let stepsMax = 200_000

  package init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

  /// The trace of everything that has run so far.
  package var trace: Trace { state.withLock { $0.trace } }

  /// Notes something that happened, so that schedules can be compared.
  package func note(_ number: UInt64) { state.withLock { $0.trace.add(number) } }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.ready.append(.job(job)) }
  }

  // MARK: Running

  /// Runs a task, and all that follows from it, until nothing is left to run.
  ///
  /// - Returns: True if the task has ended. Otherwise it waits for something that will never come,
  ///   or has taken too many steps.
  package func run(_ body: @escaping @Sendable () async -> Void) -> Bool {
    let end = End()
    Task.detached(executorPreference: self) {
      await body()
      end.isReached.store(true, ordering: .relaxed)
    }
    while trace.count < Scheduler.stepsMax, step() {}
    return end.isReached.load(ordering: .relaxed)
  }

  private final class End: Sendable { let isReached = Atomic(false) }

  /// Runs one of the pieces that may run.
  ///
  /// - Returns: True if there was one.
  private func step() -> Bool {
    guard let piece = state.withLock({ $0.draw() }) else { return false }
    switch piece {
    case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    case .work(let queue, _, let work):
      work()
      state.withLock { _ = $0.running.remove(queue) }
    }
    state.withLock { $0.depth -= 1 }
    return true
  }

  /// Lets some of the others run inside of what is running.
  ///
  /// - Parameter holdsTurn: True if the write that is running holds the writer's turn.
  package func interleave(holdsTurn: Bool) {
    var count = state.withLock { state in
      if state.depth >= Scheduler.depthMax || state.random.oneIn(2) { return 0 }
      state.held += holdsTurn ? 1 : 0
      return 1 + state.random.below(6)
    }
    if count == 0 { return }
    while count > 0, step() { count -= 1 }
    state.withLock { $0.held -= holdsTurn ? 1 : 0 }
  }

  /// Waits until the writer's turn can be taken; it can until the caller suspends.
  package func turn() async {
    repeat { await Task.yield() } while state.withLock { $0.held > 0 }
  }
}

extension Scheduler.State {
  /// Draws one of the pieces that may run, and takes it.
  fileprivate mutating func draw() -> Scheduler.Piece? {
    var candidates = candidates(isPatient: random.oneIn(8))
    if candidates.isEmpty { candidates = self.candidates(isPatient: true) }
    if candidates.isEmpty { return nil }
    let choice = random.below(candidates.count)
    trace.add(UInt64(candidates.count << 16 | choice))
    let piece = ready.remove(at: candidates[choice])
    if case .work(let queue, _, _) = piece { running.insert(queue) }
    depth += 1
    return piece
  }

  /// The indices of the pieces that may run: every task; of each queue its first piece, while none
  /// of its others runs and the writer's turn is free; delayed work, only sometimes.
  private func candidates(isPatient: Bool) -> [Int] {
    var found: [Int] = []
    var passed = running
    for (index, piece) in ready.enumerated() {
      switch piece {
      case .job: found.append(index)
      case .work(let queue, let isDelayed, _):
        if held > 0 && queue >= 0 || passed.contains(queue) { continue }
        if isDelayed && !isPatient { continue }
        if !isDelayed { passed.insert(queue) }
        found.append(index)
      }
    }
    return found
  }
}

// MARK: The engine's background work

extension Scheduler: BackgroundWork {
  package var now: ContinuousClock.Instant {
    state.withLock { state in
      state.time += .microseconds(10)
      return state.time
    }
  }

  package func makeQueue(_ label: String, _ quality: DispatchQoS) -> any WorkQueue {
    state.withLock { state in
      state.queueCount += 1
      return Queue(scheduler: self, number: state.queueCount)
    }
  }

  package func watch(
    _ file: WakeFile, _ changed: @escaping @Sendable () -> Void
  ) -> any AnyObject & Sendable {
    state.withLock { state in
      state.watchCount += 1
      state.watches[state.watchCount] = changed
      return Watch(scheduler: self, number: state.watchCount)
    }
  }

  package func pass(_ step: WriteStep) {
    if step == .applied { state.withLock { $0.signalWatches() } }
    interleave(holdsTurn: step == .logged || step == .applied)
  }

  fileprivate func add(_ piece: Piece) { state.withLock { $0.ready.append(piece) } }

  /// A queue of the engine.
  private struct Queue: WorkQueue {
    let scheduler: Scheduler
    let number: Int

    func run(_ work: @escaping @Sendable () -> Void) {
      scheduler.add(.work(queue: number, isDelayed: false, work))
    }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
      scheduler.add(.work(queue: number, isDelayed: true, work))
    }

    /// Leaves waiting work to run later: the engine calls this only when it closes, and work that
    /// runs after that does nothing.
    func finish() {}
  }

  private final class Watch: Sendable {
    private let scheduler: Scheduler
    private let number: Int

    init(scheduler: Scheduler, number: Int) {
      self.scheduler = scheduler
      self.number = number
    }

    deinit { scheduler.forget(watch: number) }
  }

  private func forget(watch number: Int) {
    _ = state.withLock { $0.watches.removeValue(forKey: number) }
  }
}

extension Scheduler.State {
  /// The wake file was written, or will be: whoever watches it may look at any time from now on.
  fileprivate mutating func signalWatches() {
    for number in watches.keys.sorted() where random.oneIn(2) {
      guard let changed = watches[number] else { continue }
      ready.append(.work(queue: -number, isDelayed: false, changed))
    }
  }
}
