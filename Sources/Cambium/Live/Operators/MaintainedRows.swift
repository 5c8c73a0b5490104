/// Rows that are kept up to date by evaluating those alone that a change may concern.
final class MaintainedRows: LiveOperator {
  let evaluator: ResultEvaluator
  /// The parts of a step that its elements are made of.
  private struct Step {
    var candidates: [LiveRows.Candidate] = []
    /// The rows that were read behind the window, or before it.
    var fetched: [PlacedResult] = []
    /// The changes of other records.
    var far: FarUpdates?
  }

  private let dependencies: Dependencies
  private var rows: LiveRows
  /// The changes that can reach into the window, where it does not hold all rows.
  private let windowBound: WindowBound?
  private var windowGuard: LiveGuard?
  /// The row that the window's guard was made for.
  private var guardedBound: PlacedResult?
  private var guardChange = GuardChange.edit(removing: [], adding: [])
  private var shown: ShownGuards
  private var current = Step()
  /// The changes of other records in this step; nil between steps.
  var far: FarUpdates? { current.far }
  private let isJoined: Bool
  /// True if making one row may read any number of other records.
  private let readsMany: Bool
  /// True if an element consists of the root's own properties.
  private let isOwn: Bool

  init(_ description: QueryDescription, _ reading: LiveReading) throws {
    evaluator = try ResultEvaluator(description.withOrderOfTies, reading.records)
    dependencies = try Dependencies(
      evaluator.description, loading: reading.loading, reading.records)
    windowBound = try WindowBound(dependencies, evaluator, reading.records)
    shown = try ShownGuards(dependencies, reading.records)
    rows = LiveRows(reading.extent)
    isJoined = !description.joins.isEmpty
    readsMany =
      dependencies.readsMany || reading.loading.contains { $0.inverse != nil && $0.isWhole }
    isOwn =
      description.joins.isEmpty && reading.loading.isEmpty
      && description.readPaths.allSatisfy(\.isOwn)
  }

  /// The guards of the condition, of which that on the rows themselves gives way to the window's
  /// where it says little, and of the records that are shown.
  var guards: [LiveGuard] {
    guard let windowGuard else { return dependencies.guards + shown.guards }
    return dependencies.guards.filter { $0.collection != windowGuard.collection }
      + [windowGuard] + shown.guards
  }
  var isOfRecords: Bool { true }
  var watchesAll: Bool { dependencies.watchesAll }
  var visible: [PlacedResult] { rows.visible }

  func isValid(_ records: QueryRecords) throws -> Bool { try evaluator.isValid(for: records) }

  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) throws -> Bool {
    // A row that is looked at though its own record is as it was has other records changed.
    if !isOwn || dependencies.roles.count == 1 { return true }
    return try own[row.key].map { try dependencies.concerns($0) } ?? false
  }

  func isShown(_ change: NetChange) throws -> Bool { try dependencies.isShown(change) }

  func farUpdates(of row: PlacedResult, _ records: QueryRecords) throws -> FarChange? {
    if let far { return try far.updates(of: row, records) }
    return dependencies.roles.count == 1 ? FarChange() : nil
  }

  func endStep() { current = Step() }

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    current = Step()
    try rows.fill(fetching(reading))
    try shown.fill(current.fetched, reading.records)
    current = Step()
    _ = try setWindowGuard(reading.records)
    return rows.visible
  }

  func takeGuardChange() -> GuardChange {
    defer { guardChange = .edit(removing: [], adding: []) }
    return guardChange
  }

  /// Notes the guard of the window as it is now.
  ///
  /// - Returns: The guards that came and went; nil where others take their place.
  private func setWindowGuard(
    _ records: QueryRecords
  ) throws -> (gone: [LiveGuard], come: [LiveGuard])? {
    let bound = rows.bound
    guard let windowBound, bound != guardedBound else { return ([], []) }
    guardedBound = bound
    let former = windowGuard
    windowGuard = try windowBound.guarding(bound, records)
    if windowGuard == former { return ([], []) }
    guard let former, let windowGuard else { return nil }
    return ([former], [windowGuard])
  }

  /// Takes the guards of a step in.
  private func renewGuards(_ records: QueryRecords) throws {
    let wasWide = shown.isWide
    var edits = (removing: [LiveGuard](), adding: [LiveGuard]())
    if !shown.isEmpty {
      try shown.update(
        current.candidates, fetched: current.fetched, keeps: rows.keeps, records)
      shown.prune(to: rows.keptCount, keeps: rows.keeps)
      edits = shown.takeEdits()
    }
    current.fetched = []
    guard let window = try setWindowGuard(records), shown.isWide == wasWide else {
      return guardChange = .all
    }
    guardChange = .edit(
      removing: edits.removing + window.gone, adding: edits.adding + window.come)
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)? {
    let window = rows.bound == nil ? nil : rows.keptCount
    guard
      case .keys(let candidates) = try dependencies.candidates(
        changes, of: evaluator.description, reading.records, window: window, most: reading.left,
        showing: { [shown] role, changes in
          try shown.roots(showing: changes, in: role, reading.records)
        })
    else { return nil }
    if candidates.isEmpty { return (WindowDiff(), SortedKeys([])) }
    try reading.count(candidates.keys.count)
    if readsMany { try reading.demandTime() }
    current = Step(far: try FarUpdates(dependencies, changes))
    let known = try changes.filter { try hasNewest($0, reading.records) }
    current.candidates = try evaluator.candidates(
      candidates, after: ChangesByKey(known, of: dependencies.collection), reading)
    if rows.refills(after: current.candidates) { try reading.demandTime() }
    // From here on the step changes what is kept.
    reading.lengthen()
    let diff = try rows.replace(current.candidates, fetching(reading))
    try renewGuards(reading.records)
    return (diff, candidates)
  }

  /// True if a change of a row's own record has the record as it is now, in all that the query
  /// reads: later changes of one that lies behind the window are left out by the window's guard.
  private func hasNewest(_ change: NetChange, _ records: QueryRecords) throws -> Bool {
    guard let windowBound, let windowGuard else { return true }
    guard change.collection == dependencies.collection, let new = change.new else { return false }
    return try windowBound.passes(new, key: change.key, windowGuard, records)
  }

  // MARK: Elements

  func elements(of rows: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    if isJoined { return try joinedElements(of: rows, reading) }
    let made = try reading.query.elements(
      of: evaluator.run(giving: rows.map { given($0.key) }, reading.records))
    guard made.count == rows.count else { throw DatabaseError.lostResult }
    return made
  }

  /// A record, which need not be looked up again if it is a candidate's.
  private func given(_ key: [UInt8]) -> GivenRecord {
    let candidates = current.candidates
    let position = candidates.partitionPoint { $0.key.precedes(key) }
    let isThere = position < candidates.count && candidates[position].key == key
    return GivenRecord(key: key, record: isThere ? candidates[position].record : nil)
  }

  func record(_ change: NetChange, _ reading: LiveReading) throws -> StoredRecord? {
    try given(change.key).record ?? reading.record(of: change)
  }

  /// The elements of rows of a join. A root may have more rows than those that are wanted.
  private func joinedElements(
    of rows: [PlacedResult], _ reading: LiveReading
  ) throws -> [ElementBox] {
    let wanted = rows.map(\.identity)
    let order = rows.indices.sorted { wanted[$0].precedes(wanted[$1]) }
    let keys = SortedKeys(wanted.map(\.key))
    let all = try evaluator.rows(of: keys, reading).map(\.identity)
    let run = evaluator.run(giving: keys.keys.map { given($0) }, reading.records)
    let made = try reading.query.elements(of: run)
    guard made.count == all.count, let first = made.first else { throw DatabaseError.lostResult }
    var elements = Array(repeating: first, count: rows.count)
    var next = 0
    for index in order {
      while next < all.count, all[next] != wanted[index] { next += 1 }
      guard next < all.count else { throw DatabaseError.lostResult }
      elements[index] = made[next]
      next += 1
    }
    return elements
  }

  private func fetching(_ reading: LiveReading) -> LiveRows.Fetch {
    let start = rows.extent.start
    return { last, most in
      let found = try self.fetch(behind: last, from: start, most, reading)
      self.current.fetched += found
      return found
    }
  }

  private func fetch(
    behind last: PlacedResult?, from start: [UInt8]?, _ most: Int?, _ reading: LiveReading
  ) throws -> [PlacedResult] {
    guard last == nil, let start else {
      return try evaluator.rows(behind: last, most: most) { try reading.run($0) }
    }
    // No row is known from which an index could be walked: the one at the start may be gone.
    let all = try evaluator.rows(behind: nil, most: nil) { try reading.run($0) }
    return Array(all.drop { $0.precedes(start) }.prefix(most ?? all.count))
  }

  // MARK: Pages

  /// The part of the result that is kept.
  var extent: WindowExtent { rows.extent }

  /// True if there is a row behind the window.
  var hasNext: Bool { rows.hasNext }

  /// Takes the next rows into the window, as ``LiveRows/goOn(by:keeping:_:)`` does.
  func goOn(
    by count: Int, keeping most: Int?, _ reading: LiveReading
  ) throws -> WindowDiff {
    current = Step()
    let diff = try rows.goOn(by: count, keeping: most, fetching(reading))
    try renewGuards(reading.records)
    return diff
  }

  /// Takes the rows before the window into it, as ``LiveRows/goBack(over:isFirst:keeping:)`` does.
  func goBack(
    by count: Int, keeping most: Int?, _ reading: LiveReading
  ) throws -> WindowDiff {
    if rows.extent.start == nil { return WindowDiff() }
    // One row more says if these are the first.
    let found = try evaluator.rows(before: rows.first, most: count + 1, reading)
    current = Step(fetched: found.suffix(count))
    let diff = rows.goBack(over: current.fetched, isFirst: found.count <= count, keeping: most)
    try renewGuards(reading.records)
    return diff
  }
}
