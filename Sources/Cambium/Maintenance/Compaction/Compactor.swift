import Dispatch
import Synchronization

/// Applies the retention policy in the background, after commits.
final class Compactor: Sendable {
  private let isBusy = Atomic<Bool>(false)
  private let isClosed = Atomic<Bool>(false)
  /// How many compact by themselves just now.
  private let others = Atomic<Int>(0)
  private let nextLook = Mutex<ContinuousClock.Instant?>(nil)
  private let background: any BackgroundWork
  private let queue: any WorkQueue

  init(_ background: any BackgroundWork) {
    self.background = background
    queue = background.makeQueue("cambium.compaction", .utility)
  }

  /// Compacts if that is due; returns at once. The writer's turn may be held.
  ///
  /// - Parameters:
  ///   - directory: The store of the database to compact.
  ///   - run: Makes the run that compacts; nil once the writer is gone.
  func consider(_ directory: OpenDirectory, _ run: @escaping @Sendable () -> CompactionRun?) {
    guard isTime(every: directory.options.compactionLook.every),
      (try? directory.log.read { try $0.retention() })?.keepsEverything == false
    else { return }
    inBackground(directory) {
      guard let run = run(), try run.isWorthIt() else { return }
      _ = try run.whileAlone { run in
        let (horizon, archives) = try run.target(of: nil)
        return try run.compact(upTo: horizon, archives: archives) { _ in !self.isGivenUp }
      }
    }
  }

  /// Goes on with what was broken off; returns at once.
  func resume(_ run: CompactionRun) {
    guard (try? run.isUnfinished()) == true else { return }
    inBackground(run.directory) {
      _ = try run.whileAlone { try $0.finish { _ in !self.isGivenUp } }
    }
  }

  /// Runs a compaction that was asked for, in the place of one in the background, which would keep
  /// it waiting; that goes on afterwards, if anything of it is left.
  func instead<R>(of run: CompactionRun, _ body: () throws -> R) throws -> R {
    others.add(1, ordering: .relaxed)
    finish()
    defer {
      others.subtract(1, ordering: .relaxed)
      if !isGivenUp { resume(run) }
    }
    return try body()
  }

  private var isGivenUp: Bool {
    isClosed.load(ordering: .relaxed) || others.load(ordering: .relaxed) > 0
  }

  private func isTime(every interval: Duration) -> Bool {
    let now = background.now
    return nextLook.withLock { next in
      if let next, now < next { return false }
      next = now + interval
      return true
    }
  }

  private func inBackground(
    _ directory: OpenDirectory, _ work: @escaping @Sendable () throws -> Void
  ) {
    if isBusy.exchange(true, ordering: .relaxed) { return }
    queue.run { [self] in
      defer { isBusy.store(false, ordering: .relaxed) }
      do { try translating(work) } catch {
        if !isGivenUp { directory.report(.compactionFailed("\(error)")) }
      }
    }
  }

  /// Gives up what is under way, after its present step; it is gone on with later.
  func close() {
    isClosed.store(true, ordering: .relaxed)
    finish()
  }

  /// Waits for what is under way.
  func finish() { queue.finish() }
}

extension Database {
  /// True if a compaction was broken off, and has steps left.
  package var isCompactionUnfinished: Bool {
    get throws { try translating { try writer.compaction.isUnfinished() } }
  }

  /// Waits until a compaction in the background has ended.
  package func finishCompaction() { writer.compactor.finish() }
}
