import Dispatch

/// Something that happens to an open database in the background, step by step.
///
/// A job says when there is something to do, and does one step of it. ``Jobs`` does the rest: it
/// gives each job a queue, runs its steps there, reports its failures, and ends it with the
/// database.
/// The engine registers its own jobs; those of higher layers are listed in `Database.jobsAbove`.
protocol Job: AnyObject, Sendable {
  /// Names the job among those of its database, and its queue.
  var name: String { get }

  /// How urgent the queue is.
  var quality: DispatchQoS { get }

  /// How long after opening the first step comes; nil where nothing was left to do.
  func delayAfterOpening() throws -> Duration?

  /// True if a commit has left something to do. The writer's turn is held, so this must be quick.
  func isDue() throws -> Bool

  /// Does one step. It takes the writer's turn for a few milliseconds at a time; steps never
  /// overlap.
  ///
  /// - Parameter progress: To be asked often by a step that takes longer: it throws once the step
  ///   should end.
  /// - Returns: When the next step comes.
  /// - Throws: Any error, which is reported; `CancellationError` where the job wants no more steps.
  func step(_ progress: ProgressReporter) throws -> JobStep

  /// Makes a step that takes long end soon; called on another thread.
  func interrupt()

  /// Tells those who wait for the job that it cannot go on for now.
  func fail(_ error: any Error)

  /// The report of a step that failed.
  func diagnostic(_ error: any Error) -> Diagnostic?
}

extension Job {
  var quality: DispatchQoS { .utility }
  func delayAfterOpening() throws -> Duration? { nil }
  func isDue() throws -> Bool { false }
  func interrupt() {}
  func fail(_ error: any Error) {}
  func diagnostic(_ error: any Error) -> Diagnostic? { nil }
}

/// When the next step of a job comes.
enum JobStep: Equatable {
  case atOnce
  case after(Duration)
  /// When a commit makes the job due, or somebody wakes it.
  case whenDue
}
