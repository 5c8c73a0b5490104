import LMDB

/// Thrown by a short step that would look at many records, before anything has changed.
struct LongStep: Error {}

/// One step's view of the state, and of the query that is followed.
final class LiveReading {
  let query: any FollowedQuery
  let snapshot: Snapshot
  let records: QueryRecords

  /// The part of the result that is kept.
  var extent: WindowExtent
  /// The number of records that a short step may still look at; nil for one that may take long.
  private(set) var left: Int?
  /// True while the step has changed nothing, so that it may be cancelled.
  var mayEnd = false
  private var isCancelled: (@Sendable () -> Bool)?

  init(_ query: any FollowedQuery, _ snapshot: Snapshot, _ extent: WindowExtent? = nil) throws {
    self.query = query
    self.snapshot = snapshot
    records = try QueryRecords(snapshot)
    self.extent = extent ?? query.extent
  }

  // MARK: Length

  /// Has the step throw ``LongStep`` rather than look at more records.
  func shorten(to count: Int) { left = count }

  /// Lets the step look at any number of records.
  ///
  /// - Parameter isCancelled: True once it may end early.
  func lengthen(_ isCancelled: (@Sendable () -> Bool)? = nil) {
    (left, self.isCancelled) = (nil, isCancelled)
  }

  /// Counts records that are looked at, before anything has changed.
  func count(_ records: Int) throws {
    guard let left else { return }
    if records > left { throw LongStep() }
    self.left = left - records
  }

  /// Throws unless the step may take long.
  func demandTime() throws { if left != nil { throw LongStep() } }

  // MARK: Reading

  /// The relations that are loaded along.
  var loading: [LoadedPath] { query.request.loading }

  /// The query as it is asked, checked, and if a filter in Swift decides on rows.
  func description() throws -> QueryDescription {
    var description = query.request.description
    description.hasFilter = try query.request.prepare?(snapshot, description) != nil
    return description
  }

  /// The operator that can keep the query's rows.
  func makeOperator() throws -> any LiveOperator {
    let description = try description()
    if query.request.search != nil { return try RerunSearch(description, self) }
    if !description.isComputed && description.answerName == nil {
      return try MaintainedRows(description, self)
    }
    return try MaintainedValues.canKeep(description)
      ? MaintainedValues(description, self) : RerunRows(description, self)
  }

  /// A run of a description, checked and with the filter in Swift.
  func run(_ description: QueryDescription) throws -> QueryRun {
    var description = description
    let prepared = try query.request.prepare?(snapshot, description)
    description.hasFilter = prepared != nil
    let run = try QueryRun(description, records)
    (run.filter, run.accepted) = (prepared?.filter, prepared?.accepted)
    run.work.check = check
    return run
  }

  private var check: (@Sendable () throws -> Void)? {
    guard mayEnd, let isCancelled else { return query.request.check }
    let own = query.request.check
    return {
      try own?()
      if isCancelled() { throw CancellationError() }
    }
  }

  /// The record of a change as it is at the moment of this view.
  func record(of change: NetChange) throws -> StoredRecord? {
    try records.record(change.collection, change.key)
  }

  /// The filter in Swift, if there is one.
  func filter(of description: QueryDescription) throws -> QueryRun.Filter? {
    if !description.hasFilter { return nil }
    return try query.request.prepare?(snapshot, description)?.filter
  }
}
