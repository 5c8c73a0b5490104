import LMDB

/// The results of a search by relevance. The score of a text depends on how many texts there are,
/// how long they are, and which have the same words: each change of the collection may change all
/// scores. So the search is run again, and its results are compared by key, score and content.
final class RerunSearch: LiveOperator {
  private(set) var visible: [PlacedResult] = []
  let guards: [LiveGuard]
  let watchesAll: Bool
  var isOfRecords: Bool { false }
  private let description: QueryDescription
  /// The values of each result, with a checksum of its record.
  private var values: [ResultIdentity: [Value]] = [:]
  private var before: [ResultIdentity: [Value]] = [:]

  init(_ description: QueryDescription, _ reading: LiveReading) throws {
    self.description = description
    let dependencies = try Dependencies(description, reading.records)
    let own = dependencies.collection
    // Also records that do not pass the condition count for the scores of others.
    guards =
      [LiveGuard(collection: own, test: .any)]
      + dependencies.guards.filter { $0.collection != own }
    watchesAll = dependencies.watchesAll
  }

  func isValid(_ records: QueryRecords) -> Bool { true }

  func elements(of rows: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox] {
    let given = rows.compactMap { values[$0.identity] }
    guard given.count == rows.count else { throw DatabaseError.lostResult }
    return try elements(of: given, reading.run(description), reading)
  }

  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) -> Bool {
    values[row.identity] != before[row.identity]
  }

  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)? {
    if changes.isEmpty { return (WindowDiff(), SortedKeys([])) }
    try reading.demandTime()
    let known = visible
    let now = try fill(reading)
    return (WindowDiff(from: known, to: now), SortedKeys(now.map(\.key)))
  }

  func fill(_ reading: LiveReading) throws -> [PlacedResult] {
    let run = try reading.run(description)
    guard let hits = run.accepted as? RankedHits else {
      throw DatabaseError.corrupt(reason: "a question without a search is followed as one")
    }
    var (rows, found) = ([PlacedResult](), [ResultIdentity: [Value]]())
    try hits.forEach(run) { hit, record in
      let row = PlacedResult(place: [], identity: ResultIdentity(key: hit.key))
      let checksum = Int64(bitPattern: Checksum.of(record))
      found[row.identity] = hit.values + [.integer(checksum)]
      rows.append(row)
      return true
    }
    (before, values, visible) = (values, found, rows)
    return rows
  }
}
