// Groups, distinct values and counts, kept up to date by the share that the rows which a change
// concerns have in them, before and after.
//
//     candidates ─▶ rows ─▶ shares ─▶ LiveGroups ─▶ LiveRows ─▶ WindowDiff

import LMDB

/// Results that are made of several records.
final class MaintainedValues: LiveOperator {
  /// Reads a row's share.
  private enum Reader {
    case groups(GroupedPaths)
    case distinct(QueryPaths)
  }

  private let ownEvaluator: ResultEvaluator
  private let dependencies: Dependencies
  private let description: QueryDescription
  /// The query's plan, for runs that hand out values that are kept here.
  private let plan: QueryPlan
  private let reader: Reader
  /// True if a row's share follows from its own record, so that nothing is kept of rows.
  private let isOwn: Bool
  private let kept: OperatorEntries
  private let groups: LiveGroups
  /// The groups of the window, and some behind it.
  private var rows: LiveRows
  /// The groups that the step shows otherwise; none between steps.
  private(set) var changed: Set<[UInt8]> = []

  init(_ asked: QueryDescription, _ reading: LiveReading) throws {
    var one = asked
    (one.grouping, one.isDistinct, one.selection, one.outcome) = (nil, false, nil, .list)
    if !asked.isDistinct { one.orderings = [] }
    ownEvaluator = try ResultEvaluator(one.withOrderOfTies, reading.records)
    var all = asked
    if asked.answerName != nil { all.grouping = .init([], [QueryAggregate(.count)]) }
    dependencies = try Dependencies(all, loading: reading.loading, reading.records)
    description = all
    plan = try QueryPlanner(asked, reading.records).planForKeys()
    isOwn = dependencies.roles.count == 1 && !asked.hasFilter
    let isAnswer = asked.answerName != nil
    rows = LiveRows(isAnswer ? WindowExtent() : reading.extent)
    let hasPlaces = rows.extent.needed != nil
    kept = OperatorEntries(memoryMax: reading.snapshot.directory.options.stepSizes.keptBytes)
    if let grouping = all.grouping {
      let paths = try GroupedPaths(grouping, in: ownEvaluator.scope)
      reader = .groups(paths)
      groups = try LiveGroups(
        grouping, by: paths, orderings: isAnswer ? [] : all.orderings, kept, hasPlaces: hasPlaces)
    } else {
      let paths = all.selection ?? [PropertyPath(nil)]
      reader = .distinct(try QueryPaths(paths, in: ownEvaluator.scope))
      groups = LiveGroups(distinctIn: kept, hasPlaces: hasPlaces)
    }
  }

  /// True if a query's results can be kept: a count of distinct values, or of some of the records,
  /// is run again.
  static func canKeep(_ description: QueryDescription) -> Bool {
    if description.answerName == nil { return true }
    return !description.isComputed && description.limit == nil && description.offset == 0
  }

  // MARK: The results

  var guards: [LiveGuard] { dependencies.allGuards }
  var watchesAll: Bool { dependencies.watchesAll }
  var isOfRecords: Bool { false }
  var visible: [PlacedResult] { rows.visible }

  func isValid(_ records: QueryRecords) throws -> Bool { try ownEvaluator.isValid(for: records) }

  func elements(of some: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    let known = try kept.during { try some.compactMap { try values(of: $0) } }
    guard known.count == some.count else { throw DatabaseError.lostResult }
    return try elements(of: known, QueryRun(plan, reading.records), reading)
  }

  private func values(of row: PlacedResult) throws -> [Value]? {
    try groups.shown(row.key).map { answer($0.values) }
  }

  /// The answer of a count, or the values as they are.
  private func answer(_ values: [Value]) -> [Value] {
    guard description.outcome == .exists, case .integer(let count)? = values.first else {
      return values
    }
    return [.bool(count > 0)]
  }

  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) -> Bool {
    changed.contains(row.key)
  }

  func endStep() { changed = [] }

  // MARK: Steps

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    var all = ownEvaluator.description
    if !description.isDistinct { all.orderings = [] }
    let run = try reading.run(all)
    try kept.during {
      try ownEvaluator.forEach(run) { row, key, record in
        try add(row, key, record, reading.records)
      }
      _ = try groups.finish(reading.records)
      try rows.fill(fetch)
    }
    return rows.visible
  }

  private func fetch(behind last: PlacedResult?, _ most: Int?) throws -> [PlacedResult] {
    guard let most else { return try groups.allRows() }
    return try groups.rows(behind: last?.place, most: most)
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)? {
    guard
      case .keys(let candidates) = try dependencies.candidates(
        changes, of: description, reading.records, most: reading.left)
    else { return nil }
    if candidates.isEmpty { return (WindowDiff(), SortedKeys([])) }
    try reading.count(candidates.keys.count)
    if dependencies.readsMany || !description.joins.isEmpty { try reading.demandTime() }
    reading.lengthen()
    return try kept.during {
      if isOwn {
        for change in changes where change.collection == description.collection {
          try replaceOwn(change, reading.records)
        }
      } else {
        try replaceRows(of: candidates, reading)
      }
      return try takeIn(groups.finish(reading.records))
    }
  }

  /// Replaces what a record adds, by its own bytes before and after.
  private func replaceOwn(_ change: NetChange, _ records: QueryRecords) throws {
    func added(_ record: StoredRecord?) throws -> GroupShare? {
      try record?.lend { record in
        try change.key.lend { key in
          guard try ownEvaluator.accepts(record, key: key, records) else { return nil }
          let row = try ownEvaluator.result(key, record, records)
          return try share(of: row, key, record, records)
        }
      } ?? nil
    }
    try groups.replace(row: change.key, old: try added(change.old), with: try added(change.new))
  }

  /// Replaces the rows of candidates by those that they make now.
  private func replaceRows(of keys: SortedKeys, _ reading: LiveReading) throws {
    var gone: Set<[UInt8]> = []
    for key in keys.keys {
      try kept.forEach(startingWith: KeptKey.shares(of: key)) {
        gone.insert($0.key)
        return true
      }
    }
    try ownEvaluator.forEach(keys, reading) { row, key, record in
      gone.remove(try add(row, key, record, reading.records))
    }
    for key in gone { try replace(key, KeptKey.id(ofShare: key), with: nil) }
  }

  /// Adds a row, or replaces what it added before.
  ///
  /// - Returns: The key of the row's entry; none where rows are not kept.
  @discardableResult
  private func add(
    _ row: PlacedResult, _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords
  ) throws -> [UInt8] {
    let (identity, share) = (row.identity, try share(of: row, key, record, records))
    if isOwn {
      try groups.replace(row: identity.bytes, old: nil, with: share)
      return []
    }
    let entry = KeptKey.share(identity)
    try replace(entry, identity.bytes, with: share)
    return entry
  }

  /// Replaces a row's share, which its entry has.
  private func replace(_ entry: [UInt8], _ id: [UInt8], with new: GroupShare?) throws {
    let old = try kept.value(of: entry)
    let stored = try new?.kept()
    if old == stored { return }
    try kept.set(entry, to: stored)
    try groups.replace(row: id, old: try old.map { try GroupShare(kept: $0) }, with: new)
  }

  private func share(
    of row: PlacedResult, _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords
  ) throws -> GroupShare {
    switch reader {
    case .groups(let paths): try paths.share(record, key: key, records)
    case .distinct(let paths):
      try GroupShare(
        inDistinct: try paths.values(record, key: key, records), place: row.place)
    }
  }

  /// Takes the changes of groups into the window.
  private func takeIn(
    _ changes: [GroupChange]
  ) throws -> (diff: WindowDiff, candidates: SortedKeys) {
    let otherwise = changes.filter {
      $0.before.map { answer($0.values) } != $0.after.map { answer($0.values) }
    }
    changed = Set(otherwise.map(\.id))
    let candidates = changes.map { change in
      LiveRows.Candidate(
        key: change.id, rows: change.after.map { [PlacedResult($0, id: change.id)] } ?? [])
    }
    return (try rows.replace(candidates, fetch), SortedKeys(changes.map(\.id)))
  }
}
