// Follows a feed, with a check that the follower is given every transaction once, in order, when it
// can be read.

import Cambium

/// A transaction that an observer was given, and should not have been.
package struct FeedViolation: Error, CustomStringConvertible {
  package let description: String
}

extension Database {
  /// Follows the feed until `told` says that it is enough.
  ///
  /// - Parameters:
  ///   - after: The last transaction seen.
  ///   - told: Called with each transaction; false ends the following.
  /// - Returns: The last transaction that was passed to `told`, and true if `told` has ended the
  ///   following. Otherwise the task was cancelled, or the database closed.
  /// - Throws: ``FeedViolation`` for a gap, a duplicate, a step back, or one that is not there yet.
  package func follow(
    after: SequenceNumber, _ told: (Commit) async throws -> Bool
  ) async throws -> (last: SequenceNumber, isEnd: Bool) {
    var last = after
    for try await commit in changes(after: after) {
      let head = try head
      guard commit.sequence == last.next, commit.sequence <= head else {
        throw FeedViolation(
          description: "was told of \(commit.sequence) after \(last), and the head is \(head)")
      }
      last = commit.sequence
      if try await !told(commit) { return (last, true) }
    }
    return (last, false)
  }

  /// Follows the feed as well, and is cancelled when `interruption` returns.
  package func follow(
    after: SequenceNumber, cancelledAfter interruption: () async -> Void,
    _ told: @escaping @Sendable (Commit) async throws -> Bool
  ) async throws -> (last: SequenceNumber, isEnd: Bool) {
    try await withThrowingTaskGroup { group in
      group.addTask { try await self.follow(after: after, told) }
      await interruption()
      group.cancelAll()
      return try await group.next() ?? (after, false)
    }
  }

  /// Follows the feed from the first transaction, lingering over each.
  ///
  /// - Returns: The last transaction that was given.
  package func followSlowly(
    _ pause: Duration, until isEnd: (Commit) -> Bool
  ) async throws -> SequenceNumber {
    try await follow(after: .zero) { commit in
      try await Task.sleep(for: pause)
      return !isEnd(commit)
    }.last
  }

  /// Follows the feed from the first transaction, is cancelled every few milliseconds, and
  /// continues after the last one seen.
  ///
  /// - Returns: The last transaction that was given.
  package func followWithRestarts(
    seed: UInt64, until isEnd: @escaping @Sendable (Commit) -> Bool
  ) async throws -> SequenceNumber {
    var random = SeededGenerator(seed: seed, 1000)
    var standing = (last: SequenceNumber.zero, isEnd: false)
    while !standing.isEnd && !Task.isCancelled {
      let pause = Duration.milliseconds(1 + random.below(15))
      standing = try await follow(
        after: standing.last, cancelledAfter: { try? await Task.sleep(for: pause) }
      ) { !isEnd($0) }
    }
    return standing.last
  }
}
