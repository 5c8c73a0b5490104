import LMDB

/// Rows of a query that cannot be maintained: it is run again whenever a change may concern it.
final class RerunRows: LiveOperator {
  private(set) var visible: [PlacedResult] = []
  let guards: [LiveGuard]
  let watchesAll: Bool
  let evaluator: ResultEvaluator?
  private var valuesByRow: [ResultIdentity: [Value]] = [:]
  private var before: [ResultIdentity: [Value]] = [:]

  init() {
    (guards, watchesAll) = ([], false)
    evaluator = nil
  }

  init(_ reading: any LiveReader) throws {
    let description = reading.description
    let dependencies = try Dependencies(description, loading: reading.loading, reading.records)
    (guards, watchesAll) = (dependencies.allGuards, dependencies.watchesAll)
    evaluator =
      description.isComputed || description.answerName != nil
      ? nil : try ResultEvaluator(description.withOrderOfTies, reading.records)
  }

  func isValid(_ records: QueryRecords) throws -> Bool {
    try evaluator?.isValid(for: records) ?? true
  }

  func values(of row: PlacedResult) -> [Value]? { valuesByRow[row.identity] }

  func changesElement(_ row: PlacedResult, _ own: [[UInt8]: NetChange]) -> Bool {
    valuesByRow[row.identity].map { $0 != before[row.identity] } ?? true
  }

  func step(
    _ changes: [NetChange], _ reading: any LiveReader
  ) throws -> (diff: WindowDiff, candidates: Set<[UInt8]>)? {
    let known = visible
    let now = try fill(reading)
    return (WindowDiff(from: known, to: now), Set(now.map(\.identity.key)))
  }

  func fill(_ reading: any LiveReader) throws -> [PlacedResult] {
    before = valuesByRow
    let description = reading.description
    if let evaluator {
      visible = try evaluator.rows(behind: nil, most: description.limit) { ordered in
        var ordered = ordered
        ordered.offset = description.offset
        return try reading.run(ordered)
      }
      return visible
    }
    valuesByRow = [:]
    visible = try values(reading).map { values in
      let count = description.grouping?.paths.count ?? values.count
      var identity = ByteBuffer()
      if description.answerName == nil {
        for value in values.prefix(count) { try OrderedBytes.append(value, to: &identity) }
      }
      let row = PlacedResult(place: [], identity: ResultIdentity(key: identity.array()))
      valuesByRow[row.identity] = values
      return row
    }
    return visible
  }

  private func values(_ reading: any LiveReader) throws -> [[Value]] {
    var description = reading.description
    if description.isDistinct { description.orderings = description.withOrderOfTies.orderings }
    let run = try reading.run(description)
    if reading.description.answerName != nil { return [[try run.answer()]] }
    var all: [[Value]] = []
    try run.forEachValues {
      all.append($0)
      return true
    }
    return all
  }
}
