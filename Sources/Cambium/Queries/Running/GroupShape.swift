/// A group as a record of its own, whose properties are its values and aggregates; so conditions
/// and orderings on groups are the same as on records.
struct GroupShape: Sendable {
  private let names: [NameID]
  private let program: ConditionProgram?
  private let order: QueryOrder

  /// - Parameters:
  ///   - columns: The names of the group's values and aggregates.
  ///   - condition: The condition on groups; nil for all.
  ///   - orderings: The orderings of groups, by columns.
  /// - Throws: ``QueryError`` where the condition or an ordering names anything else.
  init(_ columns: [String], _ condition: Condition?, _ orderings: [Ordering]) throws {
    var catalog = Catalog()
    for name in columns where catalog.id(of: name) == nil {
      try catalog.define(name, as: NameID(catalog.count))
    }
    names = columns.map { catalog.id(of: $0) ?? .max }
    let scope = ConditionScope(catalog)
    func own(_ path: PropertyPath) -> PropertyPath {
      columns.contains(path.description) ? PropertyPath(path.description) : path
    }
    program = try condition.map { try ConditionProgram($0.test.mapping(own), in: scope) }
    order = try QueryOrder(
      orderings.map { ordering in ordering.changed { $0.path = own(ordering.path) } }, in: scope)
    for path in orderings.map(\.path) + (condition?.test.paths ?? []) {
      let name = path.property ?? path.description
      if columns.contains(path.description) || columns.contains(name) { continue }
      throw QueryError("groups have no “\(path)”; they have \(columns.joined(separator: ", "))")
    }
  }

  private func record(_ values: [Value]) throws -> [UInt8] {
    var builder = RecordBuilder()
    for (name, value) in zip(names, values) where value != .null {
      builder[name] = try value.stored()
    }
    return builder.stored()
  }

  /// True if a group meets the condition.
  func accepts(_ values: [Value], _ records: QueryRecords) throws -> Bool {
    guard let program else { return true }
    return try record(values).lend { try program.accepts($0, key: $0, records) }
  }

  /// The bytes by which a group is sorted; groups with the same come in the order of their values.
  func place(_ values: [Value], _ records: QueryRecords) throws -> [UInt8] {
    var place = ByteBuffer()
    try record(values).lend { record in
      try order.write(record, key: record.extracting(0..<0), records, to: &place)
    }
    return place.array()
  }
}
