import Synchronization

/// A switch that a closure of a test looks at.
final class Toggle: Sendable {
  private let state = Mutex(false)

  var isOn: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
