// Evaluates rows of a query one by one, on the state at hand: the same programs, orders and joins
// as in any other run, compiled once for as long as the catalog stays what it is.

import LMDB

/// Makes rows of the records that have given keys.
final class ResultEvaluator {
  private let plan: QueryPlan
  /// The condition on the first records; nil where there is none.
  private let program: ConditionProgram?
  /// The order that places are made of.
  let order: QueryOrder
  /// The identity of the catalog for which it was compiled.
  private let catalog: ObjectIdentifier
  private let hasMixedKeys: Bool
  /// True if a record with a key of another kind may come.
  private let mayHaveMixedKeys: Bool
  private let memory = ShapeMemory()

  /// - Throws: ``QueryError`` for a query that cannot be answered.
  init(_ description: QueryDescription, _ records: QueryRecords) throws {
    let planner = try QueryPlanner(description, records)
    plan = try planner.planForKeys()
    program = plan.access.program
    // Its results are not continued: the rows have places of their own.
    plan.placeOrder = nil
    hasMixedKeys = planner.hasMixedKeys
    let keys = records.catalog.collections[description.collection]?.definition.keys
    mayHaveMixedKeys = keys == .string
    order = try QueryOrder(
      description.orderings, in: planner.scope, comparingKeysAsTexts: hasMixedKeys)
    catalog = ObjectIdentifier(records.catalog.slots)
  }

  /// The query without its window, in an order in which no two rows are equal.
  var description: QueryDescription { plan.description }

  /// The scope in which the query's names are resolved.
  var scope: ConditionScope { plan.scope }

  /// True if what was compiled is valid for a later state.
  func isValid(for records: QueryRecords) throws -> Bool {
    if ObjectIdentifier(records.catalog.slots) != catalog { return false }
    if !mayHaveMixedKeys { return true }
    return try records.hasMixedKeys(plan.description.collection) == hasMixedKeys
  }

  /// True if the places of rows have the form that another evaluator of the query gives them.
  func hasSamePlaces(as other: ResultEvaluator) -> Bool { order.hasSameForm(as: other.order) }

  /// True if the record alone passes the condition, by a record that reads no other.
  func accepts(_ record: RawSpan, key: RawSpan, _ records: QueryRecords) throws -> Bool {
    try program?.accepts(record, key: key, records) ?? true
  }

  // MARK: Rows

  /// The rows that the records with some keys make: none where there is no record, or where it does
  /// not pass.
  ///
  /// - Parameters:
  ///   - keys: Keys in their stored form, ascending.
  ///   - changes: The changes whose records are as the state has them, and need not be looked up.
  ///   - reading: The state.
  /// - Returns: For each key the rows in the order of ``ResultIdentity/precedes(_:)``.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and what a filter in Swift throws.
  func candidates(
    _ keys: SortedKeys, after changes: ChangesByKey, _ reading: LiveReading
  ) throws -> [LiveRows.Candidate] {
    let (visit, collection) = (try visitor(reading), plan.description.collection)
    return try keys.keys.map { key in
      let change = changes[key]
      var candidate = LiveRows.Candidate(key: key)
      func evaluate(_ key: RawSpan, _ record: RawSpan) throws {
        try visit(key, record) { row, _, record in
          if candidate.rows.isEmpty {
            candidate.record = change?.new ?? StoredRecord(bytes: record.array())
          }
          candidate.rows.append(row)
          if candidate.rows.count > 1 { try reading.count(1) }
        }
      }
      try key.lend { key in
        if let change {
          try change.new?.lend { try evaluate(key, $0) }
        } else {
          _ = try reading.records.lend(collection, key) { try evaluate(key, $0) }
        }
      }
      return candidate
    }
  }

  /// Visits the rows that the records with some keys make, with these records.
  func forEach(_ keys: SortedKeys, _ reading: LiveReading, _ body: Visit) throws {
    let visit = try visitor(reading)
    for key in keys.keys {
      try key.lend { key in
        _ = try reading.records.lend(plan.description.collection, key) { try visit(key, $0, body) }
      }
    }
  }

  typealias Visit = (_ row: PlacedResult, _ key: RawSpan, _ record: RawSpan) throws -> Void

  /// Visits the rows that a record makes.
  private func visitor(
    _ reading: LiveReading
  ) throws -> (_ key: RawSpan, _ record: RawSpan, _ body: Visit) throws -> Void {
    let records = reading.records
    let filter = plan.description.hasFilter ? try reading.filter(of: description) : nil
    let joins = plan.joins.isEmpty ? nil : JoinLoop(plan, records, QueryWork(records))
    return { [self] key, record, body in
      guard try accepts(record, key: key, records) else { return }
      if let filter, try !filter(key, record) { return }
      guard let joins else { return try body(result(key, record, records), key, record) }
      _ = try joins.forEach(beside: record, key: key) { key, record in
        try body(result(key, record, records), key, record)
        return true
      }
    }
  }

  /// The rows that the records with some keys make.
  func rows(of keys: SortedKeys, _ reading: LiveReading) throws -> [PlacedResult] {
    var rows: [PlacedResult] = []
    try forEach(keys, reading) { row, _, _ in rows.append(row) }
    return rows
  }

  /// A run that hands out the results of records that the query accepts.
  func run(giving some: [GivenRecord], _ records: QueryRecords) -> QueryRun {
    let run = QueryRun(plan, records)
    run.given = .records(some, memory)
    return run
  }

  private func rows(_ run: QueryRun) throws -> [PlacedResult] {
    var rows: [PlacedResult] = []
    try forEach(run) { row, _, _ in rows.append(row) }
    return rows
  }

  /// Visits the rows of a run, with the records that they are made of.
  func forEach(
    _ run: QueryRun, _ body: (_ row: PlacedResult, _ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    var place = ByteBuffer()
    try run.forEach { key, record in
      try body(try result(key, record, run.records, &place), key, record)
      return true
    }
  }

  /// The row of a record, with the records that are joined to it at the moment.
  func result(
    _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords
  ) throws -> PlacedResult {
    var place = ByteBuffer(capacity: 128)
    return try result(key, record, records, &place)
  }

  private func result(
    _ key: RawSpan, _ record: RawSpan, _ records: QueryRecords, _ place: inout ByteBuffer
  ) throws -> PlacedResult {
    try order.write(record, key: key, records, to: &place)
    let joined = records.joinedKeys
    if !joined.isEmpty { joined.joinedPlace.lend { place.append($0) } }
    return PlacedResult(endingWithKeys: &place, key: key, joined: joined)
  }

  // MARK: Fetching

  /// The rows behind a row, in order: one ordered fetch where an index has the order.
  ///
  /// - Parameters:
  ///   - last: The row behind which to begin, which is as the state at hand has it; nil for the
  ///     first rows.
  ///   - most: The number of rows that are wanted; nil for all.
  ///   - makeRun: Makes a run of the description that it is given.
  /// - Returns: The rows.
  /// - Throws: As ``Walk/fetch()``.
  func rows(
    behind last: PlacedResult?, most: Int?, _ makeRun: (QueryDescription) throws -> QueryRun
  ) throws -> [PlacedResult] {
    var description = description
    description.limit = most
    // Whole records: those of a covering index have only what the query reads of them, and for
    // keys alone nothing.
    (description.selection, description.outcome) = (nil, .list)
    if let last { description.after = try cursor(at: last, of: description, makeRun) }
    return try rows(makeRun(description))
  }

  /// A cursor at a row, for the way by which the rows behind it will be found: that of the same
  /// query with the same limit, since another limit may lead to another way.
  private func cursor(
    at row: PlacedResult, of description: QueryDescription,
    _ makeRun: (QueryDescription) throws -> QueryRun
  ) throws -> QueryCursor {
    let (key, joined) = (row.key, row.joined)
    let order = Array(row.place.dropLast(key.count + joined.joinedPlace.count))
    var cursor = QueryCursor(
      index: nil, query: description.cursorHash, order: order, key: key, joined: joined)
    let run = try makeRun(description)
    guard run.plan.usesIndexOrder, let scan = run.plan.access.scan else { return cursor }
    cursor.index = scan.index.number
    cursor.order = []
    try key.lend { key in
      _ = try run.records.lend(description.collection, key) { record in
        var entry = ByteBuffer()
        let isCut = try IndexEntry.makeKey(scan.index, record, key, into: &entry)
        cursor.entry = entry.array()
        // Entries that are cut have lost their order: the cursor is at all that begin alike.
        if isCut { (cursor.entry, cursor.order) = (cursor.entry.dropLast(key.byteCount), order) }
      }
    }
    return cursor
  }
}

extension QueryDescription {
  /// The query that a live query follows: without a window, and with the order of rows that are
  /// equal otherwise written out. They come by their keys, in the direction of the last ordering,
  /// so that an index can be walked in either direction, and no plan leads to another order.
  var withOrderOfTies: QueryDescription {
    var description = self
    (description.limit, description.offset, description.after) = (nil, 0, nil)
    if !orderings.contains(where: { $0.path == PropertyPath(nil) }) {
      let isDescending = orderings.last?.isDescending ?? false
      description.orderings.append(Ordering(PropertyPath(nil), isDescending: isDescending))
    }
    return description
  }
}
