// Results as values: the properties that are selected, or the groups and their aggregates.

import LMDB

extension QueryRun {
  /// The names of what ``forEachValues(_:)`` hands out.
  var columns: [String] {
    let description = plan.description
    if let grouping = description.grouping { return grouping.columns }
    return description.selection?.map(\.description) ?? ["id"]
  }

  /// Hands out the results' values: the selection, the key where there is none, or groups.
  ///
  /// - Parameter body: Takes the values in the order of ``columns``; false ends the run.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  func forEachValues(_ body: ([Value]) throws -> Bool) throws {
    if case .values(let given) = given {
      for values in given where try !body(values) { return }
      return
    }
    guard plan.description.isComputed else {
      let paths = try selectedPaths()
      return try forEach { key, record in try body(paths.values(record, key: key, records)) }
    }
    let computed = ComputedResults(self)
    if parts != nil { return try holding { try computed.forEachKept(body) } }
    var window = plan.description.window()
    let before = window.skipped
    if window.left == 0 { return }
    var isCut = false
    try computed.forEach { values in
      if window.skips() { return true }
      isCut = try !body(values) || !window.goesOn
      return !isCut
    }
    if !plan.readsRecords { work.count(results: window.handed) }
    if isCut { end = QueryCursor(query: 0, computed: before + window.handed) }
  }

  func selectedPaths() throws -> QueryPaths {
    try QueryPaths(plan.description.selection ?? [PropertyPath(nil)], in: scope)
  }

  /// The number of results.
  func count() throws -> Int {
    if let counted = plan.counted { return try counted.count(records.reader) }
    var count = 0
    func add() -> Bool {
      count += 1
      return true
    }
    if plan.description.isComputed {
      try forEachValues { _ in add() }
    } else if try !forEachBatch({ count += $0.count }) {
      try forEach { _, _ in add() }
    }
    return count
  }

  /// The scope in which the query's names are resolved.
  var scope: ConditionScope { plan.scope }
}
