import Synchronization

/// Brings a state up to the log after its commit has failed, so that stored transactions can be
/// read; retried after one second, two, four and so on, up to a minute.
final class CatchUpJob: Job {
  let name = "catch-up"
  private unowned let writer: Writer
  private let delay = Mutex(CatchUpJob.first)
  static let first = Duration.seconds(1)
  private static let longest = Duration.seconds(60)

  init(_ writer: Writer) { self.writer = writer }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    if writer.directory.feed.lag != nil {
      try? writer.exclusively { try translating { try writer.catchUp() } }
    }
    let isBehind = writer.directory.feed.lag != nil
    return delay.withLock { delay in
      delay = isBehind ? min(delay * 2, CatchUpJob.longest) : CatchUpJob.first
      return isBehind ? .after(delay) : .whenDue
    }
  }
}
