/// Rows that are kept up to date by evaluating those alone that a change may concern.
final class MaintainedRows: LiveOperator {
  private let evaluator: ResultEvaluator
  private let dependencies: Dependencies
  private var rows: LiveRows
  /// The changes that can reach into the window, where it does not hold all rows.
  private let windowBound: WindowBound?
  private var windowGuard: LiveGuard?
  /// The place of the row that the window's guard was made for.
  private var boundPlace: [UInt8]?
  private var areGuardsChanged = false
  private let isJoined: Bool
  /// True if an element consists of the root's own properties.
  private let isOwn: Bool

  init(_ description: QueryDescription, _ reading: LiveReading) throws {
    evaluator = try ResultEvaluator(description.withOrderOfTies, reading.records)
    dependencies = try Dependencies(
      evaluator.description, loading: reading.loading, reading.records)
    windowBound = try WindowBound(dependencies, evaluator, reading.records)
    rows = LiveRows(offset: description.offset, limit: description.limit)
    isJoined = !description.joins.isEmpty
    isOwn =
      description.joins.isEmpty && reading.loading.isEmpty
      && (description.selection ?? []).allSatisfy(\.isOwn)
  }

  /// The guards of the condition, of which that on the rows themselves gives way to the window's
  /// where it says little.
  var guards: [LiveGuard] {
    guard let windowGuard else { return dependencies.allGuards }
    return dependencies.allGuards.filter { $0.collection != windowGuard.collection } + [windowGuard]
  }
  var isOfRecords: Bool { true }
  var watchesAll: Bool { dependencies.watchesAll }
  var visible: [PlacedResult] { rows.visible }

  func isValid(_ records: QueryRecords) throws -> Bool { try evaluator.isValid(for: records) }

  func changesElement(_ row: PlacedResult, _ own: [[UInt8]: NetChange]) throws -> Bool {
    // A row that is looked at though its own record is as it was has other records changed.
    if !isOwn { return true }
    return try own[row.identity.key].map { try dependencies.concerns($0) } ?? false
  }

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    try rows.fill(fetching(reading))
    try setWindowGuard(reading.records)
    return rows.visible
  }

  func takeGuardsChanged() -> Bool {
    defer { areGuardsChanged = false }
    return areGuardsChanged
  }

  private func setWindowGuard(_ records: QueryRecords) throws {
    guard let windowBound, rows.bound?.place != boundPlace else { return }
    boundPlace = rows.bound?.place
    let bound = try windowBound.guarding(rows.bound, records)
    areGuardsChanged = areGuardsChanged || bound != windowGuard
    windowGuard = bound
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: Set<[UInt8]>)? {
    guard let candidates = try dependencies.candidates(changes, reading.records) else { return nil }
    if candidates.isEmpty { return (WindowDiff(), []) }
    let keys = candidates.sorted { $0.lexicographicallyPrecedes($1) }
    var made = Dictionary(uniqueKeysWithValues: keys.map { ($0, [PlacedResult]()) })
    try evaluator.forEach(keys, reading) { row, _, _ in made[row.identity.key]?.append(row) }
    let diff = try rows.replace(made, fetching(reading))
    try setWindowGuard(reading.records)
    return (diff, candidates)
  }

  // MARK: Elements

  func elements(of rows: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    if isJoined { return try joinedElements(of: rows, reading) }
    let made = try reading.query.elements(
      of: evaluator.run(giving: rows.map(\.identity.key), reading.records))
    guard made.count == rows.count else { throw DatabaseError.lostResult }
    return made
  }

  /// The elements of rows of a join. A root may have more rows than those that are wanted.
  private func joinedElements(
    of rows: [PlacedResult], _ reading: LiveReading
  ) throws -> [ElementBox] {
    let order = rows.indices.sorted { rows[$0].identity.precedes(rows[$1].identity) }
    var keys: [[UInt8]] = []
    for index in order where keys.last != rows[index].identity.key {
      keys.append(rows[index].identity.key)
    }
    let all = try evaluator.rows(of: keys, reading).map(\.identity)
    let made = try reading.query.elements(of: evaluator.run(giving: keys, reading.records))
    guard made.count == all.count, let first = made.first else { throw DatabaseError.lostResult }
    var elements = Array(repeating: first, count: rows.count)
    var next = 0
    for index in order {
      while next < all.count, all[next] != rows[index].identity { next += 1 }
      guard next < all.count else { throw DatabaseError.lostResult }
      elements[index] = made[next]
      next += 1
    }
    return elements
  }

  private func fetching(_ reading: LiveReading) -> LiveRows.Fetch {
    { last, most in
      try self.evaluator.rows(behind: last, most: most) { try reading.run($0) }
    }
  }
}
