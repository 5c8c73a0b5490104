import LMDB

/// The guards on the values of one property, ordered as one type with one collation.
///
/// Conditions of equality are points, found by a hash; the others are ranges. A record's value is
/// put into its ordered form once for all of them.
final class ValueGuards {
  let property: GuardedProperty
  /// The number of the name; nil while no record has ever had the property.
  private(set) var name: NameID?
  private var standIn = StandIn.null
  private var points = SlotLists()
  private var ranges = RangeTree()
  /// The number of guards that have parts here, or may have them again.
  var users = 0

  init(_ property: GuardedProperty) { self.property = property }

  /// Finds the number of the name, and the meaning of an absent value.
  func resolve(_ names: Catalog, _ collection: CollectionPlan?) {
    name = names.id(of: property.name)
    standIn = name.flatMap { collection?.property($0)?.standIn } ?? .null
  }

  // MARK: Guards

  /// Adds a range of values; returns the node with which it is removed.
  func add(_ range: ClosedOpenBytes, of slot: Int32) -> Int32 { ranges.add(range, of: slot) }

  func remove(range node: Int32) { ranges.remove(node) }

  /// Adds the checksum of a value; returns the link with which it is removed.
  func add(point: UInt64, of slot: Int32) -> Int32 { points.add(slot, under: point) }

  func remove(point: UInt64, link: Int32) { points.remove(link, under: point) }

  /// Visits the slots of all guards.
  func forEach(_ body: (Int32) -> Void) {
    points.forEach(body)
    ranges.forEach(body)
  }

  // MARK: Records

  /// Visits the slots of the guards that a record's value before or after meets; all of them where
  /// the value cannot be read.
  func forEach(
    meeting old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer, _ body: (Int32) -> Void
  ) {
    if points.isEmpty && ranges.isEmpty { return }
    do {
      if let old, let new, try hasSameValue(old, new) {
        return try forEachValue(of: new, &bytes) { visit($0, body) }
      }
      if let old { try forEachValue(of: old, &bytes) { visit($0, body) } }
      if let new { try forEachValue(of: new, &bytes) { visit($0, body) } }
    } catch {
      forEach(body)
    }
  }

  private func visit(_ value: RawSpan, _ body: (Int32) -> Void) {
    if !points.isEmpty { points.forEach(under: Checksum.of(value), body) }
    if !ranges.isEmpty { ranges.forEach(around: value, body) }
  }

  /// True if a record's value before or after passes a test, or cannot be read.
  func hasValue(
    _ old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer, _ passes: (RawSpan) -> Bool
  ) -> Bool {
    var isFound = false
    do {
      if let old { try forEachValue(of: old, &bytes) { isFound = isFound || passes($0) } }
      if let new { try forEachValue(of: new, &bytes) { isFound = isFound || passes($0) } }
    } catch {
      return true
    }
    return isFound
  }

  private func hasSameValue(_ old: RawSpan, _ new: RawSpan) throws -> Bool {
    try name.map { try RecordTable.areSame(CollectionOfOne($0), in: old, new) } ?? true
  }

  /// Lends the ordered forms by which a record is found: the value's, and of an array each
  /// element's.
  private func forEachValue(
    of record: RawSpan, _ bytes: inout ByteBuffer, _ body: (RawSpan) -> Void
  ) throws {
    guard let name else {
      return try standIn.ofAbsence.lend { try forEachForm(of: $0, &bytes, body) }
    }
    try RecordTable(record).lend(record, name, or: standIn) {
      try forEachForm(of: $0, &bytes, body)
    }
  }

  private func forEachForm(
    of value: RawSpan, _ bytes: inout ByteBuffer, _ body: (RawSpan) -> Void
  ) throws {
    try lendForm(of: value, property.type, &bytes, body)
    guard value.byteCount > 0, try value.load(UInt8.self, at: 0) == ValueTag.array else { return }
    try value.forEachElement { element in
      try lendForm(of: element, property.type.ofElements, &bytes, body)
      return true
    }
  }

  @inline(__always)
  private func lendForm(
    of value: RawSpan, _ type: PropertyType, _ bytes: inout ByteBuffer, _ body: (RawSpan) -> Void
  ) throws {
    bytes.clear()
    try OrderedBytes.append(stored: value, as: type, property.collation, to: &bytes)
    bytes.lend { body($0) }
  }
}

extension PropertyType {
  /// The type of the elements, or the type itself unless it is that of arrays.
  fileprivate var ofElements: PropertyType {
    if case .array(let element) = self { element } else { self }
  }
}

extension ClosedOpenBytes {
  /// True if it holds the ordered form of one value only: equality may then be found by a hash. A
  /// range is never taken for a point that it is not.
  var isPoint: Bool {
    guard let upper, OrderedBytes.isWhole(lower) else { return false }
    return upper == lower + [0] || upper == ClosedOpenBytes.successor(lower)
  }
}

extension OrderedBytes {
  /// True if these bytes are surely a whole ordered form, not the beginning of longer ones.
  static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard let tag = bytes.first else { return false }
    switch tag {
    case null...0x02: return bytes.count == 1
    case number: return bytes.count == 11 || (bytes.count == 9 && isExact(bytes))
    case date: return bytes.count == 9
    case uuid: return bytes.count == 17
    // Nothing but the end of a text is a zero.
    case string, data: return bytes.firstIndex(of: 0) == bytes.count - 1
    case reference: return isWholeKey(bytes[1...])
    default: return false
    }
  }

  private static func isWholeKey(_ bytes: ArraySlice<UInt8>) -> Bool {
    switch bytes.first {
    case KeyTag.integer: bytes.count == 9
    case KeyTag.uuid: bytes.count == 17
    case KeyTag.text: bytes.firstIndex(of: 0) == bytes.endIndex - 1
    default: false
    }
  }

  /// True if a number is too small for a distance to follow its double.
  private static func isExact(_ bytes: [UInt8]) -> Bool {
    let bits = bytes[1...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let double = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
    return double.magnitude < 9_007_199_254_740_992
  }
}
