import Dispatch

/// Background work on an open database, done step by step.
///
/// A job reports if there is work to do, and does one step of it. ``Jobs`` does the rest: it gives
/// each job a queue, runs its steps there, reports its failures, and ends it with the database.
/// The engine registers its own jobs; those of higher layers are listed in `Database.jobsAbove`.
protocol Job: AnyObject, Sendable {
  /// The name of the job among those of its database, and of its queue.
  var name: String { get }

  /// The priority of the queue.
  var quality: DispatchQoS { get }

  /// The delay between opening and the first step; nil if no work was left.
  func delayAfterOpening() throws -> Duration?

  /// True if a commit has left something to do. The writer's turn is held, so this must be quick.
  func isDue() throws -> Bool

  /// Does one step. It takes the writer's turn for a few milliseconds at a time; steps never
  /// overlap.
  ///
  /// - Parameter progress: A long step must call it often: it throws once the step should end.
  /// - Returns: The time of the next step.
  /// - Throws: Any error, which is reported as ``diagnostic(_:)`` says; `CancellationError` if
  ///   the job wants no more steps.
  func step(_ progress: ProgressReporter) throws -> JobStep

  /// Makes a long step end soon; called on another thread.
  func interrupt()

  /// Reports to all waiting callers that the job ends, or that no step can succeed for now.
  func fail(_ error: any Error)

  /// Reports a failed step to the callers that waited for it.
  func failStep(_ error: any Error)

  /// The report of a step that failed.
  func diagnostic(_ error: any Error) -> Diagnostic?
}

extension Job {
  var quality: DispatchQoS { .utility }
  func delayAfterOpening() throws -> Duration? { nil }
  func isDue() throws -> Bool { false }
  func interrupt() {}
  func fail(_ error: any Error) {}
  func failStep(_ error: any Error) { fail(error) }
  func diagnostic(_ error: any Error) -> Diagnostic? { nil }
}

/// The time of a job's next step.
enum JobStep: Equatable {
  case atOnce
  case after(Duration)
  /// The next step runs when a commit makes the job due, or a caller wakes it.
  case whenDue
}
