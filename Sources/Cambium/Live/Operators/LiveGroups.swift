// The groups of a live query, which follow the rows that come, change and go:
//
//     replace(row:…) ─▶ group ± row ─▶ aggregates
//     finish()       ─▶ aggregates ─▶ condition ─▶ place ─▶ ComputedChanges
//
// Per group: about 500 bytes, and for each aggregate the size that LiveAggregates.swift gives. Per
// row: nothing if the caller knows what the row contributed before, else about 300 bytes with small
// values.

/// All groups of a live query in the order of the query.
struct LiveGroups: Sendable {
  fileprivate struct Group: Sendable {
    var count = 0
    var forms = GroupForms()
    var aggregates: [LiveAggregate]
  }

  /// The aggregates of an empty group.
  private let empty: [LiveAggregate]
  /// The index among measured values of what each aggregate reads; nil for none.
  private let measures: [Int?]
  private let shape: GroupShape
  /// True if all rows are one group, which is there without rows as well.
  private let isOneGroup: Bool

  private var groups: [[UInt8]: Group] = [:]
  /// The contributions of all rows by the rows' identities; nil if the caller knows it.
  private var contributions: [[UInt8]: GroupContribution]?
  /// The groups that the step has changed so far.
  private var touched: Set<[UInt8]> = []
  /// The groups that meet the condition, with their aggregates.
  private(set) var rows = ComputedRows()

  /// - Parameters:
  ///   - grouping: The paths, the aggregates, and the condition on groups.
  ///   - orderings: The orderings of the groups.
  ///   - scope: The scope of the rows, with the records that are joined to them.
  ///   - remembersRows: True if a row's contribution is kept until the row is replaced; false if
  ///     the caller passes it again, since it follows from the row's old bytes.
  /// - Throws: ``QueryError`` where a path leads nowhere, or groups lack a property.
  init(
    _ grouping: QueryDescription.Grouping, orderings: [Ordering], in scope: ConditionScope,
    remembersRows: Bool
  ) throws {
    empty = try grouping.aggregates.map { aggregate in
      LiveAggregate(
        aggregate.kind, as: try aggregate.path.map { try scope.resolve($0).orderedType } ?? .any)
    }
    measures = grouping.measures
    shape = try GroupShape(grouping.columns, grouping.condition, orderings)
    isOneGroup = grouping.paths.isEmpty
    contributions = remembersRows ? [:] : nil
    if isOneGroup {
      groups[[]] = Group(aggregates: empty)
      touched.insert([])
    }
  }

  /// Replaces what a row contributes.
  ///
  /// - Parameters:
  ///   - id: The row's identity, by which rows of a query without orderings are ordered: its key,
  ///     then ``Swift/Array/joinedPlace`` of the joined keys.
  ///   - old: The contribution before; nil for a row that arrives, or if rows are remembered.
  ///   - new: The contribution now; nil for a row that leaves.
  /// - Throws: ``DatabaseError/corrupt(reason:)``. The groups are then of no more use.
  /// - Complexity: O(log *n*) for *n* rows of a group with an extreme, else O(1).
  mutating func replace(
    row id: [UInt8], old: GroupContribution? = nil, with new: GroupContribution?
  ) throws {
    let old = contributions == nil ? old : contributions?[id]
    if old == new { return }
    contributions?[id] = new
    if let old, let new, old.group == new.group, old.values == new.values {
      return try update(id, old, new)
    }
    if let old { try change(old, of: id, isRemoval: true) }
    if let new { try change(new, of: id, isRemoval: false) }
  }

  /// Replaces the measured values of a row that stays as it is in its group.
  private mutating func update(
    _ id: [UInt8], _ old: GroupContribution, _ new: GroupContribution
  ) throws {
    touched.insert(new.group)
    for (index, place) in measures.enumerated() {
      guard let place, old.measured[place] != new.measured[place] else { continue }
      try groups[new.group]?.aggregates[index].change(old.measured[place], of: id, isRemoval: true)
      try groups[new.group]?.aggregates[index].change(new.measured[place], of: id, isRemoval: false)
    }
  }

  private mutating func change(
    _ row: GroupContribution, of id: [UInt8], isRemoval: Bool
  ) throws {
    touched.insert(row.group)
    let (empty, measures) = (empty, measures)
    try groups[row.group, default: Group(aggregates: empty)]
      .change(row, of: id, measures, isRemoval: isRemoval)
  }

  /// Ends a step, after all rows that it changed were replaced.
  ///
  /// - Parameter records: The records at the moment of the step.
  /// - Returns: The groups that left, arrived, changed or moved. Nil if the form of a group's
  ///   values cannot be told, since they differ among its rows; the groups must then be made again.
  /// - Throws: ``DatabaseError/corrupt(reason:)``. The groups are then of no more use.
  /// - Complexity: O(*k* log *g*) for *k* groups that were touched of *g*.
  mutating func finish(_ records: QueryRecords) throws -> ComputedChanges? {
    var changed: [(id: [UInt8], row: ComputedRows.Element?)] = []
    for id in touched {
      guard let group = groups[id], group.count > 0 || isOneGroup else {
        groups[id] = nil
        changed.append((id, nil))
        continue
      }
      guard let shown = group.forms.shown else { return nil }
      let values = try shown + group.aggregates.map { try $0.result() }
      let isAccepted = try shape.accepts(values, records)
      let place = isAccepted ? try shape.place(values, records) + id : nil
      changed.append((id, place.map { ComputedRows.Element(place: $0, id: id, values: values) }))
    }
    touched = []
    return rows.replace(changed)
  }
}

extension LiveGroups.Group {
  /// Adds a row, or removes it.
  fileprivate mutating func change(
    _ row: GroupContribution, of id: [UInt8], _ measures: [Int?], isRemoval: Bool
  ) throws {
    count += isRemoval ? -1 : 1
    if isRemoval { forms.remove(row.values, of: id) } else { forms.add(row.values, of: id) }
    for (index, place) in measures.enumerated() {
      if let place {
        try aggregates[index].change(row.measured[place], of: id, isRemoval: isRemoval)
      } else {
        aggregates[index].change(isRemoval: isRemoval)
      }
    }
  }
}
