// Aggregates over rows that come and go. Counts and sums subtract a row that leaves; as sums are
// exact, the result is the one that the remaining rows give. Minimum and maximum keep all values
// in order, so that the next extreme is known when one leaves.
//
// Per row for a minimum or maximum: an entry of the row's identity and twice its value.

/// One aggregate of a group.
struct LiveAggregate: Sendable {
  private let kind: QueryAggregate.Kind
  private let type: PropertyType
  /// The type whose values may have several forms; nil where each has one.
  private let shownType: PropertyType?
  private var count: Int64 = 0
  private var sum: NumberSum?

  /// - Parameters:
  ///   - kind: The kind of aggregate.
  ///   - type: The type as which values are ordered.
  ///   - shownType: The type whose values may have several forms; nil where each has one.
  init(_ kind: QueryAggregate.Kind, as type: PropertyType, shownAs shownType: PropertyType?) {
    (self.kind, self.type, self.shownType) = (kind, type, shownType)
    if kind == .sum || kind == .average { sum = NumberSum() }
  }

  /// Takes a row into account, or out of it again, whatever it has.
  mutating func change(isRemoval: Bool) { count += isRemoval ? -1 : 1 }

  /// Takes a row's stored value into account, or out of it again; empty where it has none.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - row: The row's identity.
  ///   - isRemoval: True to take it out.
  ///   - kept: The entries of the operator.
  ///   - prefix: The first bytes of the keys of this aggregate's values.
  /// - Throws: ``StorageError`` if a file cannot be written.
  mutating func change(
    _ value: [UInt8], of row: [UInt8], isRemoval: Bool, _ kept: OperatorEntries, _ prefix: [UInt8]
  ) throws {
    guard let tag = value.first, tag != ValueTag.null else { return }
    switch kind {
    case .count: change(isRemoval: isRemoval)
    case .sum, .average:
      try value.lend { isRemoval ? try sum?.remove($0) : try sum?.add($0) }
    case .minimum, .maximum:
      try kept.set(prefix + place(of: value) + row, to: isRemoval ? nil : value)
    }
  }

  /// The bytes by which a value is ordered, the extreme one first.
  private func place(of value: [UInt8]) throws -> [UInt8] {
    var place = ByteBuffer(capacity: 64)
    try value.lend {
      try OrderedBytes.append(stored: $0, as: type, isDescending: kind == .maximum, to: &place)
    }
    return place.array()
  }

  /// The aggregate's value; null where there is nothing to compute it from.
  func result(_ kept: OperatorEntries, _ prefix: [UInt8]) throws -> Value {
    switch kind {
    case .count: .integer(count)
    case .sum: sum?.value ?? .null
    case .average: sum?.average ?? .null
    case .minimum, .maximum:
      try kept.first(startingWith: prefix).map {
        let value = try $0.value.lend { try Value($0) }
        return shownType?.shownForm(of: value) ?? value
      } ?? .null
    }
  }
}

// MARK: The kept form

extension LiveAggregate {
  /// Adds the count, or the sum. Extremes are entries of their own.
  func append(to bytes: inout [UInt8]) {
    if let sum { sum.append(to: &bytes) } else { bytes.append(littleEndian: count) }
  }

  /// Reads it, into an aggregate of the same kind.
  mutating func read(_ bytes: RawSpan, at offset: inout Int) throws {
    if sum != nil {
      sum = try NumberSum(bytes, at: &offset)
    } else {
      count = try bytes.load(Int64.self, at: offset)
      offset += 8
    }
  }
}
