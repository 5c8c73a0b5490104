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
    var bytes = ByteBuffer(capacity: 64)
    let found: Void? = try last.lendKey { key in
      try records.lend(collection, key) { record in
        try order.lendFirst(record, key: key, records) {
          try OrderedBytes.append(stored: $0, as: type, collation, to: &bytes)
        }
      }
    }
    if found == nil { return nil }
    let value = bytes.array()
    let range =
      isDescending
      ? ClosedOpenBytes(from: value, upTo: nil)
      : ClosedOpenBytes(from: [], upTo: ClosedOpenBytes.successor(value))
    return LiveGuard(
      collection: collection,
      test: .values(
        property: property, type: type, collation: collation, ranges: [range]))
  }
}
