// Groups, distinct values and counts, kept up to date by what the rows that a change concerns add
// to them, before and after.
//
//     candidates ─▶ rows ─▶ contributions ─▶ LiveGroups, DistinctRows ─▶ WindowDiff

import LMDB

/// Results that are made of several records.
final class MaintainedValues: LiveOperator {
  /// The results, with the reader of what a row adds to them.
  private enum Kept {
    case groups(LiveGroups, GroupedPaths)
    case distinct(DistinctRows, QueryPaths)
    case nothing
  }

  private let ownEvaluator: ResultEvaluator
  private let dependencies: Dependencies
  private var kept: Kept
  private let description: QueryDescription
  /// The query's plan, for runs that hand out values that are kept here.
  private let plan: QueryPlan
  /// True if what a row adds follows from its own record, so that nothing is kept of rows.
  private let isOwn: Bool
  /// The rows of each root, where rows are remembered.
  private var rowsOfRoot: [[UInt8]: Set<ResultIdentity>] = [:]
  /// The values before the step of the rows that it has changed; none between steps.
  private(set) var before: [ResultIdentity: [Value]] = [:]

  init(_ asked: QueryDescription, _ reading: LiveReading) throws {
    var rows = asked
    (rows.grouping, rows.isDistinct, rows.selection, rows.outcome) = (nil, false, nil, .list)
    if !asked.isDistinct { rows.orderings = [] }
    ownEvaluator = try ResultEvaluator(rows.withOrderOfTies, reading.records)
    var all = asked
    if asked.answerName != nil { all.grouping = .init([], [QueryAggregate(.count)]) }
    dependencies = try Dependencies(all, loading: reading.loading, reading.records)
    description = all
    plan = try QueryPlanner(asked, reading.records).planForKeys()
    isOwn = dependencies.roles.count == 1 && !asked.hasFilter
    kept = try MaintainedValues.makeKept(all, ownEvaluator.scope, remembersRows: !isOwn)
  }

  private static func makeKept(
    _ description: QueryDescription, _ scope: ConditionScope, remembersRows: Bool
  ) throws -> Kept {
    guard let grouping = description.grouping else {
      let paths = try QueryPaths(description.selection ?? [PropertyPath(nil)], in: scope)
      return .distinct(DistinctRows(remembersRows: remembersRows), paths)
    }
    let groups = try LiveGroups(
      grouping, orderings: description.answerName == nil ? description.orderings : [],
      in: scope, remembersRows: remembersRows)
    return .groups(groups, try GroupedPaths(grouping, in: scope))
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

  func isValid(_ records: QueryRecords) throws -> Bool { try ownEvaluator.isValid(for: records) }

  private var rows: ComputedRows {
    switch kept {
    case .groups(let groups, _): groups.rows
    case .distinct(let distinct, _): distinct.rows
    case .nothing: ComputedRows()
    }
  }

  private func window(of count: Int) -> Range<Int> {
    if description.answerName != nil { return 0..<count }
    let (end, overflow) = description.offset.addingReportingOverflow(description.limit ?? count)
    return min(description.offset, count)..<min(count, overflow ? count : end)
  }

  private func result(_ position: Int) -> PlacedResult {
    let row = rows[position]
    return PlacedResult(place: row.place, identity: ResultIdentity(key: row.id))
  }

  var visible: [PlacedResult] { window(of: rows.count).map { result($0) } }

  func elements(of some: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    let values = some.compactMap { self.values(of: $0) }
    guard values.count == some.count else { throw DatabaseError.lostResult }
    return try elements(of: values, QueryRun(plan, reading.records), reading)
  }

  private func values(of row: PlacedResult) -> [Value]? {
    rows.values(of: row.key).map { answer($0) }
  }

  /// The answer of a count, or the values as they are.
  private func answer(_ values: [Value]) -> [Value] {
    guard description.outcome == .exists, case .integer(let count)? = values.first else {
      return values
    }
    return [.bool(count > 0)]
  }

  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) -> Bool {
    values(of: row) != before[row.identity]
  }

  func endStep() { before = [:] }

  // MARK: Steps

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    var all = ownEvaluator.description
    if !description.isDistinct { all.orderings = [] }
    let run = try reading.run(all)
    try ownEvaluator.forEach(run) { row, key, record in
      try add(row, key, record, reading.records)
    }
    guard try finish(reading.records) != nil else {
      throw DatabaseError.corrupt(reason: "groups that were just made have no values")
    }
    return visible
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)? {
    guard
      case .keys(let candidates) = try dependencies.candidates(
        changes, of: description, reading.records)
    else { return nil }
    if candidates.isEmpty { return (WindowDiff(), SortedKeys([])) }
    let countBefore = rows.count
    before = [:]
    if isOwn {
      for change in changes where change.collection == description.collection {
        try replaceOwn(change, reading.records)
      }
    } else {
      try replaceRows(of: candidates, reading)
    }
    guard let changes = try finish(reading.records) else { return nil }
    return (diff(changes, countBefore), SortedKeys(changes.changes.map(\.id)))
  }

  /// Replaces what a record adds, by its own bytes before and after.
  private func replaceOwn(_ change: NetChange, _ records: QueryRecords) throws {
    func added(_ record: StoredRecord?) throws -> Contribution? {
      try record?.lend { record in
        try change.key.lend { key in
          guard try ownEvaluator.accepts(record, key: key, records) else { return nil }
          let row = try ownEvaluator.result(key, record, records)
          return try contribution(of: row, key, record, records)
        }
      } ?? nil
    }
    try replace(change.key, old: try added(change.old), with: try added(change.new))
  }

  /// Replaces the rows of candidates by those that they make now.
  private func replaceRows(of keys: SortedKeys, _ reading: LiveReading) throws {
    var gone: Set<ResultIdentity> = []
    for key in keys.keys { gone.formUnion(rowsOfRoot[key] ?? []) }
    try ownEvaluator.forEach(keys, reading) { row, key, record in
      gone.remove(row.identity)
      try add(row, key, record, reading.records)
    }
    for identity in gone {
      rowsOfRoot[identity.key]?.remove(identity)
      if rowsOfRoot[identity.key]?.isEmpty ?? false { rowsOfRoot[identity.key] = nil }
      try replace(identity.bytes, with: nil)
    }
  }

  /// Adds a row, or replaces what it added before.
  private func add(
    _ row: PlacedResult, _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords
  ) throws {
    if !isOwn { rowsOfRoot[row.key, default: []].insert(row.identity) }
    try replace(row.identity.bytes, with: try contribution(of: row, key, record, records))
  }

  // MARK: Contributions

  private enum Contribution {
    case group(GroupContribution)
    case value(DistinctContribution)
  }

  private func contribution(
    of row: PlacedResult, _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords
  ) throws -> Contribution {
    switch kept {
    case .groups(_, let reader):
      return .group(try reader.contribution(record, key: key, records))
    case .nothing: throw DatabaseError.corrupt(reason: "a step that failed is continued")
    case .distinct(_, let paths):
      let values = try paths.values(record, key: key, records)
      return .value(try DistinctContribution(place: row.place, values: values))
    }
  }

  private func replace(
    _ id: [UInt8], old: Contribution? = nil, with new: Contribution?
  ) throws {
    func group(_ some: Contribution?) -> GroupContribution? {
      if case .group(let group)? = some { group } else { nil }
    }
    func value(_ some: Contribution?) -> DistinctContribution? {
      if case .value(let value)? = some { value } else { nil }
    }
    switch kept {
    case .groups(var groups, let reader):
      // Taken out, so that it is changed in place.
      kept = .nothing
      defer { kept = .groups(groups, reader) }
      try groups.replace(row: id, old: group(old), with: group(new))
    case .distinct(var distinct, let paths):
      kept = .nothing
      defer { kept = .distinct(distinct, paths) }
      distinct.replace(row: id, old: value(old), with: value(new))
    case .nothing: break
    }
  }

  // MARK: Differences

  /// Ends a step; nil if the results must be made again.
  private func finish(_ records: QueryRecords) throws -> ComputedChanges? {
    switch kept {
    case .groups(var groups, let reader):
      kept = .nothing
      defer { kept = .groups(groups, reader) }
      return try groups.finish(records)
    case .distinct(var distinct, let paths):
      kept = .nothing
      defer { kept = .distinct(distinct, paths) }
      return distinct.finish()
    case .nothing: return nil
    }
  }

  /// The difference of the windows.
  private func diff(_ changes: ComputedChanges, _ countBefore: Int) -> WindowDiff {
    var step = LiveRows.Step(windowBefore: window(of: countBefore))
    var ranks: [ResultIdentity: Int] = [:]
    for change in changes.changes {
      let identity = ResultIdentity(key: change.id)
      if let after = change.after { ranks[identity] = after.position }
      let place = change.after?.place ?? change.before?.place ?? []
      let row = PlacedResult(place: place, identity: identity)
      if let old = change.before, old.place == change.after?.place {
        step.kept.append((old.position, row))
      } else {
        if let old = change.before { step.removed.append((old.position, row)) }
        if change.after != nil { step.arrived.append(row) }
      }
      before[identity] = change.before.map { answer($0.values) }
    }
    step.removed.sort { $0.rank < $1.rank }
    return step.diff(windowAfter: window(of: rows.count)) {
      ranks[$0.identity]
    } at: {
      result($0)
    }
  }
}
