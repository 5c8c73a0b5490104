import Synchronization

/// Folds for one projection that an app has registered, behind the commits.
final class ProjectionJob: Job {
  let name: String
  private let projection: any Projection
  private let progress: ProgressHandler?
  private unowned let writer: Writer
  private let run: ProjectionRun
  private let waiters: ProjectionWaiters

  /// Makes a job, which whoever waits for an earlier one of that name waits for from now on.
  init(
    _ projection: any Projection, _ writer: Writer, _ progress: ProgressHandler?,
    _ earlier: ProjectionJob?
  ) {
    waiters = earlier?.waiters ?? ProjectionWaiters()
    name = ProjectionJob.name(projection.name)
    self.projection = projection
    self.progress = progress
    self.writer = writer
    run = ProjectionRun(projection, writer)
  }

  static func name(_ projection: String) -> String { "projection.\(projection)" }

  func isDue() throws -> Bool { true }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    let (position, isDone) = try run.step()
    let done = WorkProgress(
      phase: "projection '\(projection.name)'", done: position.rawValue,
      total: writer.directory.feed.applied.rawValue)
    // Progress comes before waiters resume, since they may read what it reported.
    if self.progress?(done) == false { throw CancellationError() }
    guard isDone else { return .atOnce }
    waiters.resume(upTo: position)
    return .whenDue
  }

  func fail(_ error: any Error) { waiters.resume(throwing: error) }

  func diagnostic(_ error: any Error) -> Diagnostic? {
    .projectionFailed(projection.name, reason: "\(error)")
  }

  /// Waits until the projection has come so far.
  func wait(for sequence: SequenceNumber) async throws {
    try await waiters.wait(for: sequence) {
      if !writer.jobs.wake(self) {
        fail(DatabaseError.closed(reason: "the database is closed"))
      }
    }
  }
}

/// The tasks that wait until a projection has come so far.
private final class ProjectionWaiters: Sendable {
  private typealias Continuation = CheckedContinuation<Void, any Error>

  private struct State {
    var waiting: [Int: (sequence: SequenceNumber, continuation: Continuation)] = [:]
    var nextID = 0

    /// Takes those that wait for a transaction up to one, in the order in which they came.
    mutating func take(upTo position: SequenceNumber) -> [Continuation] {
      let taken = waiting.filter { $0.value.sequence <= position }.sorted { $0.key < $1.key }
      for (id, _) in taken { waiting[id] = nil }
      return taken.map(\.value.continuation)
    }
  }

  private let state = Mutex(State())

  func resume(upTo position: SequenceNumber) {
    for continuation in state.withLock({ $0.take(upTo: position) }) { continuation.resume() }
  }

  func resume(throwing error: any Error) {
    for continuation in state.withLock({ $0.take(upTo: SequenceNumber(.max)) }) {
      continuation.resume(throwing: error)
    }
  }

  /// Waits for a transaction; calls back once it does.
  func wait(for sequence: SequenceNumber, _ isWaiting: () -> Void) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if !Task.isCancelled { state.waiting[id] = (sequence, continuation) }
          return Task.isCancelled
        }
        if isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          isWaiting()
        }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?
        .continuation.resume(throwing: CancellationError())
    }
  }
}
