import Synchronization

/// Lets one thread at a time have the work of a live query: its observer's, or that which finishes
/// a long step.
final class WorkTurn: @unchecked Sendable {
  // Sendable since the work is reached under the lock alone.
  private let work: LiveWork
  private let lock = Mutex(())

  init(_ work: LiveWork) { self.work = work }

  /// Waits for the turn, and has the work as long as `body` runs, which leaves it to nobody.
  func have<R>(_ body: (LiveWork) throws -> R) rethrows -> R {
    // The lock itself gives back nothing but what can be sent.
    var result: R?
    try lock.withLock { _ in result = try body(work) }
    guard let result else { preconditionFailure("a body that returned has left nothing") }
    return result
  }
}

/// The source of the changes that concern a live query.
struct LiveInbox: Sendable {
  let router: LiveRouter
  let mailbox: LiveMailbox
}

/// A step that was computed, and that the observer has not taken yet.
struct LiveStep: Sendable {
  var diff: BoxedDiff
  /// True if the difference has the elements after the step.
  var isApplied = false
  /// True if the window begins behind the first row then.
  let hasPrevious: Bool
  /// True if there is a row behind the window then, for a run that is asked for it.
  let hasNext: Bool

  /// Makes the elements after the step, unless there are any.
  mutating func apply(to before: ChunkedList<ElementBox>) {
    if isApplied { return }
    var elements = before
    diff.apply(to: &elements)
    isApplied = true
  }
}
