/// A row's share of its group.
struct GroupContribution: Equatable, Sendable {
  /// The ordered bytes of the group's values: the group's identity.
  let group: [UInt8]
  /// The group's values in the form in which the row has them.
  let values: [Value]
  /// The row's stored value for each aggregate of a property; empty where it has none.
  let measured: [[UInt8]]
}

/// Reads from a row's records what the row contributes to its group.
struct GroupReader: Sendable {
  private let paths: QueryPaths
  private let types: [PropertyType]
  private let measured: QueryPaths

  /// - Throws: ``QueryError`` where a path leads nowhere.
  init(_ grouping: QueryDescription.Grouping, in scope: ConditionScope) throws {
    paths = try QueryPaths(grouping.paths, in: scope)
    types = try grouping.paths.map { try scope.resolve($0).orderedType }
    measured = try QueryPaths(grouping.aggregates.compactMap(\.path), in: scope)
  }

  /// The contribution of a record and of those that are joined to it at the moment.
  func contribution(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords
  ) throws -> GroupContribution {
    var group = ByteBuffer(capacity: 64)
    for index in types.indices {
      try paths.lend(index, record, key: key, records) {
        try OrderedBytes.append(stored: $0, as: types[index], to: &group)
      }
    }
    return GroupContribution(
      group: group.array(),
      values: try paths.values(record, key: key, records),
      measured: try (0..<measured.count).map { index in
        try measured.lend(index, record, key: key, records) { $0.array() }
      })
  }
}
