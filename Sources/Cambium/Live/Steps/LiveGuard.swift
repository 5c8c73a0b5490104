/// The changes of a collection's records that a live query must see. A guard may be coarser than
/// the query, never finer: a query that is concerned needlessly costs time, one that is not
/// concerned shows what is no longer so.
struct LiveGuard: Sendable, Hashable {
  /// The collection, declared or not: the parent of the records.
  var collection: NodePath
  var test: Test
  /// The properties of which one must differ, in ascending order; nil where any difference counts.
  /// A record that comes or goes always counts.
  var properties: [String]?

  enum Test: Sendable, Hashable {
    /// Every change of a record of the collection.
    case any
    /// Changes of the records with these keys, in their stored form.
    case keys(Set<[UInt8]>)
    /// Changes of records of which the ordered value, before or after, lies in one of the ranges.
    /// It is the value that a condition sees, of which an absent one has its stand-in; of an array,
    /// each element counts as well. The ranges are of ``OrderedBytes``, ascending.
    case values(
      property: String, type: PropertyType, collation: Collation, ranges: [ClosedOpenBytes])
    /// Changes of records of which the key, or without one the ordered value before or after, has
    /// one of these checksums. It may come several times, and is then removed as often.
    case points(GuardedProperty?, [UInt64])
  }

  /// True if both are on the same collection and let through the same: names are equal only when
  /// their bytes are.
  func isSame(as other: LiveGuard) -> Bool {
    self == other && properties.areSame(as: other.properties)
      && test.property.map { one in other.test.property.map(one.isSame) ?? false } ?? true
  }
}

/// A property as guards read it: ordered as one type with one collation.
struct GuardedProperty: Sendable, Hashable {
  var name: String
  var type: PropertyType
  var collation = Collation.binary

  func isSame(as other: GuardedProperty) -> Bool {
    self == other && ByteOrder.areEqual(name, other.name)
  }
}

extension LiveGuard.Test {
  /// The property whose values are tested; nil for none.
  var property: GuardedProperty? {
    switch self {
    case .any, .keys: nil
    case .values(let name, let type, let collation, _):
      GuardedProperty(name: name, type: type, collation: collation)
    case .points(let property, _): property
    }
  }
}

extension LiveGuard {
  /// The guard without the points that it has, which come and go one by one.
  var base: LiveGuard {
    switch test {
    case .any: self
    case .keys: with(.points(nil, []))
    case .values(let name, let type, let collation, let ranges):
      switch ranges.filter({ !$0.isPoint }) {
      case []: with(.points(test.property, []))
      case let ranges:
        with(.values(property: name, type: type, collation: collation, ranges: ranges))
      }
    case .points(let property, _): with(.points(property, []))
    }
  }

  private func with(_ test: Test) -> LiveGuard {
    LiveGuard(collection: collection, test: test, properties: properties)
  }

  /// True if it lets nothing through but its points.
  var hasOnlyPoints: Bool { if case .points = test { true } else { false } }

  /// The checksums of its points.
  var points: [UInt64] {
    switch test {
    case .any: []
    case .keys(let keys): keys.map { $0.lend { Checksum.of($0) } }
    case .values(_, _, _, let ranges):
      ranges.filter(\.isPoint).map { $0.lower.lend { Checksum.of($0) } }
    case .points(_, let points): points
    }
  }
}

extension [String]? {
  /// True if both are nil, or have the same names, byte by byte.
  func areSame(as other: [String]?) -> Bool {
    guard let self, let other else { return (self == nil) == (other == nil) }
    return self.count == other.count && zip(self, other).allSatisfy(ByteOrder.areEqual)
  }
}
