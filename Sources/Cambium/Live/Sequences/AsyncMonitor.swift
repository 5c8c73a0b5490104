import Synchronization

/// A state shared by tasks, each of which waits until it is as that task needs it.
final class AsyncMonitor<State: Sendable>: Sendable {
  private struct Kept {
    var state: State
    var version = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextID = 0

    /// Notes a change, and takes the tasks that have to look again.
    mutating func changed() -> [CheckedContinuation<Void, Never>] {
      version += 1
      defer { waiting = [:] }
      return waiting.sorted { $0.key < $1.key }.map(\.value)
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
      await park(at: version)
    }
    return nil
  }

  /// Waits until the state is not of a version any more, or the task is cancelled.
  private func park(at version: Int) async {
    let id = kept.withLock { kept in
      kept.nextID += 1
      return kept.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = kept.withLock { kept in
          if kept.version != version || Task.isCancelled { return true }
          kept.waiting[id] = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      kept.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
  }
}
