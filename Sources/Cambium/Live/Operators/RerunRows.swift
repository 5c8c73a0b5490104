/// A single answer that cannot be maintained, such as the count of distinct values: it is asked
/// again whenever a change may concern it.
final class RerunRows: LiveOperator {
  private let description: QueryDescription
  private var answer: [Value] = []
  private var before: [Value] = []
  let guards: [LiveGuard]
  let watchesAll: Bool

  /// An answer has no place among others, and no key.
  private static let result = PlacedResult(place: [], identity: ResultIdentity(key: []))

  init(_ description: QueryDescription, _ reading: LiveReading) throws {
    self.description = description
    let dependencies = try Dependencies(description, loading: reading.loading, reading.records)
    (guards, watchesAll) = (dependencies.allGuards, dependencies.watchesAll)
  }

  var isOfRecords: Bool { false }
  var visible: [PlacedResult] { [RerunRows.result] }

  /// It is planned anew for each step.
  func isValid(_ records: QueryRecords) -> Bool { true }

  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) -> Bool {
    answer != before
  }

  func elements(of rows: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    try elements(of: rows.map { _ in answer }, reading.run(description), reading)
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)? {
    try reading.demandTime()
    let rows = try fill(reading)
    return (WindowDiff(from: rows, to: rows), SortedKeys([[]]))
  }

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    before = answer
    answer = [try reading.run(description).answer()]
    return visible
  }
}
