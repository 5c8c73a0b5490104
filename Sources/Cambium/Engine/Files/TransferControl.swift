import Synchronization

/// The progress of a file on its way into a database or out of it.
public struct TransferProgress: Hashable, Sendable {
  /// The phases of a transfer.
  public enum Phase: Sendable {
    /// It goes on as bytes come.
    case running
    /// It takes no bytes until it is resumed.
    case paused
    /// All of it is there.
    case finished
    /// It was given up, and nothing is left of it.
    case cancelled

    /// True if nothing comes after it.
    var isLast: Bool { self == .finished || self == .cancelled }
  }

  /// The present phase.
  public internal(set) var phase: Phase
  /// The bytes that have come so far, those of earlier runs included.
  public internal(set) var done: UInt64
  /// The bytes that there are in all; nil if the source does not say.
  public let total: UInt64?

  /// The part that has come, from 0 to 1; nil if the total is not known.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(done) / Double($0)) }
  }
}

/// The switch of a transfer, and its observers.
final class TransferControl: Sendable {
  private typealias Observer = AsyncStream<TransferProgress>.Continuation

  private struct State: Awaited {
    var progress: TransferProgress
    var waiting = WaitingTasks()
    var observers: [Int: Observer] = [:]
    var nextID = 0
  }

  private let state: Mutex<State>

  init(done: UInt64, total: UInt64?) {
    state = Mutex(State(progress: TransferProgress(phase: .running, done: done, total: total)))
  }

  deinit {
    let observers = state.withLock { Array($0.observers.values) }
    for observer in observers { observer.finish() }
  }

  var progress: TransferProgress { state.withLock { $0.progress } }

  /// The progress from now on. A slow observer misses steps, never the last one.
  func updates() -> AsyncStream<TransferProgress> {
    let (updates, observer) = AsyncStream<TransferProgress>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = observer
      observer.yield(state.progress)
      return state.nextID
    }
    if progress.phase.isLast { observer.finish() }
    observer.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
    }
    return updates
  }

  /// Moves from one of some phases to another.
  ///
  /// - Returns: False if it was in none of these.
  @discardableResult
  func enter(_ phase: TransferProgress.Phase, from old: Set<TransferProgress.Phase>) -> Bool {
    change { progress in
      guard old.contains(progress.phase) else { return false }
      progress.phase = phase
      return true
    }
  }

  /// Notes how far it has come.
  func advance(to done: UInt64) {
    _ = change { progress in
      progress.done = done
      return true
    }
  }

  private func change(_ body: (inout TransferProgress) -> Bool) -> Bool {
    let (isChanged, ended, waiters) = state.withLock { state in
      let isChanged = body(&state.progress)
      let (phase, observers) = (state.progress.phase, Array(state.observers.values))
      // Told behind the lock, so that no observer hears of two changes in the wrong order.
      if isChanged { for observer in observers { observer.yield(state.progress) } }
      return (
        isChanged, phase.isLast ? observers : [], phase == .paused ? [] : state.waiting.takeAll()
      )
    }
    // Not behind it, since ending an observer takes it off the list.
    for observer in ended { observer.finish() }
    for waiter in waiters { waiter.resume() }
    return isChanged
  }

  /// Checks that more may come.
  ///
  /// - Throws: `CancellationError` if it was cancelled, ``DatabaseError/misuse(reason:)`` if all of
  ///   it was there.
  func check() throws {
    switch progress.phase {
    case .running, .paused: break
    case .cancelled: throw CancellationError()
    case .finished: throw DatabaseError.misuse(reason: "the transfer has ended")
    }
  }

  /// Waits while it is paused.
  ///
  /// - Throws: As ``check()``; `CancellationError` if the task was cancelled.
  func turn() async throws {
    await state.wait { $0.progress.phase != .paused }
    try Task.checkCancellation()
    try check()
  }
}
