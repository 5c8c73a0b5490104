import LMDB
import Synchronization

/// Finishes work that declarations have deferred: builds indexes and views, and removes the entries
/// of those that were dropped, one after the other.
final class IndexBuildJob: Job {
  private struct Work {
    var build: IndexBuild?
    var failures: [UInt32: any Error] = [:]
  }

  let name = "index-build"
  private unowned let writer: Writer
  private let work = Mutex(Work())
  /// Held by a caller while it builds.
  private let turn = Mutex<Void>(())
  /// The thread that builds on behalf of a caller.
  private let caller = Atomic<UInt>(0)

  init(_ writer: Writer) { self.writer = writer }

  /// Continues the work that an earlier process has left, after a delay: a user who suspects damage
  /// in a database can inspect it first, before anything is written.
  func delayAfterOpening() throws -> Duration? { try next() == nil ? nil : .seconds(1) }

  private func next(except failures: [UInt32: any Error] = [:]) throws -> (UInt32, Unfinished)? {
    try writer.directory.snapshot(at: .now).names.collections.unfinished
      .filter { failures[$0.key] == nil }.min { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    try work.withLock { try step(&$0, progress) }
  }

  /// Does a step for the first unfinished index or view; a failure does not delay the others.
  private func step(_ work: inout Work, _ progress: ProgressReporter) throws -> JobStep {
    guard let (number, unfinished) = try next(except: work.failures) else {
      let first = work.failures.min { $0.key < $1.key }?.value
      work = Work()
      if let first { throw first }
      return .whenDue
    }
    // A step that fails may have taken entries that it did not store, so its build is not kept.
    var build = work.build.take() ?? IndexBuild(number, writer)
    if build.number != number { build = IndexBuild(number, writer) }
    do {
      if try !translating({ try build.step(unfinished, progress) }) { work.build = build }
    } catch let error as DatabaseError where !progress.isStopped {
      work.failures[number] = error
    }
    return .atOnce
  }

  /// Finishes all pending work, on this thread.
  ///
  /// - Parameter progress: Called about ten times a second; false cancels.
  /// - Throws: ``DatabaseError``, `CancellationError`. Completed steps remain.
  func finish(_ progress: ProgressHandler?) throws {
    try checkCaller()
    try alone(progress) { progress in while try step(progress) == .atOnce {} }
  }

  /// Refuses a call from within a progress handler, which would wait for itself.
  func checkCaller() throws {
    if isCaller {
      throw DatabaseError.misuse(
        reason: "a progress handler must not declare anything; declare it afterwards")
    }
  }

  private var isCaller: Bool { caller.load(ordering: .relaxed) == Platform.threadIdentity() }

  /// Runs a body while no thread builds an index.
  func pausing<R>(_ body: () throws -> R) rethrows -> R {
    if isCaller { return try body() }
    return try alone(nil) { _ in try body() }
  }

  private func alone<R>(
    _ progress: ProgressHandler?, _ body: (ProgressReporter) throws -> R
  ) rethrows -> R {
    try writer.jobs.pausing(self, progress) { progress in
      try turn.withLock { _ in
        caller.store(Platform.threadIdentity(), ordering: .relaxed)
        defer { caller.store(0, ordering: .relaxed) }
        return try body(progress)
      }
    }
  }

  func diagnostic(_ error: any Error) -> Diagnostic? { .indexBuildFailed("\(error)") }
}

extension Database {
  /// Finishes all pending builds and removals, on this thread.
  package func finishIndexBuilds() throws { try jobs[IndexBuildJob.self].finish(nil) }
}
