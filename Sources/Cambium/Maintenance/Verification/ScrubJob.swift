import Dispatch
import LMDB

/// Runs the scrub in the background: a range a second, as large as the budget allows.
final class ScrubJob: Job {
  let name = "scrub"
  var quality: DispatchQoS { .background }
  private weak let database: Database?
  private let pause: (first: Duration, later: Duration)?
  private let bytesPerSecond: Int

  /// The budget for a second is at least so much that a round is over within a day.
  private static let secondsPerRound: UInt64 = 80_000
  /// One range of a round that was asked for.
  private static let stretchBytes = 1 << 20

  init(_ database: Database) {
    self.database = database
    bytesPerSecond = database.directory.options.scrubBytesPerSecond
    pause = bytesPerSecond > 0 ? database.directory.options.scrubPause : nil
  }

  func delayAfterOpening() throws -> Duration? { pause?.first }

  /// Reads a range; what cannot be read now is read another time.
  func step(_ progress: ProgressReporter) throws -> JobStep {
    guard let database, let pause else { return .whenDue }
    let directory = database.directory
    var place = ScrubPlace.read(directory)
    let bytes = Files.size(of: LogFile(of: directory.path).path) * 2
    let budget = max(UInt64(bytesPerSecond), bytes / ScrubJob.secondsPerRound)
    let isOver = try? database.scrubbing.step(&place, budget: Int(clamping: budget))
    if isOver != nil, !directory.isReadOnly { try? place.write(directory) }
    return .after(pause.later)
  }

  /// Reads a whole round.
  static func runWhole(_ database: Database, _ progress: ProgressReporter) throws -> ScrubReport {
    let directory = database.directory
    var place = ScrubPlace.read(directory)
    (place.table, place.key, place.bytes, place.damage) = (0, [], 0, ScrubDamage())
    while true {
      let isOver = try database.scrubbing.step(&place, budget: ScrubJob.stretchBytes)
      if isOver, !directory.isReadOnly { try place.write(directory) }
      if isOver, let report = place.last { return report }
      try progress.tell("scrub", place.bytes)
    }
  }
}

extension Database {
  /// The scrub of this database.
  var scrubbing: Scrub {
    Scrub(directory: directory) { [weak self] reason, generation in
      try self?.rebuild(because: reason, nil, insteadOf: generation)
    }
  }
}
