// Reading a groups view: a group is one lookup, and one more for each extreme.

import LMDB

/// A group of a view with its aggregates.
struct ViewGroup: Equatable, Sendable {
  /// The values that the properties of the group have, equal ones in one form.
  var values: [Value]
  /// The aggregates, in the order as declared; null where there was nothing to aggregate.
  var aggregates: [Value]
}

/// Reads a groups view at present, or in an open transaction.
struct GroupsReader {
  let number: UInt32
  let plan: GroupsPlan
  let reader: StateReader

  /// One group, or nil where no record is in it.
  ///
  /// - Complexity: O(log n).
  func group(at place: GroupPlace) throws -> ViewGroup? {
    try GroupsPlan.key(number, place).lend { key in
      try reader.access.get(reader.tables.views, key) { try group($0, key) }
    }
  }

  /// The number of records in a group.
  ///
  /// - Complexity: O(log n).
  func count(at place: GroupPlace) throws -> Int {
    let count = try GroupsPlan.key(number, place).lend { key in
      try reader.access.get(reader.tables.views, key) { try GroupEntry(plan, $0).count }
    }
    return Int(clamping: count ?? 0)
  }

  /// Visits all groups in order, as long as the visitor wants more. Where the values of a group
  /// take more than 143 bytes, its place in the order follows from the first 144.
  func forEach(_ visit: (ViewGroup) throws -> Bool) throws {
    let start = ViewKey.start(number, .main)
    try reader.access.walk(reader.tables.views, startingWith: start) { key, value in
      try visit(try group(value, key))
    }
  }

  private func group(_ stored: RawSpan, _ key: RawSpan) throws -> ViewGroup {
    let entry = try GroupEntry(plan, stored)
    let aggregates = try plan.aggregates.map { aggregate -> Value in
      switch aggregate {
      case .minimum(let index): try extreme(index, key, isLast: false)
      case .maximum(let index): try extreme(index, key, isLast: true)
      default: entry.value(of: aggregate)
      }
    }
    return ViewGroup(
      values: try entry.values.map { try $0.lend { try Value($0) } }, aggregates: aggregates)
  }

  /// The first or last value of a group.
  private func extreme(_ index: Int, _ key: RawSpan, isLast: Bool) throws -> Value {
    var start = ViewKey.start(number, .second)
    start.append(key.extracting(droppingFirst: start.count))
    start.append(UInt8(index))
    var cursor = try Cursor(reader.access, reader.tables.views)
    guard try isLast ? cursor.seekLast(prefix: start) : cursor.seek(prefix: start) else {
      return .null
    }
    let value = try cursor.withEntry { _, value in try Value(value) }
    let order = try order(of: value, plan.extremes[index])
    let shown = ViewKey.shown(of: order, room: ViewKey.orderRoom)
    if shown.count == order.count { return value }
    return try extreme(startingWith: start + shown, plan.extremes[index], isLast: isLast)
  }

  /// The first or last of values that were cut, and whose first bytes are the same.
  private func extreme(
    startingWith start: [UInt8], _ property: ViewProperty, isLast: Bool
  ) throws -> Value {
    var best: (order: [UInt8], value: Value)?
    try reader.access.forEach(reader.tables.views, startingWith: start) { _, stored in
      let value = try Value(stored)
      let order = try order(of: value, property)
      let isBetter = best.map { best in
        isLast
          ? best.order.lexicographicallyPrecedes(order)
          : order.lexicographicallyPrecedes(best.order)
      }
      if isBetter ?? true { best = (order, value) }
    }
    return best?.value ?? .null
  }

  private func order(of value: Value, _ property: ViewProperty) throws -> [UInt8] {
    var bytes = ByteBuffer(capacity: 64)
    try value.stored().lend { try property.appendOrder(of: $0, to: &bytes) }
    return bytes.array()
  }
}

extension GroupEntry {
  /// An aggregate other than an extreme.
  func value(of aggregate: GroupsPlan.Aggregate) -> Value {
    switch aggregate {
    case .count: .integer(Int64(clamping: count))
    case .sum(let index): sums[index].value ?? .null
    case .average(let index): sums[index].average ?? .null
    case .minimum, .maximum: .null
    }
  }
}
