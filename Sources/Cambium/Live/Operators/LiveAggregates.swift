// Aggregates over rows that come and go. Counts and sums subtract a row that leaves; as sums are
// exact, the result is the one that the remaining rows give. Minimum and maximum keep all values
// in order, so that the next extreme is known when one leaves.
//
// Per aggregate and group: about 250 bytes. Per row for a minimum or maximum: about 110 bytes,
// besides the row's identity and twice its value.

/// One aggregate of a group.
struct LiveAggregate: Sendable {
  private let kind: QueryAggregate.Kind
  private let type: PropertyType
  private var count: Int64 = 0
  private var sum: NumberSum?
  /// The stored values, the extreme one first: the ordered value, then the row's identity. So of
  /// equal values that of the first row counts, as where a query visits the rows in their order.
  private var values = PlacedList<[UInt8]>()

  /// - Parameters:
  ///   - kind: The kind of aggregate.
  ///   - type: The type as which values are ordered.
  init(_ kind: QueryAggregate.Kind, as type: PropertyType) {
    self.kind = kind
    self.type = type
    if kind == .sum || kind == .average { sum = NumberSum() }
  }

  /// Takes a row into account, or out of it again, whatever it has.
  mutating func change(isRemoval: Bool) { count += isRemoval ? -1 : 1 }

  /// Takes a row's stored value into account, or out of it again; empty where it has none.
  mutating func change(_ value: [UInt8], of row: [UInt8], isRemoval: Bool) throws {
    guard let tag = value.first, tag != ValueTag.null else { return }
    switch kind {
    case .count: change(isRemoval: isRemoval)
    case .sum, .average:
      try value.lend { isRemoval ? try sum?.remove($0) : try sum?.add($0) }
    case .minimum, .maximum:
      let place = try place(of: value, row)
      if isRemoval { values.remove(at: place) } else { values.insert(value, at: place) }
    }
  }

  private func place(of value: [UInt8], _ row: [UInt8]) throws -> [UInt8] {
    var place = ByteBuffer(capacity: 64)
    try value.lend {
      try OrderedBytes.append(stored: $0, as: type, isDescending: kind == .maximum, to: &place)
    }
    place.append(array: row)
    return place.array()
  }

  /// The aggregate's value; null where there is nothing to compute it from.
  func result() throws -> Value {
    switch kind {
    case .count: .integer(count)
    case .sum: sum?.value ?? .null
    case .average: sum?.average ?? .null
    case .minimum, .maximum: try values.first.map { try $0.payload.lend { try Value($0) } } ?? .null
    }
  }
}
