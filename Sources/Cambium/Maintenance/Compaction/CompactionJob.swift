import Synchronization

/// Applies the retention policy in the background after commits, and continues a compaction that
/// was interrupted.
final class CompactionJob: Job {
  let name = "compaction"
  private unowned let writer: Writer
  private let background: any BackgroundWork
  private let nextLook = Mutex<ContinuousClock.Instant?>(nil)
  /// The time of day at which leases are looked at again, in microseconds since 1970.
  private let leasesLook = Mutex<Int64>(.min)
  /// True once it is time to look whether compacting is worth it.
  private let looks = Atomic(false)

  init(_ database: Database) {
    writer = database.writer
    background = database.directory.options.background
  }

  func delayAfterOpening() throws -> Duration? {
    try CompactionRun(writer, ProgressReporter()).isUnfinished() ? .zero : nil
  }

  func isDue() throws -> Bool {
    let now = background.now
    let isTime = nextLook.withLock { next in
      if let next, now < next { return false }
      next = now + writer.directory.options.compactionLook.every
      return true
    }
    guard isTime, try !keepsEverything || hasEndedLeases() else { return false }
    looks.store(true, ordering: .relaxed)
    return true
  }

  private var keepsEverything: Bool {
    get throws { try writer.directory.log.read { try $0.retention() }.keepsEverything }
  }

  /// True if leases of blobs or of uploads have ended. They are read only when the first of those
  /// that were there may have ended, and every ten minutes, since there may be many.
  private func hasEndedLeases() throws -> Bool {
    let now = LeaseTime(writer.directory).present
    if leasesLook.withLock({ now < $0 }) { return false }
    let first = try collection(ProgressReporter()).firstEnd()
    leasesLook.withLock { $0 = min(first ?? .max, max(now, 0) + CompactionJob.leasesPause) }
    return first.map { $0 <= now } ?? false || UploadPart.hasLapsed(in: writer.directory)
  }

  private static let leasesPause: Int64 = 600_000_000

  private func collection(_ progress: ProgressReporter) -> BlobCollection {
    BlobCollection(directory: writer.directory, progress: progress)
  }

  /// Takes all steps of a compaction, each in a turn of its own.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    let looks = looks.exchange(false, ordering: .relaxed)
    let run = CompactionRun(writer, progress)
    if try looks && run.isWorthIt() {
      _ = try run.whileAlone { try $0.compact(keeping: nil) }
    } else if try looks && collection(progress).isDue() {
      _ = try run.whileAlone { run in
        try run.finish()
        try run.collectBlobs()
      }
    } else if try run.isUnfinished() {
      _ = try run.whileAlone { try $0.finish() }
    }
    return .whenDue
  }

  func diagnostic(_ error: any Error) -> Diagnostic? { .compactionFailed("\(error)") }
}

extension Database {
  /// True if a compaction was interrupted, and has steps left.
  package var isCompactionUnfinished: Bool {
    get throws { try translating { try compaction().isUnfinished() } }
  }

  /// Waits until a compaction in the background has ended.
  package func finishCompaction() { jobs.finish(jobs[CompactionJob.self]) }
}
