import Cambium
import Dispatch
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
func onThreads(_ count: Int, _ body: @Sendable (Int) throws -> Void) {
  DispatchQueue.concurrentPerform(iterations: count) { thread in
    do { try body(thread) } catch { Issue.record(error, "thread \(thread)") }
  }
}

/// As ``onThreads(_:_:)``, for a task that waits meanwhile.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      DispatchQueue.concurrentPerform(iterations: count) { thread in
        do { try body(thread) } catch { Issue.record(error, "thread \(thread)") }
      }
      continuation.resume()
    }
  }
}

/// Asks until something is so, for ten seconds unless told otherwise.
///
/// - Returns: Whether it came to be so.
func eventually(seconds: Int = 10, _ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<(100 * seconds) {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return false
}
