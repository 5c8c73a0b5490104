// The meaning of a query, over all records at once: filtered, sorted by comparing values, cut.

import FoundationEssentials

@testable import Cambium

/// Answers queries the slow way.
struct NaiveQuery {
  var world: NaiveCondition

  /// All records that the condition accepts, in key order.
  func accepted(_ query: QueryDescription) throws -> [(key: Key, record: ValueMap)] {
    var found: [(key: Key, record: ValueMap)] = []
    for (path, record) in world.records where path.parent == query.collection {
      guard let key = path.last else { continue }
      if let condition = query.condition {
        guard try world.holds(condition.test, record, key: key, in: query.collection) else {
          continue
        }
      }
      found.append((key, record))
    }
    return found.sorted { $0.key < $1.key }
  }

  /// The values by which a record is sorted.
  func places(_ query: QueryDescription, _ key: Key, _ record: ValueMap) throws -> [Value] {
    try query.orderings.map { ordering in
      let value = try world.plainValue(ordering.path, record, key, query.collection) ?? .null
      // A decimal property takes whole numbers as well, as decimals.
      if ordering.path == PropertyPath("price"), case .integer(let number) = value {
        return .decimal(Decimal(string: "\(number)") ?? .nan)
      }
      if case .string(let text) = value, !isKey(ordering.path) {
        return .string(Folding.folded(text, ordering.collation))
      }
      return value
    }
  }

  private func isKey(_ path: PropertyPath) -> Bool {
    path.property == nil || path.property == "owner"
  }

  /// True if a record with the sort values `a` may come before one with `b`.
  func mayPrecede(_ a: [Value], _ b: [Value], _ orderings: [Ordering]) -> Bool {
    for (index, ordering) in orderings.enumerated() {
      let (one, other) = (a[index], b[index])
      if one == .null || other == .null {
        if one == other { continue }
        let nullsFirst = ordering.nulls.map { $0 == .first } ?? !ordering.isDescending
        return (one == .null) == nullsFirst
      }
      let order = Self.order(one, other, isKey: isKey(ordering.path))
      if order != 0 { return (order < 0) != ordering.isDescending }
    }
    return true
  }

  /// The order of any two values that are not null.
  private static func order(_ a: Value, _ b: Value, isKey: Bool) -> Int {
    if isKey, let one = NaiveCondition.key(a), let other = NaiveCondition.key(b) {
      return one < other ? -1 : one == other ? 0 : 1
    }
    let (first, second) = (rank(a), rank(b))
    if first != second { return first - second }
    if let order = NaiveCondition.order(a, b) { return order }
    // Values without an order of their own are ordered by their stored form.
    let (one, other) = ((try? a.stored()) ?? [], (try? b.stored()) ?? [])
    return one.lexicographicallyPrecedes(other) ? -1 : one == other ? 0 : 1
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .integer, .double: 2
    case .decimal: 3
    case .date: 4
    case .uuid: 5
    case .string: 6
    case .data: 7
    default: 8
    }
  }
}

extension NaiveCondition {
  /// A value, for sorting and grouping.
  func plainValue(
    _ path: PropertyPath, _ record: ValueMap, _ key: Key, _ collection: NodePath
  ) throws -> Value? {
    try value(path, record, key, collection).value
  }
}

extension QueryRun {
  /// Visits the values of all results.
  func visit(_ body: ([Value]) throws -> Void) throws {
    try forEachValues {
      try body($0)
      return true
    }
  }
}
