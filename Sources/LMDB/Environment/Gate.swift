import Synchronization

/// Keeps every transaction of this process out while the map is resized.
///
/// LMDB moves the map under live readers without complaint (hazard H13). So each transaction
/// is inside the gate for its whole life, and a resize waits until none is inside.
final class Gate: Sendable {
  private struct State {
    var inside = 0
    var closed = false
  }

  private let state = Mutex(State())

  /// Enters; waits while a resize is under way.
  func enter() {
    while !tryEnter() { usleep(100) }
  }

  private func tryEnter() -> Bool {
    state.withLock {
      if $0.closed { return false }
      $0.inside += 1
      return true
    }
  }

  /// Leaves.
  func leave() { state.withLock { $0.inside -= 1 } }

  /// Runs `body` while no transaction is inside.
  ///
  /// - Returns: nil if a transaction was still inside after `timeout`; `body` has not run then.
  func exclusively<R>(
    timeout: Duration, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard close() else { return nil }
    defer { state.withLock { $0.closed = false } }
    let end = ContinuousClock.now + timeout
    while state.withLock({ $0.inside }) > 0 {
      if ContinuousClock.now >= end { return nil }
      usleep(200)
    }
    return try body()
  }

  private func close() -> Bool {
    while true {
      let taken = state.withLock {
        if $0.closed { return false }
        $0.closed = true
        return true
      }
      if taken { return true }
      usleep(200)
    }
  }
}
