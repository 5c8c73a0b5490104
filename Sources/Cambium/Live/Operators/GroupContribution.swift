/// A row's share of its group.
struct GroupContribution: Equatable, Sendable {
  /// The ordered bytes of the group's values: the group's identity.
  let group: [UInt8]
  /// The group's values in the form in which the row has them.
  let values: [Value]
  /// The row's stored value for each aggregate of a property; empty where it has none.
  let measured: [[UInt8]]
}

extension GroupedPaths {
  /// The contribution of a record and of those that are joined to it at the moment.
  func contribution(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords
  ) throws -> GroupContribution {
    var group = ByteBuffer(capacity: 64)
    try appendGroup(of: record, key: key, records, to: &group)
    return GroupContribution(
      group: group.array(),
      values: try paths.values(record, key: key, records),
      measured: try (0..<values.count).map { index in
        try values.lend(index, record, key: key, records) { $0.array() }
      })
  }
}
