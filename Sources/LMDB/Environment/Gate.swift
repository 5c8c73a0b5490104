import Synchronization

/// Keeps every transaction of this process out while the map is resized.
///
/// LMDB moves the map under live readers without complaint (hazard H13). So each transaction that
/// reads LMDB's map is inside the gate for its whole life, and a resize waits until none is inside.
/// A reader that reads a map of its own needs LMDB's only while it begins: then it steps aside,
/// where only whoever closes the environment waits for it.
final class Gate: Sendable {
  private struct State {
    var inside = 0
    var aside = 0
    var closed = false

    func isEmpty(_ users: Users) -> Bool { inside == 0 && (users == .ofMap || aside == 0) }
  }

  /// The transactions that someone waits for.
  enum Users {
    /// The ones that read LMDB's map.
    case ofMap
    /// The ones that use the environment in any way.
    case all
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

  /// Steps aside, from inside.
  func stepAside() {
    state.withLock {
      $0.inside -= 1
      $0.aside += 1
    }
  }

  /// Leaves, from aside.
  func leaveAside() { state.withLock { $0.aside -= 1 } }

  /// Runs `body` while there are none of some transactions, and nobody can enter.
  ///
  /// - Returns: nil if there still was one after `timeout`; `body` has not run then.
  func exclusively<R>(
    of users: Users, timeout: Duration, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard close() else { return nil }
    defer { state.withLock { $0.closed = false } }
    let end = ContinuousClock.now + timeout
    while !state.withLock({ $0.isEmpty(users) }) {
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
