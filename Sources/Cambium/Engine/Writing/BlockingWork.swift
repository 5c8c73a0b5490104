import Synchronization

/// Runs work that blocks its thread for a caller that must not block.
enum BlockingWork {
  /// Runs `body` on a queue of its own. It takes a function that returns true if the calling task
  /// was cancelled.
  static func run<R: Sendable>(
    on queue: any WorkQueue,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> R
  ) async throws -> R {
    let flag = Flag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.run {
          continuation.resume(with: Result { try body { flag.isSet } })
        }
      }
    } onCancel: {
      flag.set()
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }
}
