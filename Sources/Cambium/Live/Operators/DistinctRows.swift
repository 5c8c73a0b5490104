// The distinct values of a live query, which follow the rows that come, change and go. Each is
// shown as its first row in the order of the query has it, and comes at that row's place.
//
// Per row: about 130 bytes, besides its place and its values; about 200 more if rows are
// remembered. Per distinct value: about 300 bytes.

/// A row's share of the distinct values.
struct DistinctContribution: Equatable, Sendable {
  /// The ordered bytes of the values: equal for values that count once.
  let id: [UInt8]
  /// The bytes that order the row and that no other has: those of the orderings, then its keys.
  let place: [UInt8]
  let values: [Value]

  /// - Throws: ``DatabaseError`` for a value that cannot be stored.
  init(place: [UInt8], values: [Value]) throws {
    var ordered = ByteBuffer(capacity: 64)
    for value in values { try OrderedBytes.append(value, to: &ordered) }
    id = ordered.array()
    self.place = place
    self.values = values
  }
}

/// All distinct values of a live query in the order of the query.
struct DistinctRows: Sendable {
  /// The rows that have each value, by their places: the values as they have them.
  private var occurrences: [[UInt8]: PlacedList<[Value]>] = [:]
  /// The contributions of all rows by the rows' identities; nil if the caller knows it.
  private var contributions: [[UInt8]: DistinctContribution]?
  /// The values that the step has changed so far.
  private var touched: Set<[UInt8]> = []
  /// The distinct values.
  private(set) var rows = ComputedRows()

  /// - Parameter remembersRows: True if a row's contribution is kept until the row is replaced;
  ///   false if the caller passes it again, since it follows from the row's old bytes.
  init(remembersRows: Bool) { contributions = remembersRows ? [:] : nil }

  /// Replaces what a row contributes.
  ///
  /// - Parameters:
  ///   - id: The row's identity: its key, then those of the records that are joined to it.
  ///   - old: The contribution before; nil for a row that arrives, or if rows are remembered.
  ///   - new: The contribution now; nil for a row that leaves.
  /// - Complexity: O(log *n*) for *n* rows with the value.
  mutating func replace(
    row id: [UInt8], old: DistinctContribution? = nil, with new: DistinctContribution?
  ) {
    let old = contributions == nil ? old : contributions?[id]
    if old == new { return }
    contributions?[id] = new
    if let old {
      touched.insert(old.id)
      occurrences[old.id]?.remove(at: old.place)
    }
    if let new {
      touched.insert(new.id)
      occurrences[new.id, default: PlacedList()].insert(new.values, at: new.place)
    }
  }

  /// Ends a step, after all rows that it changed were replaced.
  ///
  /// - Returns: The values that left, arrived, moved, or are shown in another form.
  /// - Complexity: O(*k* log *d*) for *k* values that were touched of *d*.
  mutating func finish() -> ComputedChanges {
    var changed: [(id: [UInt8], row: ComputedRows.Element?)] = []
    for id in touched {
      let first = occurrences[id]?.first
      if first == nil { occurrences[id] = nil }
      let row = first.map { ComputedRows.Element(place: $0.place, id: id, values: $0.payload) }
      changed.append((id, row))
    }
    touched = []
    return rows.replace(changed)
  }
}
