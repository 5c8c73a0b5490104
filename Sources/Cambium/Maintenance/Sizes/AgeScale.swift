import FoundationEssentials

/// The age of transactions, in steps that grow: a few groups, however long a history is.
///
/// A transaction that compaction has dropped counts as old as the horizon: its own time is not
/// known any more.
struct AgeScale {
  /// The steps, the youngest first: up to a minute old, up to an hour, …
  static let names = ["minute", "hour", "day", "week", "month", "year", "older"]
  private static let seconds: [Int64] = [60, 3600, 86_400, 604_800, 2_592_000, 31_536_000]

  /// The oldest time of each step but the last, in microseconds since 1970.
  private let times: [Int64]
  /// The last transaction before each step but the last.
  private let bounds: [SequenceNumber]
  private let baseline: BaselineMark

  /// Looks up which transactions are how old.
  ///
  /// - Complexity: O(log n) lookups in the log.
  init(_ log: LogReader, now: Date) throws {
    let now = now.microseconds
    let baseline = try log.baseline()
    times = AgeScale.seconds.map { now.subtractingReportingOverflow($0 * 1_000_000).partialValue }
    bounds = try times.map {
      try log.lastRecord(after: baseline.sequence, upToMicroseconds: $0 - 1)
    }
    self.baseline = baseline
  }

  /// The step of a time.
  func step(ofMicroseconds time: Int64) -> Int {
    times.firstIndex { time >= $0 } ?? times.count
  }

  /// The step of a transaction.
  func step(of sequence: UInt64) -> Int {
    if sequence <= baseline.sequence.rawValue { return step(ofMicroseconds: baseline.time) }
    return bounds.firstIndex { sequence > $0.rawValue } ?? bounds.count
  }
}
