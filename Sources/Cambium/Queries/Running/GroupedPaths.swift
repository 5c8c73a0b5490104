/// The parts of a record that grouping reads: the values that it is grouped by, and those that are
/// aggregated.
struct GroupedPaths: Sendable {
  let paths: QueryPaths
  let types: [PropertyType]
  let aggregates: [QueryAggregate]
  let values: QueryPaths
  let valueTypes: [PropertyType]
  /// The index in `values` of what each aggregate reads; nil for none.
  let places: [Int?]

  /// - Throws: ``QueryError`` where a path leads nowhere.
  init(_ grouping: QueryDescription.Grouping, in scope: ConditionScope) throws {
    paths = try QueryPaths(grouping.paths, in: scope)
    types = try grouping.paths.map { try scope.resolve($0).orderedType }
    aggregates = grouping.aggregates
    let measured = grouping.aggregates.compactMap(\.path)
    values = try QueryPaths(measured, in: scope)
    valueTypes = try measured.map { try scope.resolve($0).orderedType }
    places = grouping.measures
  }

  /// Appends the ordered bytes of the values that a record is grouped by: its group's identity.
  @inline(__always)
  func appendGroup(
    of record: RawSpan, key own: RawSpan, _ records: QueryRecords, to bytes: inout ByteBuffer
  ) throws {
    for index in types.indices {
      try paths.lend(index, record, key: own, records) {
        try OrderedBytes.append(stored: $0, as: types[index], to: &bytes)
      }
    }
  }
}

extension QueryDescription.Grouping {
  /// The index among the aggregated values of what each aggregate reads; nil for none.
  var measures: [Int?] {
    var next = 0
    return aggregates.map { aggregate in
      defer { if aggregate.path != nil { next += 1 } }
      return aggregate.path == nil ? nil : next
    }
  }
}
