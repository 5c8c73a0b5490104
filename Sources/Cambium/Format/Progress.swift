import Synchronization

/// How far a long job has come.
public struct Progress: Sendable {
  /// The work that is being done, such as `rebuild`, `copy` or `records`.
  public let phase: String
  /// How much is done: records, pages or entries, by the phase.
  public let done: UInt64
  /// How much there is to do, where that is known.
  public let total: UInt64?

  /// Makes one.
  public init(phase: String, done: UInt64, total: UInt64?) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// Takes progress, and says whether to go on. It is called on the thread that works, and what it
/// takes time for is added to the work.
public typealias ProgressHandler = @Sendable (Progress) -> Bool

/// Takes the progress of something that takes long, and ends it where its caller wants that.
final class ProgressReporter: Sendable {
  private let handler: ProgressHandler?
  private let stop: @Sendable () -> (any Error)?
  private let nextReport = Mutex(ContinuousClock.now)

  /// - Parameters:
  ///   - handler: Takes the progress; false cancels.
  ///   - stop: The error with which to end, once that is wanted.
  init(_ handler: ProgressHandler? = nil, stop: @escaping @Sendable () -> (any Error)? = { nil }) {
    self.handler = handler
    self.stop = stop
  }

  /// True once the end is wanted.
  var isStopped: Bool { stop() != nil }

  /// Throws where the end is wanted.
  func check() throws { if let error = stop() { throw error } }

  /// Reports how far it is, and throws where the end is wanted.
  func tell(_ phase: String, _ done: UInt64, _ total: UInt64? = nil) throws {
    try check()
    if handler?(Progress(phase: phase, done: done, total: total)) == false {
      throw CancellationError()
    }
  }

  /// A handler for what counts in one phase, and ends where it returns false.
  func telling(_ phase: String) -> @Sendable (_ done: UInt64, _ total: UInt64) -> Bool {
    { done, total in (try? self.tell(phase, done, total)) != nil }
  }

  /// Reports the same about ten times a second, however often it is called.
  func tellSeldom(_ phase: String, _ done: UInt64, _ total: UInt64? = nil) throws {
    let isTime = nextReport.withLock { next in
      if ContinuousClock.now < next { return false }
      next = .now + .milliseconds(100)
      return true
    }
    if isTime { try tell(phase, done, total) } else { try check() }
  }
}
