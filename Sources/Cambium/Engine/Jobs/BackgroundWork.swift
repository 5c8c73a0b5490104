import Dispatch
import LMDB

/// The execution of work that runs on no caller's thread: queued writes, checkpoints, storing the
/// positions of consumers, checking for commits of other processes.
///
/// An app always gets ``DispatchWork``. A harness of this package may supply another, which decides
/// the order of all this itself, and can repeat it.
package protocol BackgroundWork: Sendable {
  /// The present time, on the clock by which the writer measures its waiting.
  var now: ContinuousClock.Instant { get }

  /// Makes a queue, which runs one piece of work after the other.
  func makeQueue(_ label: String, _ quality: DispatchQoS) -> any WorkQueue

  /// Calls back after a file was written, by any process, until the returned object is released.
  func watch(
    _ file: WakeFile, _ changed: @escaping @Sendable () -> Void
  ) -> any AnyObject & Sendable

  /// Called where others may run before the next step, at most a few times for each group.
  func pass(_ step: WriteStep)
}

extension BackgroundWork {
  /// Makes a queue that is as urgent as its callers.
  func makeQueue(_ label: String) -> any WorkQueue { makeQueue(label, .unspecified) }
}

/// A step of a write after which others may run.
package enum WriteStep: Sendable {
  /// A write waits in the queue, and no thread has been notified yet.
  case queued
  /// The queue waits for more writes to join the group.
  case gathering
  /// The group is in the log, and not in the state.
  case logged
  /// The group is in the state, and observers have not been notified.
  case applied
}

/// Runs pieces of work one after the other.
package protocol WorkQueue: Sendable {
  /// Adds a piece of work.
  func run(_ work: @escaping @Sendable () -> Void)

  /// Adds a piece of work after some time.
  func run(after delay: Duration, _ work: @escaping @Sendable () -> Void)

  /// Waits until all work added so far has ended.
  func finish()
}

/// Background work on the system's threads.
struct DispatchWork: BackgroundWork {
  var now: ContinuousClock.Instant { .now }

  func makeQueue(_ label: String, _ quality: DispatchQoS) -> any WorkQueue {
    DispatchWorkQueue(DispatchQueue(label: label, qos: quality))
  }

  func watch(
    _ file: WakeFile, _ changed: @escaping @Sendable () -> Void
  ) -> any AnyObject & Sendable {
    FileWatch(file, changed)
  }

  func pass(_ step: WriteStep) { if step == .gathering { sched_yield() } }
}

private struct DispatchWorkQueue: WorkQueue {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + delay.seconds, execute: work)
  }

  func finish() { queue.sync {} }
}
