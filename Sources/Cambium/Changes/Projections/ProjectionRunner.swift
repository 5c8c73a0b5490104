import Dispatch
import Synchronization

/// Folds for all projections that an app has registered, behind the commits, one after the other.
final class ProjectionRunner: Sendable {
  private struct Waiting {
    let name: String
    let sequence: SequenceNumber
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    weak var writer: Writer?
    var projections: [any Projection] = []
    var progress: [String: ProgressHandler] = [:]
    var isScheduled = false
    /// True if something came up since it last looked.
    var isWanted = false
    var isClosed = false
    var waiting: [Int: Waiting] = [:]
    var nextID = 0
  }

  private let state = Mutex(State())
  private let queue: any WorkQueue

  init(_ background: any BackgroundWork) {
    queue = background.makeQueue("cambium.projections", .utility)
  }

  /// Says who has the turn.
  func attach(_ writer: Writer) { state.withLock { $0.writer = writer } }

  /// Takes a projection, in the place of an earlier one of that name.
  func register(_ projection: any Projection, _ progress: ProgressHandler?) {
    state.withLock { state in
      state.projections.removeAll { $0.name == projection.name }
      state.projections.append(projection)
      state.progress[projection.name] = progress
    }
    consider()
  }

  /// Brings projections up to date, in the background; returns at once. The turn may be held.
  func consider() {
    let isNeeded = state.withLock { state in
      if state.projections.isEmpty || state.isClosed { return false }
      state.isWanted = true
      if state.isScheduled { return false }
      state.isScheduled = true
      return true
    }
    if isNeeded { queue.run { self.work() } }
  }

  private func work() {
    while let (projections, writer) = takeWork() {
      for projection in projections { run(projection, writer) }
    }
  }

  private func takeWork() -> ([any Projection], Writer)? {
    state.withLock { state in
      guard state.isWanted, !state.isClosed, let writer = state.writer else {
        state.isScheduled = false
        return nil
      }
      state.isWanted = false
      return (state.projections, writer)
    }
  }

  private func run(_ projection: any Projection, _ writer: Writer) {
    let run = ProjectionRun(projection, writer.directory, writer)
    do {
      var isDone = false
      while !isDone, !state.withLock({ $0.isClosed }) {
        let step = try run.step()
        isDone = step.isDone
        try tell(projection.name, step.position, writer.directory, isDone: isDone)
      }
    } catch is CancellationError {
      state.withLock { state in state.projections.removeAll { $0.name == projection.name } }
      fail(projection.name, CancellationError())
    } catch {
      if state.withLock({ $0.isClosed }) { return }
      writer.directory.report(.projectionFailed(projection.name, reason: "\(error)"))
      fail(projection.name, error)
    }
  }

  // MARK: Telling

  private func tell(
    _ name: String, _ position: SequenceNumber, _ directory: OpenDirectory, isDone: Bool
  ) throws {
    let done = Progress(
      phase: "projection '\(name)'", done: position.rawValue, total: directory.feed.applied.rawValue
    )
    // Before those that wait, who may look at what was told.
    let progress = state.withLock { $0.progress[name] }
    if progress?(done) == false { throw CancellationError() }
    let ready = state.withLock { state in
      let ready = state.waiting.filter {
        isDone && $0.value.name == name && $0.value.sequence <= position
      }
      for id in ready.keys { state.waiting[id] = nil }
      return ready.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiting in ready { waiting.continuation.resume() }
  }

  /// Ends the waiting of all, since nothing new can be folded for now.
  func fail(_ error: DatabaseError) { fail(nil, error) }

  private func fail(_ name: String?, _ error: any Error) {
    let failed = state.withLock { state in
      let failed = state.waiting.filter { name == nil || $0.value.name == name }
      for id in failed.keys { state.waiting[id] = nil }
      return failed.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiting in failed { waiting.continuation.resume(throwing: error) }
  }

  /// Waits until a projection has come so far.
  func wait(_ name: String, _ sequence: SequenceNumber) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let refusal = state.withLock { state -> (any Error)? in
          if state.isClosed { return DatabaseError.closed(reason: "the database is closed") }
          if Task.isCancelled { return CancellationError() }
          state.waiting[id] = Waiting(name: name, sequence: sequence, continuation: continuation)
          return nil
        }
        if let refusal { continuation.resume(throwing: refusal) } else { consider() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?
        .continuation.resume(throwing: CancellationError())
    }
  }

  // MARK: The end

  /// Gives up what is under way, after its present step.
  func close() {
    state.withLock { $0.isClosed = true }
    fail(nil, DatabaseError.closed(reason: "the database was closed"))
    finish()
  }

  /// Waits for what is under way.
  func finish() { queue.finish() }
}
