/// The groups that a timeline knows, each with the one form that its values have.
///
/// Equal values may have several forms, 1 and 1.0. A query shows the form that a group's first
/// record has, and a timeline does not know which record that is.
struct KnownGroups: Sendable {
  private(set) var table = GroupTable()
  private var forms: [[UInt8]] = []

  var count: Int { table.count }

  /// The number of a record's group; nil where it is not known.
  func find(_ grouped: borrowing GroupedValues) -> Int? {
    grouped.identity.lend { table.find($0, grouped.hash) }
  }

  /// True if a record has its group's values in the form in which the others have them.
  func hasForm(of grouped: borrowing GroupedValues, _ group: Int) -> Bool {
    grouped.form.lend { form in forms[group].lend { $0.equals(form) } }
  }

  /// Adds the group of a record, which is not known.
  ///
  /// - Returns: Its number.
  mutating func insert(_ grouped: borrowing GroupedValues, _ first: [Value]) -> Int {
    forms.append(grouped.form.array())
    return table.insert(grouped.identity.array(), grouped.hash, first)
  }
}

/// The values that a record is grouped by, in memory that is used again for the next one.
struct GroupedValues: ~Copyable {
  /// The group's identity.
  private(set) var identity = ByteBuffer(capacity: 64)
  private(set) var hash: UInt64 = 0
  private(set) var form = ByteBuffer(capacity: 64)

  mutating func read(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords, by paths: GroupedPaths
  ) throws {
    identity.clear()
    form.clear()
    try paths.appendGroup(of: record, key: key, records, to: &identity)
    try paths.appendForm(of: record, key: key, records, to: &form)
    hash = identity.lend { Checksum.of($0) }
  }
}
