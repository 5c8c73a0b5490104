import Synchronization

/// The tasks that wait for a state to change. They are part of the state, behind its lock.
struct WaitingTasks: Sendable {
  typealias Waiter = CheckedContinuation<Void, Never>

  private var waiters: [Int: Waiter] = [:]
  private var nextID = 0

  /// Takes the waiting tasks, in the order of their arrival, to be resumed without a lock.
  mutating func takeAll() -> [Waiter] {
    if waiters.isEmpty { return [] }
    defer { waiters = [:] }
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }

  fileprivate mutating func makeID() -> Int {
    nextID += 1
    return nextID
  }

  fileprivate mutating func add(_ waiter: Waiter, _ id: Int) { waiters[id] = waiter }

  fileprivate mutating func remove(_ id: Int) -> Waiter? { waiters.removeValue(forKey: id) }
}

/// A state that tasks wait for.
protocol Awaited: SendableMetatype {
  var waiting: WaitingTasks { get set }
}

extension Mutex where Value: Awaited {
  /// Waits until somebody takes the waiting tasks and resumes them; returns at once if the state is
  /// ready, or the task is cancelled.
  func wait(unless isReady: @Sendable (Value) -> Bool) async {
    let id = withLock { $0.waiting.makeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = withLock { state in
          if isReady(state) || Task.isCancelled { return true }
          state.waiting.add(continuation, id)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      withLock { $0.waiting.remove(id) }?.resume()
    }
  }
}
