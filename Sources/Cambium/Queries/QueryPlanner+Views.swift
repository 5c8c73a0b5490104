// Views that keep the answer to a query with every write.

extension QueryPlanner {
  /// The view whose groups and figures are those that the query asks for; nil where there is none.
  ///
  /// It must be about the same records: their condition is the query's, test by test.
  func answeringView() -> QueryViewAnswer? {
    guard let grouping = description.grouping, let collection, description.joins.isEmpty,
      records.snapshot.moment == nil
    else { return nil }
    let tests = description.condition?.test.conjuncts ?? []
    let collections = records.catalog.collections
    for view in collection.views where !collections.isFilling(view.number) {
      guard case .groups(let names, let measures) = view.definition.content,
        case .groups(let plan) = view.content,
        grouping.paths == names.map({ PropertyPath($0) }),
        tests.isSame(as: view.definition.condition?.test.conjuncts ?? [])
      else { continue }
      let places = grouping.measures.map { wanted in
        measures.firstIndex { $0.isSame(as: wanted) }
      }
      if places.allSatisfy({ $0 != nil }) {
        return QueryViewAnswer(number: view.number, plan: plan, places: places.compactMap { $0 })
      }
    }
    return nil
  }
}

/// A view that answers a query.
struct QueryViewAnswer {
  let number: UInt32
  let plan: GroupsPlan
  /// Where the query's measures stand among the view's.
  let places: [Int]

  /// Visits the groups in order: each with its values, then its figures.
  func forEach(_ reader: StateReader, _ body: ([Value]) throws -> Bool) throws {
    var isEmpty = true
    try GroupsReader(number: number, plan: plan, reader: reader).forEach { group in
      isEmpty = false
      return try body(group.values + places.map { group.measures[$0] })
    }
    guard isEmpty, plan.by.isEmpty else { return }
    _ = try body(places.map { if case .count = plan.measures[$0] { .integer(0) } else { .null } })
  }
}

extension ViewDefinition.Measure {
  fileprivate func isSame(as other: QueryMeasure) -> Bool {
    switch self {
    case .count: other.kind == .count
    case .sum(let name): other == QueryMeasure(.sum, PropertyPath(name))
    case .average(let name): other == QueryMeasure(.average, PropertyPath(name))
    case .minimum(let name): other == QueryMeasure(.minimum, PropertyPath(name))
    case .maximum(let name): other == QueryMeasure(.maximum, PropertyPath(name))
    }
  }
}

extension [Condition.Test] {
  /// Whether another list has the same tests, in whichever order.
  fileprivate func isSame(as other: [Condition.Test]) -> Bool {
    allSatisfy(other.contains) && other.allSatisfy(contains)
  }
}
