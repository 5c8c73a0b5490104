// Results as values: the properties that are selected, or the groups and their aggregates.

extension QueryRun {
  /// The names of what ``forEachValues(_:)`` hands out.
  var columns: [String] {
    let description = plan.description
    if let grouping = description.grouping {
      return grouping.paths.map(\.description) + grouping.measures.map(\.name)
    }
    return description.selection?.map(\.description) ?? ["id"]
  }

  /// Hands out the results' values: the selection, the key where there is none, or groups.
  ///
  /// - Parameter body: Takes the values in the order of ``columns``; false ends the run.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  func forEachValues(_ body: ([Value]) throws -> Bool) throws {
    guard plan.description.isComputed else {
      let paths = try selectedPaths()
      return try forEach { key, record in try body(paths.values(record, key: key, records)) }
    }
    if parts != nil { return try holding { try forEachKept(body) } }
    var window = plan.description.window()
    let before = window.skipped
    if window.left == 0 { return }
    try forEachComputed { values in
      if window.skips() { return true }
      if try body(values) && window.goesOn { return true }
      computed = before + window.handed
      return false
    }
  }

  func selectedPaths() throws -> QueryPaths {
    try QueryPaths(plan.description.selection ?? [PropertyPath(nil)], in: scope)
  }

  /// Visits groups or distinct values, without offset and limit.
  private func forEachComputed(_ body: ([Value]) throws -> Bool) throws {
    if let grouping = plan.description.grouping { return try forEachGroup(grouping, body) }
    let paths = try selectedPaths()
    var distinct = DistinctValues()
    var goesOn = true
    try forEach { key, record in
      let values = try paths.values(record, key: key, records)
      if try distinct.isNew(values) { goesOn = try body(values) }
      return goesOn
    }
    if goesOn { try distinct.forEachLater(body) }
  }

  /// The number of results.
  func count() throws -> Int {
    if let counted = plan.counted { return try counted.count(records.reader) }
    var count = 0
    if plan.description.isComputed {
      try forEachValues { _ in
        count += 1
        return true
      }
    } else {
      try forEach { _, _ in
        count += 1
        return true
      }
    }
    return count
  }

  /// The scope in which the query's names are resolved.
  var scope: ConditionScope { plan.scope }

  // MARK: Groups

  private func forEachGroup(
    _ grouping: QueryDescription.Grouping, _ body: ([Value]) throws -> Bool
  ) throws {
    let shape = try GroupShape(columns, grouping.condition, plan.description.orderings)
    if plan.description.orderings.isEmpty {
      return try forEachUnorderedGroup(grouping) { values in
        try shape.accepts(values, records) ? try body(values) : true
      }
    }
    var sorting = QuerySorting(top: plan.description.heapCount)
    var number: UInt64 = 0
    try forEachUnorderedGroup(grouping) { values in
      guard try shape.accepts(values, records) else { return true }
      var place = try shape.place(values, records)
      place.append(bigEndian: number)
      number += 1
      let stored = try Value.array(values).stored()
      try place.lend { place in
        try stored.lend { try sorting.add(place, place.extracting(0..<0), $0) }
      }
      return true
    }
    try sorting.sorted().forEach { _, _, stored in
      guard case .array(let values) = try Value(stored) else { return true }
      return try body(values)
    }
  }

  /// Visits all groups in the order of their values: those of a view, or of the records.
  private func forEachUnorderedGroup(
    _ grouping: QueryDescription.Grouping, _ body: ([Value]) throws -> Bool
  ) throws {
    if let view = plan.view { return try view.forEach(records.reader, body) }
    let groups = try QueryGroups(grouping, in: scope)
    try forEach { key, record in
      try groups.add(record, key: key, records)
      return true
    }
    try groups.forEach(body)
  }
}

/// A group as a record of its own, whose properties are its values and aggregates; so conditions
/// and orderings on groups are the same as on records.
private struct GroupShape {
  private let names: [NameID]
  private let program: ConditionProgram?
  private let order: QueryOrder

  init(_ columns: [String], _ condition: Condition?, _ orderings: [Ordering]) throws {
    var catalog = Catalog()
    for name in columns where catalog.id(of: name) == nil {
      try catalog.define(name, as: NameID(catalog.count))
    }
    names = columns.map { catalog.id(of: $0) ?? .max }
    let scope = ConditionScope(catalog)
    func own(_ path: PropertyPath) -> PropertyPath {
      columns.contains(path.description) ? PropertyPath(path.description) : path
    }
    program = try condition.map { try ConditionProgram($0.test.mapping(own), in: scope) }
    order = try QueryOrder(
      orderings.map { ordering in ordering.changed { $0.path = own(ordering.path) } }, in: scope)
    for path in orderings.map(\.path) + (condition?.test.paths ?? []) {
      let name = path.property ?? path.description
      if columns.contains(path.description) || columns.contains(name) { continue }
      throw QueryError("groups have no “\(path)”; they have \(columns.joined(separator: ", "))")
    }
  }

  private func record(_ values: [Value]) throws -> [UInt8] {
    var builder = RecordBuilder()
    for (name, value) in zip(names, values) where value != .null {
      builder[name] = try value.stored()
    }
    return builder.stored()
  }

  func accepts(_ values: [Value], _ records: QueryRecords) throws -> Bool {
    guard let program else { return true }
    return try record(values).lend { try program.accepts($0, key: $0, records) }
  }

  func place(_ values: [Value], _ records: QueryRecords) throws -> [UInt8] {
    var place = ByteBuffer()
    try record(values).lend { record in
      try order.write(record, key: record.extracting(0..<0), records, to: &place)
    }
    return place.array()
  }
}
