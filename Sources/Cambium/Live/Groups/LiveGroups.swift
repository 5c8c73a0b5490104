// The groups of a live query, or its distinct values, which follow the rows that come, change and
// go:
//
//     replace(row:…) ─▶ group ± row ─▶ aggregates
//     finish()       ─▶ aggregates ─▶ condition ─▶ place ─▶ GroupChange
//
// All of this is kept as entries; the groups that a step changes are at hand as values.

/// The difference of a group between two steps: `before` is nil for one that was not shown, `after`
/// for one that is not shown any longer.
struct GroupChange {
  let id: [UInt8]
  let before: ShownGroup?
  let after: ShownGroup?

  /// True if it has come, gone, or another place.
  var isMoved: Bool { before?.place != after?.place }
}

/// All groups of a live query.
final class LiveGroups {
  /// About the memory of a group that is at hand, besides its bytes.
  private static let groupBytes = 256

  /// The aggregates of an empty group.
  private let empty: [LiveAggregate]
  /// The index among measured values of what each aggregate reads; nil for none.
  private let measures: [Int?]
  /// The condition on groups and their order; nil for distinct values.
  private let shape: GroupShape?
  /// True if all rows are one group, which is there without rows as well.
  private let isOneGroup: Bool
  /// True if groups are found by their places as well.
  private let hasPlaces: Bool
  private let kept: OperatorEntries
  /// The number of the next group.
  private var number: UInt64 = 0
  /// The groups that are at hand within a step, by their identities; they are not stored yet.
  private var open: [[UInt8]: LiveGroup] = [:]
  private var openBytes = 0
  /// The groups that the step has changed so far; nil while all of them are made.
  private var touched: Set<[UInt8]>?

  /// - Parameters:
  ///   - grouping: The columns of groups, and the condition on them.
  ///   - paths: Its paths and aggregates.
  ///   - orderings: The orderings of the groups.
  ///   - kept: The entries that hold the groups.
  ///   - hasPlaces: True if groups are to be found behind a place.
  /// - Throws: ``QueryError`` where groups lack a property.
  init(
    _ grouping: QueryDescription.Grouping, by paths: GroupedPaths, orderings: [Ordering],
    _ kept: OperatorEntries, hasPlaces: Bool
  ) throws {
    empty = paths.aggregates.indices.map { index in
      LiveAggregate(
        paths.aggregates[index].kind, as: paths.places[index].map { paths.valueTypes[$0] } ?? .any,
        shownAs: paths.shownTypes[paths.types.count + index])
    }
    measures = paths.places
    shape = try GroupShape(grouping.columns, grouping.condition, orderings)
    isOneGroup = grouping.paths.isEmpty
    (self.kept, self.hasPlaces) = (kept, hasPlaces)
    if isOneGroup { open[[]] = try group([]) }
  }

  /// The distinct values of rows.
  init(distinctIn kept: OperatorEntries, hasPlaces: Bool) {
    (empty, measures, shape, isOneGroup) = ([], [], nil, false)
    (self.kept, self.hasPlaces) = (kept, hasPlaces)
  }

  // MARK: Rows

  /// Replaces what a row contributes.
  ///
  /// - Parameters:
  ///   - id: The row's identity, by which rows of a query without orderings are ordered: its key,
  ///     then ``Swift/Array/joinedPlace`` of the joined keys.
  ///   - old: The row's share before; nil for a row that arrives.
  ///   - new: The share now; nil for a row that leaves.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and ``StorageError`` if a file cannot be
  ///   written. The groups are then of no more use.
  /// - Complexity: O(log *n*) for *n* entries.
  func replace(row id: [UInt8], old: GroupShare?, with new: GroupShare?) throws {
    if old == new { return }
    if let old, let new, shape != nil, old.group == new.group {
      return try change(new) { try $0.update(old, to: new, of: id, measures, kept) }
    }
    if let old { try change(old, of: id, isRemoval: true) }
    if let new { try change(new, of: id, isRemoval: false) }
  }

  private func change(_ share: GroupShare, of id: [UInt8], isRemoval: Bool) throws {
    try change(share) { group in
      if shape == nil {
        try group.change(distinct: share, isRemoval: isRemoval, kept)
      } else {
        try group.change(share, of: id, measures, isRemoval: isRemoval, kept)
      }
    }
  }

  /// Changes a group, which is made if it is not there.
  private func change(_ share: GroupShare, _ body: (inout LiveGroup) throws -> Void) throws {
    let id = share.id
    touched?.insert(id)
    if open[id] == nil {
      if openBytes > kept.shareOfMemory { try store() }
      openBytes += LiveGroups.groupBytes + 2 * share.group.count + id.count
    }
    var group = try open.removeValue(forKey: id) ?? self.group(id)
    try body(&group)
    open[id] = group
  }

  private func group(_ id: [UInt8]) throws -> LiveGroup {
    if let bytes = try kept.value(of: KeptKey.groups + id) {
      return try LiveGroup(kept: bytes, empty)
    }
    defer { number += 1 }
    return LiveGroup(number: number, empty)
  }

  /// Stores the groups that are at hand, and lets go of them.
  private func store() throws {
    for (id, group) in open {
      try kept.set(KeptKey.groups + id, to: isThere(group) ? try group.kept() : nil)
    }
    open.removeAll(keepingCapacity: true)
    openBytes = 0
  }

  private func isThere(_ group: LiveGroup) -> Bool {
    if isOneGroup { return true }
    return group.count > 0
  }

  // MARK: Steps

  /// Ends a step, after all rows that it changed were replaced.
  ///
  /// - Parameter records: The records at the moment of the step.
  /// - Returns: The groups that left, arrived, changed or moved, ascending by their identities; of
  ///   the first step none.
  /// - Throws: As ``replace(row:old:with:)``.
  /// - Complexity: O(*k* log *g*) for *k* groups that were touched of *g*; for long values as
  ///   ``OperatorEntries/first(behind:startingWith:)`` says.
  func finish(_ records: QueryRecords) throws -> [GroupChange] {
    guard let some = touched else {
      try finishFirst(records)
      return []
    }
    touched = []
    var changes: [GroupChange] = []
    for id in some.sorted(by: { $0.precedes($1) }) {
      let group = try open[id] ?? group(id)
      let after = isThere(group) ? try show(group, id, records) : nil
      let before = try shown(id)
      if before != after { changes.append(GroupChange(id: id, before: before, after: after)) }
    }
    // One may take the place that another one leaves.
    for change in changes { try leave(change) }
    for change in changes { try set(change.id, to: change.after, isMoved: change.isMoved) }
    try store()
    return changes
  }

  /// Ends the first step: shows all groups.
  private func finishFirst(_ records: QueryRecords) throws {
    try store()
    try kept.forEach(startingWith: KeptKey.groups) { key, bytes in
      let id = Array(key.dropFirst(KeptKey.groups.count))
      if let group = try show(LiveGroup(kept: bytes, empty), id, records) {
        try set(id, to: group, isMoved: true)
      }
      return true
    }
    touched = []
  }

  /// The group as it is shown; nil if it does not meet the condition.
  private func show(
    _ group: LiveGroup, _ id: [UInt8], _ records: QueryRecords
  ) throws -> ShownGroup? {
    guard let shape else { return try group.distinct(kept) }
    let values = try group.result(kept)
    guard try shape.accepts(values, records) else { return nil }
    let order = group.order.isEmpty ? id : group.order
    return ShownGroup(place: try shape.place(values, records) + order, values: values)
  }

  /// Forgets the place where a group was, if it is not there any longer.
  private func leave(_ change: GroupChange) throws {
    guard hasPlaces, change.isMoved, let before = change.before else { return }
    try kept.set(KeptKey.places + before.place, to: nil)
  }

  /// Notes how a group is shown, and where if it has moved.
  private func set(_ id: [UInt8], to group: ShownGroup?, isMoved: Bool) throws {
    try kept.set(KeptKey.shown + id, to: group.map { try $0.kept() })
    guard hasPlaces, isMoved, let group else { return }
    try kept.set(KeptKey.places + group.place, to: id)
  }

  // MARK: Results

  /// The group as it is shown; nil if it is not.
  func shown(_ id: [UInt8]) throws -> ShownGroup? {
    try kept.value(of: KeptKey.shown + id).map { try ShownGroup(kept: $0) }
  }

  /// All groups that are shown, in order.
  func allRows() throws -> [PlacedResult] {
    var rows: [PlacedResult] = []
    try kept.forEach(startingWith: KeptKey.shown) { key, bytes in
      let id = Array(key.dropFirst(KeptKey.shown.count))
      rows.append(PlacedResult(try ShownGroup(kept: bytes), id: id))
      return true
    }
    return rows.sorted { $0.precedes($1) }
  }

  /// The groups that are shown behind a place, in order, where groups are found by their places.
  ///
  /// - Parameters:
  ///   - place: The place; nil for the first.
  ///   - most: The most groups, at least one.
  /// - Returns: The groups.
  /// - Throws: ``StorageError`` if a file cannot be read.
  func rows(behind place: [UInt8]?, most: Int) throws -> [PlacedResult] {
    var rows: [PlacedResult] = []
    let last = place.map { KeptKey.places + $0 }
    try kept.forEach(behind: last, startingWith: KeptKey.places) { key, id in
      let place = Array(key.dropFirst(KeptKey.places.count))
      rows.append(PlacedResult(place: place, identity: ResultIdentity(key: id)))
      return rows.count < most
    }
    return rows
  }
}

extension PlacedResult {
  /// The row of a group.
  init(_ group: ShownGroup, id: [UInt8]) {
    self.init(place: group.place, identity: ResultIdentity(key: id))
  }
}
