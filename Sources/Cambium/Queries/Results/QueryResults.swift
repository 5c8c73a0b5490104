/// The answer to a query on a snapshot: results as values, and as records of no known type.
final class QueryResults {
  private let run: QueryRun
  private var query: QueryDescription { run.plan.description }

  /// Plans a query.
  ///
  /// - Throws: ``QueryError`` where it cannot be answered; ``DatabaseError/corrupt(reason:)``.
  init(_ query: QueryDescription, on snapshot: Snapshot) throws {
    run = try QueryRun(query, on: snapshot)
  }

  /// Asked now and then while records are read; what it throws ends the run.
  var check: (() throws -> Void)? {
    get { run.check }
    set { run.check = newValue }
  }

  /// The plan in words, with what running it did.
  var explanation: String { run.plan.explained(run.counts) }

  /// Where the last run stopped because it had as many results as were wanted.
  var cursor: QueryCursor? { run.cursor }

  /// How many results there are.
  func count() throws -> Int { try run.count() }

  /// Visits the results' values, in the order of their names.
  func forEach(_ body: ([Value]) throws -> Void) throws {
    try run.forEachValues { values in
      try body(values)
      return true
    }
  }

  /// Visits the results as records. One that is made of several has the path of the collection.
  func forEachRecord(_ body: (DynamicRecord) throws -> Void) throws {
    let collection = query.collection
    if let name = query.answerName {
      let value: Value =
        query.outcome == .exists ? .bool(try count() > 0) : .integer(Int64(try count()))
      return try body(DynamicRecord(collection, Record([(name: name, value: value)])))
    }
    if query.isOfRecords {
      let catalog = run.records.catalog
      let defaults = catalog.collections[collection]?.declaredDefaults(
        asOf: run.records.snapshot.moment)
      return try run.forEach { key, record in
        let values = try Record(stored: record, catalog)
        try body(DynamicRecord(collection.appending(try Key(key)), values, defaults))
        return true
      }
    }
    let names = run.columns
    func record(_ path: Path, _ values: [Value]) -> DynamicRecord {
      DynamicRecord(path, Record(zip(names, values).map { (name: $0, value: $1) }))
    }
    if query.grouping != nil || query.isDistinct {
      return try forEach { try body(record(collection, $0)) }
    }
    let paths = try QueryPaths(query.selection ?? [PropertyPath(nil)], in: run.scope)
    try run.forEach { key, stored in
      let values = try paths.values(stored, key: key, run.records)
      try body(record(collection.appending(try Key(key)), values))
      return true
    }
  }
}

// MARK: Names and types

extension QueryResults {
  /// The names and types of the values: of whole records, `id` and what results have.
  func properties() throws -> [DynamicQuery.Property] {
    if let name = query.answerName {
      return [.init(name: name, type: query.outcome == .exists ? .bool : .integer)]
    }
    if query.isOfRecords { return try recordProperties() }
    let paths = query.grouping?.paths ?? query.selection ?? [PropertyPath(nil)]
    let types = try paths.map(type) + (query.grouping?.measures ?? []).map(type)
    return zip(run.columns, types).map { DynamicQuery.Property(name: $0, type: $1) }
  }

  private func recordProperties() throws -> [DynamicQuery.Property] {
    let declared = run.records.catalog.collections[query.collection]?.definition.properties ?? []
    var properties = [DynamicQuery.Property(name: "id", type: .reference(query.collection))]
    properties += declared.map { .init(name: $0.name, type: $0.type) }
    var found: Set<Catalog.NameID> = []
    try run.forEach { _, record in
      let table = try RecordTable(record)
      for index in 0..<table.count { found.insert(try table.name(record, index)) }
      return true
    }
    let known = Set(properties.map(\.name))
    for name in try found.sorted().map({ try run.records.catalog.name(of: $0) })
    where !known.contains(name) {
      properties.append(.init(name: name, type: .any))
    }
    return properties
  }

  private func type(_ path: PropertyPath) throws -> PropertyType {
    let resolved = try run.scope.resolve(path)
    switch path.function {
    case .lowercased?: return .string
    case .some: return .integer
    case nil: break
    }
    if resolved.property != nil { return resolved.definition?.type ?? .any }
    let collection = resolved.hops.isEmpty ? query.collection : resolved.hops.last?.collection
    return collection.map { .reference($0) } ?? .any
  }

  private func type(_ measure: QueryMeasure) throws -> PropertyType {
    switch measure.kind {
    case .count: .integer
    case .average: .double
    case .sum, .minimum, .maximum: try measure.path.map { try type($0).element } ?? .any
    }
  }
}

extension QueryDescription {
  /// True if results are whole records, and not values that were selected, or aggregates.
  fileprivate var isOfRecords: Bool {
    selection == nil && grouping == nil && outcome == .list
  }

  /// The name of a single answer; nil for a query with a list of results.
  fileprivate var answerName: String? {
    outcome == .count || outcome == .exists ? outcome.rawValue : nil
  }

  /// True if a cursor can say where results go on: each is made of one record.
  var hasPages: Bool { grouping == nil && !isDistinct && answerName == nil }
}

extension DynamicQuery {
  /// True if results are whole records, and not values that were selected, or aggregates.
  package var isOfRecords: Bool { query.isOfRecords }
}
