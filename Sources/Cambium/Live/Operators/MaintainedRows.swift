/// Rows that are kept up to date by evaluating those alone that a change may concern.
final class MaintainedRows: LiveOperator {
  private let ownEvaluator: ResultEvaluator
  private let dependencies: Dependencies
  private var rows: LiveRows
  /// The changes that can reach into the window, where it does not hold all rows.
  private let windowBound: WindowBound?
  private var windowGuard: LiveGuard?
  private var areGuardsChanged = false
  /// True if an element consists of the root's own properties.
  private let isOwn: Bool

  init(_ reading: any LiveReader) throws {
    let description = reading.description
    ownEvaluator = try ResultEvaluator(description.withOrderOfTies, reading.records)
    dependencies = try Dependencies(
      ownEvaluator.description, loading: reading.loading, reading.records)
    windowBound = try WindowBound(dependencies, ownEvaluator, reading.records)
    rows = LiveRows(offset: description.offset, limit: description.limit)
    isOwn =
      description.joins.isEmpty && reading.loading.isEmpty
      && (description.selection ?? []).allSatisfy(\.hops.isEmpty)
  }

  /// The guards of the condition, of which that on the rows themselves gives way to the window's
  /// where it says little.
  var guards: [LiveGuard] {
    guard let windowGuard else { return dependencies.allGuards }
    return dependencies.allGuards.filter { $0.collection != windowGuard.collection } + [windowGuard]
  }
  var evaluator: ResultEvaluator? { ownEvaluator }
  var watchesAll: Bool { dependencies.watchesAll }
  var visible: [PlacedResult] { rows.visible }

  func isValid(_ records: QueryRecords) throws -> Bool { try ownEvaluator.isValid(for: records) }

  func values(of row: PlacedResult) -> [Value]? { nil }

  func changesElement(_ row: PlacedResult, _ own: [[UInt8]: NetChange]) throws -> Bool {
    // A row that is looked at though its own record is as it was has other records changed.
    if !isOwn { return true }
    return try own[row.identity.key].map { try dependencies.concerns($0) } ?? false
  }

  func fill(_ reading: any LiveReader) throws -> [PlacedResult] {
    try rows.fill(fetching(reading))
    try setWindowGuard(reading.records)
    return rows.visible
  }

  func takeGuardsChanged() -> Bool {
    defer { areGuardsChanged = false }
    return areGuardsChanged
  }

  private func setWindowGuard(_ records: QueryRecords) throws {
    guard let windowBound else { return }
    let bound = try windowBound.guarding(rows.bound, records)
    areGuardsChanged = areGuardsChanged || bound != windowGuard
    windowGuard = bound
  }

  func step(
    _ changes: [NetChange], _ reading: any LiveReader
  ) throws -> (diff: WindowDiff, candidates: Set<[UInt8]>)? {
    guard let candidates = try dependencies.candidates(changes, reading.records) else { return nil }
    if candidates.isEmpty { return (WindowDiff(), []) }
    let keys = candidates.sorted { $0.lexicographicallyPrecedes($1) }
    var made = Dictionary(uniqueKeysWithValues: keys.map { ($0, [PlacedResult]()) })
    for row in try ownEvaluator.rows(of: keys, reading.run(ownEvaluator)) {
      made[row.identity.key]?.append(row)
    }
    let diff = try rows.replace(made, fetching(reading))
    try setWindowGuard(reading.records)
    return (diff, candidates)
  }

  private func fetching(_ reading: any LiveReader) -> LiveRows.Fetch {
    { last, most in
      try self.ownEvaluator.rows(behind: last, most: most) { try reading.run($0) }
    }
  }
}
