/// Results that are made of the records that a run finds: groups with their aggregates, or distinct
/// values. Offset and limit count them, not the records.
struct ComputedResults {
  private let run: QueryRun

  init(_ run: QueryRun) { self.run = run }

  /// Visits groups or distinct values, without offset and limit.
  func forEach(_ body: ([Value]) throws -> Bool) throws {
    if let grouping = run.plan.description.grouping { return try forEachGroup(grouping, body) }
    let paths = try run.selectedPaths()
    var distinct = DistinctValues()
    var goesOn = true
    try run.forEach { key, record in
      let values = try paths.values(record, key: key, run.records)
      if try distinct.isNew(values) { goesOn = try body(values) }
      return goesOn
    }
    if goesOn { try distinct.forEachLater(body) }
  }

  private func forEachGroup(
    _ grouping: QueryDescription.Grouping, _ body: ([Value]) throws -> Bool
  ) throws {
    let shape = try GroupShape(run.columns, grouping.condition, run.plan.description.orderings)
    if run.plan.description.orderings.isEmpty {
      return try forEachUnorderedGroup(grouping) { values in
        try shape.accepts(values, run.records) ? try body(values) : true
      }
    }
    var sorting = QuerySorting(top: run.plan.description.heapCount)
    var number: UInt64 = 0
    try forEachUnorderedGroup(grouping) { values in
      guard try shape.accepts(values, run.records) else { return true }
      var place = try shape.place(values, run.records)
      place.append(bigEndian: number)
      number += 1
      try sorting.add(values, at: place)
      return true
    }
    try sorting.sorted().forEachValues(body)
  }

  /// Visits all groups in the order of their values: those of a view, or of the records.
  private func forEachUnorderedGroup(
    _ grouping: QueryDescription.Grouping, _ body: ([Value]) throws -> Bool
  ) throws {
    if let view = run.plan.view { return try view.forEach(run.records.reader, body) }
    let groups = try QueryGroups(grouping, in: run.scope)
    try run.forEach { key, record in
      try groups.add(record, key: key, run.records)
      return true
    }
    try groups.forEach(body)
  }

  // MARK: Parts

  /// Visits the next part of a run that is read part by part. All results are made for the first.
  func forEachKept(_ body: ([Value]) throws -> Bool) throws {
    guard let parts = run.parts, !parts.isOver else { return }
    let kept = try parts.sorted ?? keep()
    var (handed, isOver) = (0, true)
    try kept.forEachValues { values in
      handed += 1
      isOver = try body(values) && handed < parts.most
      return isOver
    }
    run.parts?.isOver = isOver
    run.parts?.sorted = kept
  }

  private func keep() throws -> SortedResults {
    let parts = run.parts.take()
    defer { run.parts = parts }
    var sorting = QuerySorting(top: nil)
    var number: UInt64 = 0
    try run.forEachValues { values in
      try sorting.add(values, at: [UInt8](bigEndian: number))
      number += 1
      return true
    }
    return try sorting.sorted()
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
