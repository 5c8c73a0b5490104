import Synchronization

/// Applies the retention policy in the background after commits, and continues a compaction that
/// was interrupted.
final class CompactionJob: Job {
  let name = "compaction"
  private unowned let writer: Writer
  private let background: any BackgroundWork
  private let nextLook = Mutex<ContinuousClock.Instant?>(nil)
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
    guard isTime, try !writer.directory.log.read({ try $0.retention() }).keepsEverything else {
      return false
    }
    looks.store(true, ordering: .relaxed)
    return true
  }

  /// Takes all steps of a compaction, each in a turn of its own.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    let looks = looks.exchange(false, ordering: .relaxed)
    let run = CompactionRun(writer, progress)
    if try looks && run.isWorthIt() {
      _ = try run.whileAlone { try $0.compact(keeping: nil) }
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
