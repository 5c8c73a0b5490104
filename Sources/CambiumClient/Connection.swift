import Foundation
import Synchronization

/// Knows if the server answers, and asks it again and again while it does not.
///
///     connecting ──▶ live ──failure──▶ retrying(after: 0.1 s) ──▶ connecting ──▶ live
///                                          ▲                          │
///                                          └── pauses get longer ─────┘
///
/// Everybody who has something to send waits here while the server is away, so that only one asks,
/// at one pace. Pauses double up to a bound; half of each is random, so that the clients of a
/// server that comes back do not come all at once.
///
/// Invariants:
/// 1. At most one loop probes at a time: it runs from a failure to an answer, or to the end.
/// 2. Nobody waits while the connection is not down.
final class Connection: Sendable {
  /// The pauses between attempts.
  struct Pauses: Sendable {
    var first = Duration.milliseconds(100)
    var most = Duration.seconds(30)
  }

  fileprivate struct State {
    var status = RemoteStatus.connecting
    /// True from a failure to the next answer.
    var isDown = false
    var prober: Task<Void, Never>?
    var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    var readers: [UInt64: AsyncStream<RemoteStatus>.Continuation] = [:]
    var last: UInt64 = 0
  }

  private let pauses: Pauses
  private let probe: @Sendable () async throws -> Void
  private let state = Mutex(State())

  /// A connection that takes the server to be there until it is not.
  ///
  /// - Parameters:
  ///   - pauses: The pauses between attempts.
  ///   - probe: Asks the server anything; throws if it does not answer.
  init(_ pauses: Pauses, probe: @escaping @Sendable () async throws -> Void) {
    self.pauses = pauses
    self.probe = probe
  }

  // MARK: Status

  var status: RemoteStatus { state.withLock { $0.status } }

  /// The present status, and each later one. A reader that is late misses the oldest.
  var statuses: AsyncStream<RemoteStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let number = state.withLock { state in
        state.last += 1
        continuation.yield(state.status)
        if state.status == .stopped {
          continuation.finish()
        } else {
          state.readers[state.last] = continuation
        }
        return state.last
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
      }
    }
  }

  // MARK: Waiting

  /// Waits until the server answers, as far as is known.
  ///
  /// - Throws: ``RemoteStoreError/stopped``, `CancellationError`.
  func ready() async throws {
    try Task.checkCancellation()
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          if state.status == .stopped { return .failure(RemoteStoreError.stopped) }
          if Task.isCancelled { return .failure(CancellationError()) }
          if !state.isDown { return .success(()) }
          state.waiting[number] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?
        .resume(throwing: CancellationError())
    }
  }

  // MARK: What happens

  /// The server has answered.
  func succeeded() {
    let waiting = state.withLock { state in
      if state.status == .stopped || state.status.isLive {
        return [CheckedContinuation<Void, any Error>]()
      }
      state.isDown = false
      state.set(.live(since: Date()))
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// The server has not answered.
  func failed(_ reason: String) {
    state.withLock { state in
      if state.status == .stopped || state.isDown { return }
      state.isDown = true
      state.prober = Task { [weak self] in await self?.probe(reason) }
    }
  }

  private func probe(_ reason: String) async {
    var (reason, bound) = (reason, pauses.first)
    while isDown {
      let pause = bound * Double.random(in: 0.5...1)
      bound = min(bound * 2, pauses.most)
      setIfDown(.retrying(after: pause, reason: reason))
      try? await Task.sleep(for: pause)
      if Task.isCancelled || !isDown { return }
      setIfDown(.connecting)
      do {
        try await probe()
        return succeeded()
      } catch { reason = "\(error)" }
    }
  }

  private var isDown: Bool { state.withLock { $0.isDown && $0.status != .stopped } }

  private func setIfDown(_ status: RemoteStatus) {
    state.withLock { if $0.isDown && $0.status != .stopped { $0.set(status) } }
  }

  /// Ends it: whoever waits is refused.
  func stop() {
    let (waiting, readers, prober) = state.withLock { state in
      if state.status != .stopped { state.set(.stopped) }
      defer { (state.waiting, state.readers, state.prober) = ([:], [:], nil) }
      return (Array(state.waiting.values), Array(state.readers.values), state.prober)
    }
    prober?.cancel()
    // Outside of the lock: a reader that ends takes itself out.
    for reader in readers { reader.finish() }
    for continuation in waiting { continuation.resume(throwing: RemoteStoreError.stopped) }
  }
}

extension Connection.State {
  fileprivate mutating func set(_ new: RemoteStatus) {
    status = new
    for reader in readers.values { reader.yield(new) }
  }
}
