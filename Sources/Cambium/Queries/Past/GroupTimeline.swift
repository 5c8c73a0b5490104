// The groups of a query at any moment of the past, by what they had added up to at some moments.
//
// A query for groups of a past moment reads every record of then, with a lookup or two for each. A
// chart behind a slider asks for thirty moments a second. Counts and sums can be taken back; so one
// look at all versions gives the groups of every moment: each version counts from the transaction
// that made it up to the one that replaced it.
//
//     a version            ├──── 812 … 1324 ────┤         +1 at 812 and −1 at 1324, for its group
//     checkpoints     512        1024        1536         what all groups have added up to by then
//     moment 1100                  └─▶ 1100               1024, and the changes of 76 transactions
//
// The checkpoints are kept in memory, a bounded number. What lies between one of them and a moment
// is read from the log, and the records that it touched are looked up. (A sweep over the ends of
// lifetimes is how temporal aggregates are computed; see Kline and Snodgrass, "Computing Temporal
// Aggregates", ICDE 1995.)

import LMDB

/// The groups of one query at the moments from a horizon up to a transaction.
final class GroupTimeline: Sendable {
  /// The most operations and transactions that are read between a checkpoint and a moment.
  private static let mostOperations = 1_000...20_000

  private let checkpoints: Checkpoints
  private let groups: GroupTable
  private let aggregates: [QueryAccumulator]

  /// - Parameters:
  ///   - aggregates: For each group the checkpoints, each with the aggregates of ``paths(of:)``.
  ///   - groups: The groups of all moments from the first checkpoint to the last.
  ///   - checkpoints: The moments that the aggregates are of.
  init(_ aggregates: [QueryAccumulator], of groups: GroupTable, at checkpoints: Checkpoints) {
    (self.aggregates, self.groups, self.checkpoints) = (aggregates, groups, checkpoints)
  }

  /// True if a moment is so late that the timeline should be made anew.
  func isOutdated(at moment: UInt64) -> Bool {
    moment > checkpoints.last
      && moment - checkpoints.last > (checkpoints.last - checkpoints.first) / 16
  }

  /// The parts of a record that a timeline adds up: those that the groups of a run need, and the
  /// number of records, since a group without any is none.
  static func paths(of run: QueryRun) throws -> GroupedPaths? {
    guard var grouping = run.plan.description.grouping else { return nil }
    grouping.aggregates.append(QueryAggregate(.count))
    return try GroupedPaths(grouping, in: run.scope)
  }

  // MARK: Reading

  /// Visits the groups of a run's moment, in the order of their values.
  ///
  /// - Returns: False, before anything was visited, where the records must be read.
  /// - Throws: Any error that `body` throws, and what the run's check for cancellation throws.
  /// - Complexity: O(*g* log *g* + *k*) for *g* groups of all moments and *k* operations between
  ///   the moment and a checkpoint.
  func forEach(of run: QueryRun, _ body: ([Value]) throws -> Bool) throws -> Bool {
    guard let paths = try GroupTimeline.paths(of: run),
      let (index, changes) = try changes(to: run, in: run.plan.description.collection)
    else { return false }
    run.plan.checkpoint = UsedCheckpoint(
      sequence: SequenceNumber(checkpoints.moment(index)), changeCount: changes.count)
    var groups = QueryGroups(paths, groups, aggregates(at: index, paths.aggregates.count))
    for change in changes { try change.apply(to: &groups, paths, run) }
    try groups.forEach { values in
      let isThere = paths.types.isEmpty || values.last != .integer(0)
      return isThere ? try body(values.dropLast()) : true
    }
    return true
  }

  private func aggregates(at index: Int, _ count: Int) -> [QueryAccumulator] {
    (0..<groups.count).flatMap { group in
      aggregates[((group * checkpoints.count + index) * count)...].prefix(count)
    }
  }

  /// The changes to a run's moment from a checkpoint beside it; nil where none can be told, or
  /// where that would take longer than reading the records.
  private func changes(
    to run: QueryRun, in collection: NodePath
  ) throws -> (checkpoint: Int, changes: [NetChange])? {
    let snapshot = run.records.snapshot
    let (node, most) = (try run.records.node(collection), GroupTimeline.mostOperations)
    let count = try run.records.presentCount(collection)
    // A snapshot that is held sees nothing later, and history may have been cut when the timeline
    // was made.
    let newest = try run.records.reader.head().applied.rawValue
    guard let horizon = snapshot.arrivalZones?.horizon else { return nil }
    for index in checkpoints.indexes(around: snapshot.sequence.rawValue) {
      let checkpoint = checkpoints.moment(index)
      if checkpoint < horizon || checkpoint > newest { continue }
      let start = try QueryRecords(Snapshot(snapshot, asOf: SequenceNumber(checkpoint)))
      guard try start.node(collection) == node else { continue }
      var between = ChangesBetween(
        from: start, to: run.records, in: [collection],
        most: min(max(count / 10, most.lowerBound), most.upperBound), run.work)
      do {
        let changes = try translating { try between.read(readsWhole: false) }
        if let changes { return (index, changes) }
      } catch is DatabaseError {
        // The records can be read without the log, also where that is cut, damaged or closed.
      }
    }
    return nil
  }
}

extension QueryRun {
  /// True if a record passes the condition by itself.
  fileprivate func accepts(_ record: RawSpan, key: RawSpan) throws -> Bool {
    try plan.access.program?.accepts(record, key: key, records) ?? true
  }
}

extension NetChange {
  /// Changes groups as the record has changed, where the query accepts it.
  fileprivate func apply(
    to groups: inout QueryGroups, _ paths: GroupedPaths, _ run: QueryRun
  ) throws {
    try key.lend { key in
      try old?.lend { record in
        guard try run.accepts(record, key: key) else { return }
        try groups.remove(record, key: key, run.records, by: paths)
      }
      try new?.lend { record in
        guard try run.accepts(record, key: key) else { return }
        try groups.add(record, key: key, run.records, by: paths)
      }
    }
  }
}

/// The checkpoint with which a run has begun, for its explanation.
struct UsedCheckpoint {
  let sequence: SequenceNumber
  /// The records that differ between the checkpoint and the moment.
  let changeCount: Int
}
