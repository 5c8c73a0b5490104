import Synchronization

/// The progress of a long job.
public struct WorkProgress: Sendable {
  /// The work that is being done, such as `rebuild`, `copy` or `records`.
  public let phase: String
  /// The amount done so far: records, pages or entries, depending on the phase.
  public let done: UInt64
  /// The total amount, or nil if it is not known.
  public let total: UInt64?

  /// Makes a report of progress.
  public init(phase: String, done: UInt64, total: UInt64?) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

extension WorkProgress: CustomStringConvertible {
  /// The phase and how far it is: `rebuild: 300 of 1000`, `rebuild: 300` without a total.
  public var description: String {
    "\(phase): \(done)" + (total.map { " of \($0)" } ?? "")
  }
}

/// Takes progress, and returns false to cancel. It is called on the working thread, so the time
/// that it takes adds to that of the job.
public typealias ProgressHandler = @Sendable (WorkProgress) -> Bool

/// Takes the progress of a long job, and ends it if its caller cancels.
final class ProgressReporter: Sendable {
  private let handler: ProgressHandler?
  private let stop: @Sendable () -> (any Error)?
  private let nextReport = Mutex(ContinuousClock.now)

  /// - Parameters:
  ///   - handler: Takes the progress; false cancels.
  ///   - stop: Returns the error with which to end once the job is to stop, otherwise nil.
  init(_ handler: ProgressHandler? = nil, stop: @escaping @Sendable () -> (any Error)? = { nil }) {
    self.handler = handler
    self.stop = stop
  }

  /// True once the job is to stop.
  var isStopped: Bool { stop() != nil }

  /// Throws if the job is to stop.
  func check() throws { if let error = stop() { throw error } }

  /// Reports progress, and throws if the job is to stop.
  func tell(_ phase: String, _ done: UInt64, _ total: UInt64? = nil) throws {
    try check()
    if handler?(WorkProgress(phase: phase, done: done, total: total)) == false {
      throw CancellationError()
    }
  }

  /// A handler that counts in one phase; it returns false to cancel.
  func telling(_ phase: String) -> @Sendable (_ done: UInt64, _ total: UInt64) -> Bool {
    { done, total in (try? self.tell(phase, done, total)) != nil }
  }

  /// Reports at most about ten times a second, however often it is called.
  func tellSeldom(_ phase: String, _ done: UInt64, _ total: UInt64? = nil) throws {
    let isTime = nextReport.withLock { next in
      if ContinuousClock.now < next { return false }
      next = .now + .milliseconds(100)
      return true
    }
    if isTime { try tell(phase, done, total) } else { try check() }
  }
}
