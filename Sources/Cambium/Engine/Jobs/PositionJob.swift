/// Stores the positions of consumers that no commit has stored.
final class PositionJob: Job {
  let name = "positions"
  private unowned let writer: Writer

  init(_ writer: Writer) { self.writer = writer }

  /// If this fails, a later commit stores the positions.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    try? writer.flush()
    return .whenDue
  }
}
