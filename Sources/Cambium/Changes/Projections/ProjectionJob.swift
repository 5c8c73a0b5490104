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
    waiters.begin()
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

  // Whoever came since the step began has woken the job again, and may have better luck.
  func failStep(_ error: any Error) { waiters.resume(throwing: error, isFinal: false) }

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
    var lastID = 0
    /// The one that came last before the present step began.
    var lastBefore = 0

    /// Takes some, in the order in which they came.
    mutating func take(
      where isTaken: (_ id: Int, _ sequence: SequenceNumber) -> Bool
    ) -> [Continuation] {
      let taken = waiting.filter { isTaken($0.key, $0.value.sequence) }.sorted { $0.key < $1.key }
      for (id, _) in taken { waiting[id] = nil }
      return taken.map(\.value.continuation)
    }
  }

  private let state = Mutex(State())

  /// Notes that a step begins.
  func begin() { state.withLock { $0.lastBefore = $0.lastID } }

  /// Resumes those that wait for a transaction up to one.
  func resume(upTo position: SequenceNumber) {
    let taken = state.withLock { $0.take { _, sequence in sequence <= position } }
    for continuation in taken { continuation.resume() }
  }

  /// Resumes all with an error, or those alone that came before the step began.
  func resume(throwing error: any Error, isFinal: Bool = true) {
    let taken = state.withLock { state in
      let last = isFinal ? state.lastID : state.lastBefore
      return state.take { id, _ in id <= last }
    }
    for continuation in taken { continuation.resume(throwing: error) }
  }

  /// Waits for a transaction; calls back once it does.
  func wait(for sequence: SequenceNumber, _ isWaiting: () -> Void) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
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
