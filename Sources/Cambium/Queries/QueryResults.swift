/// The answer to a query on a snapshot, for tools: results as values.
package final class QueryResults {
  private let run: QueryRun

  /// Plans a query.
  ///
  /// - Throws: ``QueryError`` where it cannot be answered; ``DatabaseError/corrupt(reason:)``.
  package init(_ query: QueryDescription, on snapshot: Snapshot) throws {
    run = try QueryRun(query, on: snapshot)
  }

  /// Asked now and then while records are read; what it throws ends the run.
  package var check: (() throws -> Void)? {
    get { run.check }
    set { run.check = newValue }
  }

  /// The plan in words, with what running it did.
  package var explanation: String { run.plan.explained(run.counts) }

  /// Where the last run stopped because it had as many results as were wanted.
  package var cursor: QueryCursor? { run.cursor }

  /// Whether results are whole records, and not values that were selected or figures.
  package var areRecords: Bool {
    let query = run.plan.description
    return query.selection == nil && query.grouping == nil && query.outcome != .ids
  }

  /// The names of the values: of records, `id` and the properties that the results have.
  package func columns() throws -> [String] {
    guard areRecords else { return run.columns }
    let declared = run.records.catalog.collections[run.plan.description.collection]?.definition
    var names = declared?.properties.map(\.name) ?? []
    var found: Set<Catalog.NameID> = []
    try run.forEach { _, record in
      let table = try RecordTable(record)
      for index in 0..<table.count { found.insert(try table.name(record, index)) }
      return true
    }
    for name in try found.sorted().map({ try run.records.catalog.name(of: $0) })
    where !names.contains(name) {
      names.append(name)
    }
    return ["id"] + names
  }

  /// How many results there are.
  package func count() throws -> Int { try run.count() }

  /// Visits whole records.
  package func forEachRecord(_ body: (Key, Record) throws -> Void) throws {
    let catalog = run.records.catalog
    try run.forEach { key, record in
      try body(try Key(key), try Record(stored: record, catalog))
      return true
    }
  }

  /// Visits the results' values, in the order of their names.
  package func forEach(_ body: ([Value]) throws -> Void) throws {
    try run.forEachValues { values in
      try body(values)
      return true
    }
  }
}
