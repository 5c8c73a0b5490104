import Cambium
import Dispatch
import Foundation
import Synchronization
import Testing

/// The sequence numbers of the next `count` commits; fewer where the feed ends.
func sequences(_ count: Int, of commits: Commits) async throws -> [SequenceNumber] {
  var found: [SequenceNumber] = []
  var iterator = commits.makeAsyncIterator()
  while found.count < count, let commit = try await iterator.next() {
    found.append(commit.sequence)
  }
  return found
}

/// The sequence numbers from one to another.
func numbers(_ first: UInt64, _ last: UInt64) -> [SequenceNumber] {
  first > last ? [] : (first...last).map { SequenceNumber($0) }
}

/// Runs the same body on several threads, and records what any of them throws.
///
/// They are threads of their own: tests run on the few that tasks share, and the system's queues
/// may share those, too. A body that waits there for another one may wait for ever.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
  let (crew, end) = (Crew(count), DispatchSemaphore(value: 0))
  crew.run(body) { end.signal() }
  end.wait()
  crew.recordErrors()
}

/// As ``onThreads(_:_:)``, for a task that waits meanwhile.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async {
  let crew = Crew(count)
  await withCheckedContinuation { continuation in crew.run(body) { continuation.resume() } }
  crew.recordErrors()
}

/// Threads that run the same body.
private final class Crew: Sendable {
  private struct State {
    var running: Int
    var errors: [(thread: Int, error: any Error)] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(running: count)) }

  /// Starts them; the last to end calls `ended`.
  func run(
    _ body: @escaping @Sendable (Int) throws -> Void, _ ended: @escaping @Sendable () -> Void
  ) {
    for thread in 0..<state.withLock({ $0.running }) {
      Thread.detachNewThread { [self] in
        let result = Result { try body(thread) }
        let isLast = state.withLock { state in
          if case .failure(let error) = result { state.errors.append((thread, error)) }
          state.running -= 1
          return state.running == 0
        }
        if isLast { ended() }
      }
    }
  }

  /// In the test's own task, so that the errors are the test's.
  func recordErrors() {
    for (thread, error) in state.withLock({ $0.errors }) {
      Issue.record(error, "thread \(thread)")
    }
  }
}

/// Polls until a condition holds, for ten seconds unless told otherwise.
///
/// - Returns: True if the condition came to hold in time.
func eventually(
  seconds: Int = 10, isolation: isolated (any Actor)? = #isolation,
  _ condition: () throws -> Bool
) async throws -> Bool {
  for _ in 0..<(100 * seconds) {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return false
}
