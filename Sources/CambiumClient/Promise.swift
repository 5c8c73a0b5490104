import Synchronization

/// A value that comes later, for one that waits for it. What comes first counts.
final class Promise<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value, any Error>)
    case kept(Result<Value, any Error>)
  }

  private let state = Mutex(State.open)

  /// Waits for the value; cancelling the task does not end that.
  func value() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let known: Result<Value, any Error>? = state.withLock { state in
        if case .kept(let result) = state { return result }
        state = .awaited(continuation)
        return nil
      }
      if let known { continuation.resume(with: known) }
    }
  }

  /// Gives the value; false if there is one.
  @discardableResult
  func resolve(_ result: Result<Value, any Error>) -> Bool {
    let (isFirst, waiting): (Bool, CheckedContinuation<Value, any Error>?) = state.withLock {
      state in
      switch state {
      case .kept: return (false, nil)
      case .open:
        state = .kept(result)
        return (true, nil)
      case .awaited(let continuation):
        state = .kept(result)
        return (true, continuation)
      }
    }
    waiting?.resume(with: result)
    return isFirst
  }
}
