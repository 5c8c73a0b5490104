import Dispatch
import LMDB
import Synchronization

@testable import Cambium

/// Background work as an app has it, except that the process is killed at a step of a write.
final class KillingWork: BackgroundWork {
  private let usual = DispatchWork()
  private let step: WriteStep
  private let left: Atomic<Int>

  /// Kills at the step when it comes for the `count`th time.
  init(at step: WriteStep, count: Int) {
    self.step = step
    left = Atomic(count)
  }

  var now: ContinuousClock.Instant { usual.now }

  func makeQueue(_ label: String, _ quality: DispatchQoS) -> any WorkQueue {
    usual.makeQueue(label, quality)
  }

  func watch(
    _ file: WakeFile, _ changed: @escaping @Sendable () -> Void
  ) -> any AnyObject & Sendable {
    usual.watch(file, changed)
  }

  func pass(_ step: WriteStep) {
    if step == self.step, left.wrappingSubtract(1, ordering: .relaxed).newValue == 0 {
      kill(getpid(), SIGKILL)
    }
    usual.pass(step)
  }
}

extension Database {
  /// Opens a database whose process is killed when it commits for the `count`th time: between the
  /// commits of log and state, or right after both.
  static func openToDie(
    at path: String, afterLog: Bool, count: Int
  ) throws -> Database {
    var options = Options()
    options.background = KillingWork(at: afterLog ? .logged : .applied, count: count)
    return try Database(at: path, options: options)
  }
}
