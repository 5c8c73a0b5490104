import Cambium
import Synchronization

/// A task that follows a query, and what it has seen so far.
struct LiveObserver<Element: Sendable>: Sendable {
  private struct State {
    var diffs = 0
    var sequence: SequenceNumber?
    var elements: LiveElements<Element>?
    var hasEnded = false
  }

  private final class Seen: Sendable {
    let state = Mutex(State())
  }

  private let seen: Seen
  private let task: Task<Void, any Error>

  /// Starts to follow a query; the task sleeps after each difference, if it is told to.
  init<Q: Results>(_ query: Q, pause: Duration = .zero) where Q.Element == Element {
    let seen = Seen()
    self.seen = seen
    task = Task {
      defer { seen.state.withLock { $0.hasEnded = true } }
      for try await diff in query.changes() {
        seen.state.withLock { state in
          state.diffs += 1
          (state.sequence, state.elements) = (diff.sequence, diff.elements)
        }
        if pause > .zero { try await Task.sleep(for: pause) }
      }
    }
  }

  /// The number of differences, the first result among them.
  var diffs: Int { seen.state.withLock { $0.diffs } }

  var elements: LiveElements<Element>? { seen.state.withLock { $0.elements } }

  /// Waits for the first result.
  func begin() async throws { try await wait { $0.sequence != nil } }

  /// Waits until the observer has seen a moment, the one of a commit that concerned it.
  func reach(_ sequence: SequenceNumber) async throws {
    try await wait { ($0.sequence ?? sequence) >= sequence && $0.sequence != nil }
  }

  private func wait(until isThere: (State) -> Bool) async throws {
    let start = ContinuousClock.now
    while !seen.state.withLock({ isThere($0) }) {
      if seen.state.withLock({ $0.hasEnded }) { try await task.value }
      if ContinuousClock.now - start > .seconds(60) {
        throw BenchmarkError("an observer did not get what was committed")
      }
      try await Task.sleep(for: .microseconds(500))
    }
  }

  /// Ends it; returns once nothing of it runs any more.
  func end() async {
    task.cancel()
    _ = await task.result
  }
}
