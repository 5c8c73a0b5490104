import LMDB

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

  /// Visits all groups in the order of their values: those of a view, of a timeline, or of the
  /// records.
  private func forEachUnorderedGroup(
    _ grouping: QueryDescription.Grouping, _ body: ([Value]) throws -> Bool
  ) throws {
    if let view = run.plan.view { return try view.forEach(run.records.reader, body) }
    if try GroupTimelines.forEachGroup(of: run, body) { return }
    let (records, paths) = (run.records, try GroupedPaths(grouping, in: run.scope))
    var groups = QueryGroups(paths)
    let isDone = try run.forEachBatch { try groups.add($0, records, by: paths) }
    if !isDone {
      try run.forEach { key, record in
        try groups.add(record, key: key, records, by: paths)
        return true
      }
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
