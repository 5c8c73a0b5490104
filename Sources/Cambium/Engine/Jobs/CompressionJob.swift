import Dispatch

/// Compresses the long records of the log's tail before they move to LMDB.
///
/// A transaction that finds the tail full moves what is in it, and all who write wait for that. So
/// long records are compressed beside the transactions before. One that the job has not come to is
/// compressed when it moves.
final class CompressionJob: Job {
  let name = "compression"
  private unowned let directory: OpenDirectory

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// Writers may wait for it.
  var quality: DispatchQoS { .userInitiated }

  func isDue() -> Bool { directory.log.tail.records?.hasLong ?? false }

  func step(_ progress: ProgressReporter) -> JobStep {
    let log = directory.log
    let isMade = log.tail.records?.keepEntry {
      RecordEntry.make(of: $0, log.sizes, log.compressor)
    }
    return isMade == true ? .atOnce : .whenDue
  }
}
