import LMDB

/// Folds transaction records into a state that has no other writers, in transactions of bounded
/// size: for recovery and rebuilding, baselines, verification, repair and erasure.
///
/// Catching up folds into the writer's open transaction instead; it reads the log the same way, by
/// a ``RecordChain``.
struct Replay {
  /// The bytes of operations after which a transaction of the state ends by default.
  static let stepBytes = 16 << 20
  private static let stepTime = Duration.milliseconds(200)
  /// The most bytes that folding may take for each byte of operations.
  private static let growth = 64
  private static let recordBytes = 256

  private let state: State
  private let stepBytes: Int
  private(set) var catalog: Catalog

  /// Continues from the state's position.
  init(into state: State, stepBytes: Int = Replay.stepBytes) throws {
    self.state = state
    self.stepBytes = stepBytes
    catalog = try state.catalog()
  }

  /// Folds records in one transaction of the state, until it is full.
  ///
  /// - Parameters:
  ///   - bytes: The room to make in addition to that of a usual transaction.
  ///   - fold: Folds one record, and returns the number of bytes of its operations; nil if none is
  ///     left.
  /// - Returns: True if there may be more.
  /// - Throws: Any error that `fold` throws, with nothing of the transaction stored.
  @discardableResult
  mutating func step(room bytes: Int = 0, _ fold: (inout StateWriter) throws -> Int?) throws -> Bool
  {
    try state.environment.growMap(headroom: Replay.stepBytes * Replay.growth + bytes)
    var projector = try StateWriter(state, catalog: catalog)
    let end = ContinuousClock.now + Replay.stepTime
    var (bytes, isDone) = (0, false)
    repeat {
      if let count = try fold(&projector) {
        bytes += count + Replay.recordBytes
      } else {
        isDone = true
      }
    } while !isDone && bytes < stepBytes && ContinuousClock.now < end
    try projector.commit()
    catalog = projector.catalog
    return !isDone
  }

  /// Folds in the records of a log after the state's position.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - head: The last record.
  ///   - stopsAtDamage: True to end before a damaged record, instead of throwing.
  ///   - progress: Called about ten times a second.
  /// - Returns: The damage of the record after the last that was folded in; nil if there is none.
  /// - Throws: ``DatabaseError``, `CancellationError`.
  @discardableResult
  mutating func run(
    _ log: Log, upTo head: SequenceNumber, stopsAtDamage: Bool = false,
    _ progress: ProgressReporter
  ) throws -> DatabaseError? {
    let applied = try start(log, head)
    let link = try log.read { try $0.link(of: applied) }
    var records = RecordChain(
      log, after: applied, link: link, upTo: head, stopsAtDamage: stopsAtDamage)
    // An empty log has a state, too: one without entries except its head.
    var isMore = head == .zero || applied < head
    while isMore {
      try progress.tellSeldom("rebuild", records.position.rawValue, head.rawValue)
      isMore = try step { projector in
        guard let record = try records.next() else { return nil }
        try projector.apply(record)
        return record.operations.count
      }
    }
    try progress.tell("rebuild", records.position.rawValue, head.rawValue)
    return records.damage
  }

  /// The position of the state, from which folding the log must continue.
  private func start(_ log: Log, _ head: SequenceNumber) throws -> SequenceNumber {
    let applied = try state.applied()
    guard applied <= head else {
      throw DatabaseError.corrupt(
        reason: "a checkpoint of transaction \(applied) is ahead of the log")
    }
    let baseline = try log.read { try $0.baseline().sequence }
    guard applied >= baseline else {
      throw DatabaseError.corrupt(
        reason: "the records from \(applied.next) to \(baseline) are compacted")
    }
    return applied
  }
}
