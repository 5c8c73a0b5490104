// The results of a run as records of no known type, and the names and types of what they have.

extension QueryRun {
  /// Visits the results as records, until `body` returns false. One that is made of several has the
  /// path of the collection.
  func forEachRecord(_ body: (DynamicRecord) throws -> Bool) throws {
    let collection = query.collection
    if let name = query.answerName { return try answer(name, body) }
    if query.isComputed { return try forEachComputed(body) }
    let section = try query.sectionPath.map { try QueryPaths([$0], in: scope) }
    let paths = query.isOfRecords ? nil : try selectedPaths()
    let names = columns
    let defaults = records.catalog.collections[collection]?.declaredDefaults(
      asOf: records.snapshot.moment)
    try forEach { key, stored in
      let values =
        try paths.map { ValueMap(naming: try $0.values(stored, key: key, records), names) }
        ?? ValueMap(stored: stored, records.catalog)
      var record = DynamicRecord(
        collection.appending(try Key(key)), values, paths == nil ? defaults : nil)
      record.section = try section?.values(stored, key: key, records).first
      return try body(record)
    }
  }

  /// Visits groups or distinct values. They have the value of their section themselves, under the
  /// path's name.
  private func forEachComputed(_ body: (DynamicRecord) throws -> Bool) throws {
    let (collection, names) = (query.collection, columns)
    let section = query.sectionPath?.description
    try forEachValues { values in
      var record = DynamicRecord(collection, ValueMap(naming: values, names))
      record.section = section.map { record[$0] ?? .null }
      return try body(record)
    }
  }

  /// Returns the single answer, which no page follows.
  private func answer(_ name: String, _ body: (DynamicRecord) throws -> Bool) throws {
    parts = nil
    let value = try given?.answer ?? answer()
    _ = try body(
      DynamicRecord(query.collection, ValueMap([(name: name, value: value)])))
  }
}

extension QueryRun {
  /// The single answer: the number of results, or true if there are any.
  func answer() throws -> Value {
    let count = try count()
    end = nil
    return query.outcome == .exists ? .bool(count > 0) : .integer(Int64(count))
  }
}

extension ValueMap {
  fileprivate init(naming values: [Value], _ names: [String]) {
    self.init(zip(names, values).map { (name: $0, value: $1) })
  }
}

// MARK: Names and types

extension QueryRun {
  private var query: QueryDescription { plan.description }

  /// The names and types of the values: of whole records, `id` and what results have.
  func properties() throws -> [DynamicQuery.Property] {
    if let name = query.answerName {
      return [.init(name: name, type: query.outcome == .exists ? .bool : .integer)]
    }
    if query.isOfRecords { return try recordProperties() }
    let paths = query.grouping?.paths ?? query.selection ?? [PropertyPath(nil)]
    let types = try paths.map(type) + (query.grouping?.aggregates ?? []).map(type)
    return zip(columns, types).map { DynamicQuery.Property(name: $0, type: $1) }
  }

  private func recordProperties() throws -> [DynamicQuery.Property] {
    let declared = records.catalog.collections[query.collection]?.definition.properties ?? []
    var properties = [DynamicQuery.Property(name: "id", type: .reference(query.collection))]
    properties += declared.map { .init(name: $0.name, type: $0.type) }
    var found: Set<NameID> = []
    try forEach { _, record in
      let table = try RecordTable(record)
      for index in 0..<table.count { found.insert(try table.name(record, index)) }
      return true
    }
    let known = Set(properties.map(\.name))
    for name in try found.sorted().map({ try records.catalog.name(of: $0) })
    where !known.contains(name) {
      properties.append(.init(name: name, type: .any))
    }
    return properties
  }

  private func type(_ path: PropertyPath) throws -> PropertyType {
    let resolved = try scope.resolve(path)
    switch path.function {
    case .lowercased?: return .string
    case .some: return .integer
    case nil: break
    }
    if resolved.property != nil { return resolved.definition?.type ?? .any }
    let collection = resolved.hops.isEmpty ? query.collection : resolved.hops.last?.collection
    return collection.map { .reference($0) } ?? .any
  }

  private func type(_ aggregate: QueryAggregate) throws -> PropertyType {
    switch aggregate.kind {
    case .count: .integer
    case .average: .double
    case .sum, .minimum, .maximum: try aggregate.path.map { try type($0).element } ?? .any
    }
  }
}
