import Dispatch
import LMDB
import Synchronization

/// Runs the scrub in the background: a stretch a second, as large as the budget allows.
final class Scrubber: Sendable {
  private let isClosed = Atomic<Bool>(false)
  private let queue: any WorkQueue
  /// Held while a stretch is read: by the background, or by who asked for a whole round.
  private let turn = Mutex<Void>(())

  /// The budget for a second is at least so much that a round is over within a day.
  private static let secondsPerRound: UInt64 = 80_000
  /// One stretch of a round that was asked for.
  private static let stretchBytes = 1 << 20

  init(_ background: any BackgroundWork) {
    queue = background.makeQueue("cambium.scrub", .background)
  }

  /// Starts reading in the background, some time after opening; returns at once.
  func start(_ database: Database) {
    guard let pause = database.directory.options.scrubPause,
      database.directory.options.scrubBytesPerSecond > 0
    else { return }
    goOn(database, after: pause.first, then: pause.later)
  }

  private func goOn(_ database: Database, after pause: Duration, then later: Duration) {
    queue.run(after: pause) { [self, weak database] in
      guard let database, step(database) else { return }
      goOn(database, after: later, then: later)
    }
  }

  /// Reads a stretch; what cannot be read now is read another time.
  ///
  /// - Returns: True if more are to follow; false once the scrub is closed.
  private func step(_ database: Database) -> Bool {
    let directory = database.directory
    return turn.withLock { _ in
      if isClosed.load(ordering: .relaxed) { return false }
      var place = ScrubPlace.read(directory)
      let bytes = Files.size(of: "\(directory.log.environment.path)/data.mdb") * 2
      let budget = max(
        UInt64(directory.options.scrubBytesPerSecond), bytes / Scrubber.secondsPerRound)
      let isOver = try? database.scrubbing.step(&place, budget: Int(clamping: budget))
      if isOver != nil, !directory.isReadOnly { try? place.write(directory) }
      return true
    }
  }

  /// Reads a whole round.
  func runWhole(_ database: Database, _ progress: ProgressHandler?) throws -> ScrubReport {
    let directory = database.directory
    var place = turn.withLock { _ in ScrubPlace.read(directory) }
    (place.table, place.key, place.bytes, place.damage) = (0, [], 0, ScrubDamage())
    while true {
      let isOver = try turn.withLock { _ in
        let isOver = try database.scrubbing.step(&place, budget: Scrubber.stretchBytes)
        if !directory.isReadOnly, isOver { try place.write(directory) }
        return isOver
      }
      if isOver, let report = place.last { return report }
      if progress?(Progress(phase: "scrub", done: place.bytes, total: nil)) == false {
        throw CancellationError()
      }
    }
  }

  /// Ends it, after the present stretch.
  func close() {
    isClosed.store(true, ordering: .relaxed)
    turn.withLock { _ in }
  }
}

extension Database {
  /// The scrub of this database.
  var scrubbing: Scrub {
    Scrub(directory) { [weak self] reason, generation in
      try self?.rebuild(because: reason, nil, insteadOf: generation)
    }
  }
}
