import LMDB

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
  /// The type of each column whose values may have several forms: of the group, and extremes. What
  /// a function gives has one.
  let shownTypes: [PropertyType?]

  /// - Throws: ``QueryError`` where a path leads nowhere.
  init(_ grouping: QueryDescription.Grouping, in scope: ConditionScope) throws {
    paths = try QueryPaths(grouping.paths, in: scope)
    types = try grouping.paths.map { try scope.resolve($0).orderedType }
    aggregates = grouping.aggregates
    let measured = grouping.aggregates.compactMap(\.path)
    values = try QueryPaths(measured, in: scope)
    valueTypes = try measured.map { try scope.resolve($0).orderedType }
    places = grouping.measures
    let extremes = grouping.aggregates.map { $0.kind.isExtreme ? $0.path : nil }
    shownTypes = try (grouping.paths + extremes).map { path in
      try path.flatMap { try $0.function == nil ? scope.resolve($0).orderedType : nil }
    }
  }

  /// True if they lead to records other than the one that is grouped.
  var usesRelated: Bool { paths.usesRelated || values.usesRelated }

  /// Adds what a record contributes to the aggregates of a group, which begin at an index.
  @inline(__always)
  func add(
    _ record: RawSpan, key own: RawSpan, _ records: QueryRecords,
    to accumulators: inout [QueryAccumulator], at start: Int, _ scratch: inout ByteBuffer
  ) throws {
    for index in places.indices {
      guard let place = places[index] else {
        accumulators[start + index].add()
        continue
      }
      try values.lend(place, record, key: own, records) {
        try accumulators[start + index].add($0, as: valueTypes[place], &scratch)
      }
    }
  }

  /// Adds what the records of a batch contribute from an index on, all to the first group.
  func add(
    _ batch: borrowing EntryBatch, from first: Int, _ records: QueryRecords,
    to accumulators: inout [QueryAccumulator], _ scratch: inout ByteBuffer
  ) throws {
    for index in places.indices {
      if let place = places[index] {
        try add(place, of: batch, from: first, records, to: &accumulators[index], &scratch)
      } else {
        accumulators[index].add(count: batch.count - first)
      }
    }
  }

  /// Adds a value of each record.
  private func add(
    _ place: Int, of batch: borrowing EntryBatch, from first: Int, _ records: QueryRecords,
    to accumulator: inout QueryAccumulator, _ scratch: inout ByteBuffer
  ) throws {
    let (own, type) = (values.own[place], valueTypes[place])
    for index in first..<batch.count {
      try batch.lend(index) { key, record in
        if let range = try own?.range(record) {
          return try accumulator.add(record.extracting(range), as: type, &scratch)
        }
        try values.lendElsewhere(place, record, key: key, records) {
          try accumulator.add($0, as: type, &scratch)
        }
      }
    }
  }

  /// Removes what a record contributed; as ``add(_:key:_:to:at:_:)``.
  @inline(__always)
  func remove(
    _ record: RawSpan, key own: RawSpan, _ records: QueryRecords,
    from accumulators: inout [QueryAccumulator], at start: Int
  ) throws {
    for index in places.indices {
      guard let place = places[index] else {
        accumulators[start + index].remove()
        continue
      }
      try values.lend(place, record, key: own, records) {
        try accumulators[start + index].remove($0)
      }
    }
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
