/// Stores the positions of consumers that no commit has taken along.
final class PositionJob: Job {
  let name = "positions"
  private unowned let writer: Writer

  init(_ writer: Writer) { self.writer = writer }

  /// Where this fails, a later commit takes the positions along.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    try? writer.flush()
    return .whenDue
  }
}
