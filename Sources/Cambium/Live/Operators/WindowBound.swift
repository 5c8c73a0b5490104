import LMDB

/// Guards a window by its own bound: a record behind the last row that is kept does not matter, and
/// neither does one that stays there.
///
///     flights sort -scheduled limit 10        changes with scheduled >= that of the last row kept
struct WindowBound {
  private let collection: NodePath
  private let property: String
  private let type: PropertyType
  private let collation: Collation
  private let isDescending: Bool
  private let order: QueryOrder

  /// Nil where the rows have no order of their own, where the condition says more, or where rows
  /// change for other reasons as well.
  init?(
    _ dependencies: Dependencies, _ evaluator: ResultEvaluator, _ records: QueryRecords
  ) throws {
    let description = evaluator.description
    guard let ordering = description.orderings.first, let property = ordering.path.property,
      ordering.path.hops.isEmpty, ordering.path.function == nil, ordering.nulls == nil,
      dependencies.roles.count(where: { $0.collection == description.collection }) == 1,
      WindowBound.saysLittle(dependencies.allGuards, of: description.collection)
    else { return nil }
    let resolved = try evaluator.scope.resolve(ordering.path)
    guard resolved.hops.isEmpty, resolved.property == property, !resolved.isTextKey,
      !resolved.orderedType.isPlural
    else { return nil }
    (collection, type) = (description.collection, resolved.orderedType)
    (self.property, order) = (property, evaluator.order)
    (collation, isDescending) = (ordering.collation, ordering.isDescending)
  }

  /// True if the guards of a collection let about as much through as none: everything, or one of
  /// two truth values.
  private static func saysLittle(_ guards: [LiveGuard], of collection: NodePath) -> Bool {
    let own = guards.filter { $0.collection == collection }
    guard own.count == 1, let test = own.first?.test else { return false }
    switch test {
    case .any, .values(_, .bool, _, _): return true
    case .keys, .values, .points: return false
    }
  }

  /// The guard of a window; nil where it holds all rows.
  func guarding(_ last: PlacedResult?, _ records: QueryRecords) throws -> LiveGuard? {
    guard let last else { return nil }
    let value = try last.lendKey { key in
      try records.lend(collection, key) { try sortValue(of: $0, key: key, records) }
    }
    guard let value else { return nil }
    let range =
      isDescending
      ? ClosedOpenBytes(from: value, upTo: nil)
      : ClosedOpenBytes(from: [], upTo: ClosedOpenBytes.successor(value))
    return LiveGuard(
      collection: collection,
      test: .values(
        property: property, type: type, collation: collation, ranges: [range]))
  }

  /// True if a window's guard lets every change of a record through that is as this one is now.
  func passes(
    _ record: StoredRecord, key: [UInt8], _ guarding: LiveGuard, _ records: QueryRecords
  ) throws -> Bool {
    guard case .values(_, _, _, let ranges) = guarding.test else { return false }
    let value = try key.lend { key in try record.lend { try sortValue(of: $0, key: key, records) } }
    return value.lend { value in ranges.contains { $0.contains(value) } }
  }

  /// The ordered form of the value by which a record is sorted first.
  private func sortValue(
    of record: RawSpan, key: RawSpan, _ records: QueryRecords
  ) throws -> [UInt8] {
    var bytes = ByteBuffer(capacity: 64)
    try order.lendFirst(record, key: key, records) {
      try OrderedBytes.append(stored: $0, as: type, collation, to: &bytes)
    }
    return bytes.array()
  }
}
