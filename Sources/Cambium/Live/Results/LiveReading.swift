import LMDB

/// One step's view of the state, and of the query that is followed.
final class LiveReading<R: Results>: LiveReader where R.Element: Sendable {
  let query: R
  let snapshot: Snapshot
  let records: QueryRecords
  /// The query as it is asked, and if a filter in Swift decides on rows.
  let description: QueryDescription
  /// The changes of roots in this step, by their keys; nil where they are not known.
  var changes: [[UInt8]: NetChange]?

  init(_ query: R, _ snapshot: Snapshot) throws {
    self.query = query
    self.snapshot = snapshot
    records = try QueryRecords(snapshot)
    var description = query.request.description
    description.hasFilter = try query.request.prepare?(snapshot, description) != nil
    self.description = description
  }

  var loading: [LoadedPath] { query.request.loading }

  /// The operator that can keep the query's rows.
  func makeOperator() throws -> any LiveOperator {
    let description = description
    if !description.isComputed && description.answerName == nil { return try MaintainedRows(self) }
    return try MaintainedValues.canKeep(description) ? MaintainedValues(self) : RerunRows(self)
  }

  // MARK: Runs

  func run(_ description: QueryDescription) throws -> QueryRun {
    var description = description
    let prepared = try query.request.prepare?(snapshot, description)
    description.hasFilter = prepared != nil
    let run = try QueryRun(description, records)
    (run.filter, run.accepted) = (prepared?.filter, prepared?.accepted)
    return run
  }

  func run(_ evaluator: ResultEvaluator) throws -> QueryRun {
    let run = evaluator.run(records)
    let prepared = try query.request.prepare?(snapshot, evaluator.description)
    (run.filter, run.accepted) = (prepared?.filter, prepared?.accepted)
    return run
  }

  // MARK: Elements

  /// The elements of some rows, in their order.
  func elements(of rows: [PlacedResult], _ result: any LiveOperator) throws -> [R.Element] {
    if rows.isEmpty { return [] }
    if let values = try given(rows, result) { return values }
    let evaluator = try result.evaluator ?? ResultEvaluator(description.withOrderOfTies, records)
    let order = rows.indices.sorted { rows[$0].identity.precedes(rows[$1].identity) }
    var keys: [[UInt8]] = []
    for index in order where keys.last != rows[index].identity.key {
      keys.append(rows[index].identity.key)
    }
    let run = try run(evaluator)
    let isJoined = !description.joins.isEmpty
    // A root may have more rows than those that are wanted.
    let all = isJoined ? try evaluator.rows(of: keys, run).map(\.identity) : []
    evaluator.look(up: keys, run)
    let made = try read(run)
    if made.isEmpty { throw LiveReading.unreadable }
    guard made.count == (isJoined ? all.count : keys.count) else { throw LiveReading.unreadable }
    var elements = Array(repeating: made[0], count: rows.count)
    var next = 0
    for index in order {
      while isJoined, next < all.count, all[next] != rows[index].identity { next += 1 }
      guard next < made.count else { throw LiveReading.unreadable }
      elements[index] = made[next]
      next += 1
    }
    return elements
  }

  /// The elements that are made of values.
  private func given(_ rows: [PlacedResult], _ result: any LiveOperator) throws -> [R.Element]? {
    if result.evaluator != nil { return nil }
    let run = try run(description)
    run.given = rows.compactMap { result.values(of: $0) }
    let made = try read(run)
    guard made.count == rows.count else { throw LiveReading.unreadable }
    return made
  }

  private static var unreadable: DatabaseError {
    .corrupt(reason: "a row that was found could not be read")
  }

  private func read(_ run: QueryRun) throws -> [R.Element] {
    var elements: [R.Element] = []
    try query.read(run) { element in
      elements.append(element)
      return true
    }
    return elements
  }

  // MARK: Properties

  /// The properties of a row's root that have changed in this step.
  func properties(of row: PlacedResult) throws -> [PropertyUpdate] {
    guard let change = changes?[row.identity.key], let old = change.old, let new = change.new else {
      return []
    }
    return try old.lend { old in
      try new.lend { new in try PropertyUpdate.between(old, new, records.catalog) }
    }
  }
}

extension PropertyUpdate {
  /// The properties that differ in two stored records, by their names.
  static func between(
    _ old: RawSpan, _ new: RawSpan, _ catalog: Catalog
  ) throws -> [PropertyUpdate] {
    let (before, after) = (try RecordTable(old), try RecordTable(new))
    var names: Set<NameID> = []
    for index in 0..<before.count { names.insert(try before.name(old, index)) }
    for index in 0..<after.count { names.insert(try after.name(new, index)) }
    return try names.sorted().compactMap { name in
      let (one, other) = (try before.find(old, name), try after.find(new, name))
      if let one, let other, old.extracting(one).equals(new.extracting(other)) { return nil }
      return PropertyUpdate(
        name: try catalog.name(of: name),
        old: try one.map { try Value(old.extracting($0)) },
        new: try other.map { try Value(new.extracting($0)) })
    }
  }
}
