import Synchronization

/// A state shared by tasks, each of which waits until it is as that task needs it.
final class AsyncMonitor<State: Sendable>: Sendable {
  private struct Kept: Awaited {
    var state: State
    var version = 0
    var waiting = WaitingTasks()

    /// Notes a change, and takes the tasks that have to look again.
    mutating func changed() -> [WaitingTasks.Waiter] {
      version += 1
      return waiting.takeAll()
    }
  }

  private let kept: Mutex<Kept>

  init(_ state: State) { kept = Mutex(Kept(state: state)) }

  /// Changes the state, and lets the others look again.
  func change(_ body: (inout State) -> Void) {
    let woken = kept.withLock { kept in
      body(&kept.state)
      return kept.changed()
    }
    for continuation in woken { continuation.resume() }
  }

  /// Waits until a step can be taken.
  ///
  /// - Parameter step: Changes the state where it is as needed, and gives nil where it is not.
  /// - Returns: The result of the step; nil when the task is cancelled.
  func wait<R: Sendable>(_ step: (inout State) -> R?) async -> R? {
    while !Task.isCancelled {
      let (result, version, woken) = kept.withLock { kept in
        let result = step(&kept.state)
        return (result, kept.version, result == nil ? [] : kept.changed())
      }
      for continuation in woken { continuation.resume() }
      if let result { return result }
      await kept.wait { $0.version != version }
    }
    return nil
  }
}
