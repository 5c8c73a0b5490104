/// The work that running a query takes: it is counted, and interrupted where the caller wants that.
final class QueryWork {
  /// The number of entries and records between two checks for cancellation.
  private static let cancellationInterval = 256

  private var counted = QueryCounts()
  private var untilCheck = QueryWork.cancellationInterval
  /// Asked now and then; throws to end the run.
  var check: (() throws -> Void)?
  private let records: QueryRecords
  /// The number of related records that had been read before.
  private let relatedBefore: Int

  /// Begins to count what is read of some records.
  init(_ records: QueryRecords) {
    self.records = records
    relatedBefore = records.relatedCount
  }

  /// The counts so far.
  var counts: QueryCounts {
    var counts = counted
    counts.related = records.relatedCount - relatedBefore
    return counts
  }

  /// Counts what an access path looked at.
  func count(entries: Int = 0, records: Int = 0) throws {
    counted.entries += entries
    counted.records += records
    untilCheck -= entries + records
    if untilCheck <= 0 {
      untilCheck = QueryWork.cancellationInterval
      try check?()
    }
  }

  /// Takes records back that were counted, and then not looked at.
  func uncount(records: Int = 0, accepted: Int = 0) {
    counted.records -= records
    counted.accepted -= accepted
  }

  /// Counts a record that was put beside another.
  func countJoined() { counted.records += 1 }

  /// Counts records, with what is joined to them, that all conditions accept.
  func countAccepted(_ count: Int = 1) { counted.accepted += count }

  func count(results: Int) { counted.results += results }
}

/// The counts of the work that running a query took.
struct QueryCounts: Sendable {
  /// Entries of indexes, or keys, that were looked at.
  var entries = 0
  /// Records that were read.
  var records = 0
  /// Records that were read because others are related to them, if there are any.
  var related = 0
  /// Records that the condition accepts.
  var accepted = 0
  /// Results that were handed out.
  var results = 0
}
