import Dispatch
import Synchronization

/// Async work that a thread waits for, though not for ever.
final class Awaited<R: Sendable>: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let result = Mutex<Result<R, any Error>?>(nil)
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Starts it.
  init(_ body: @escaping @Sendable () async throws -> R) {
    let task = Task {
      let result: Result<R, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      self.result.withLock { $0 = result }
      done.signal()
    }
    self.task.withLock { $0 = task }
  }

  /// Waits for it; what takes longer is a violation.
  func get(within seconds: Int, _ otherwise: @autoclosure () -> String) throws -> R {
    let isDone = done.wait(timeout: .now() + .seconds(seconds)) == .success
    guard isDone, let result = result.withLock({ $0 }) else { throw Violation(otherwise()) }
    return try result.get()
  }

  /// Asks it to end.
  func cancel() { task.withLock { $0?.cancel() } }
}
