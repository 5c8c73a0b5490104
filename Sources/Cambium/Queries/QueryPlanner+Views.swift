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

// MARK: The first records

extension QueryPlanner {
  /// The ways by views that keep records in order: where a few of them are wanted, of one group, in
  /// just that order. A page that goes on behind another is sorted.
  func topWays(_ own: [Condition.Test]) throws -> [Way] {
    guard let collection, description.grouping == nil, description.after == nil,
      description.limit != nil
    else { return [] }
    let collections = records.catalog.collections
    return try collection.views.filter { !collections.isFilling($0.number) }
      .compactMap { try topWay($0, collection, own) }
  }

  private func topWay(
    _ view: ViewPlan, _ collection: CollectionPlan, _ own: [Condition.Test]
  ) throws -> Way? {
    guard case .top(let by, let terms) = view.definition.content,
      case .top(let plan) = view.content, isOrdered(by: terms, within: by),
      (view.definition.condition?.test.conjuncts ?? []).allSatisfy(own.contains),
      let place = try place(of: by, collection, own)
    else { return nil }
    let order = terms.map { ($0.isDescending ? "-" : "") + ConditionText.name($0.property) }
    let group = by.map { " by " + ConditionText.name($0) }
    let leaves = own.count > by.count + (view.definition.condition?.test.conjuncts.count ?? 0)
    let count = min(childCount, wanted(childCount) * (leaves ? 4 : 1))
    return Way(
      access: .top(
        TopScan(
          number: view.number, plan: plan, place: place,
          name: "(\(order.joined(separator: ", "))\(group.joined()))")),
      isOrdered: true, count: count, cost: Double(count) * (Cost.entry + Cost.fetch) + Cost.fetch)
  }

  /// Whether results are wanted in the order of a view's terms; what makes its groups is the same
  /// for all of them.
  private func isOrdered(by terms: [IndexDefinition.Term], within by: [String]) -> Bool {
    let orderings = description.orderings.filter { ordering in
      !by.contains { ordering.path == PropertyPath($0) }
    }
    return orderings.count == terms.count
      && zip(orderings, terms).allSatisfy { ordering, term in
        ordering.path == PropertyPath(term.property) && ordering.hasPlainNulls
          && ordering.isDescending == term.isDescending && ordering.collation == term.collation
      }
  }

  /// The one group that the conjuncts ask for; nil where they may ask for several.
  private func place(
    of by: [String], _ collection: CollectionPlan, _ own: [Condition.Test]
  ) throws -> GroupPlace? {
    let resolver = Resolver(definition: collection.definition, catalog: records.catalog)
    var order: [UInt8] = []
    if by.contains(where: { resolver.type($0).isPlural }) { return nil }
    for name in by {
      let term = try IndexPlan.Term(.init(name), resolver)
      guard let range = try own.lazy.compactMap({ try point($0, name, term) }).first else {
        return nil
      }
      order += range.lower
    }
    return GroupPlace(order: order)
  }

  /// The bytes of the one value that a test says a property has.
  private func point(
    _ test: Condition.Test, _ name: String, _ term: IndexPlan.Term
  ) throws -> ClosedOpenBytes? {
    guard case .compare(let path, .equal, _) = test, path == PropertyPath(name),
      let found = try TermConstraint.of(test, term, isPlural: false), found.isPoints,
      found.ranges.count == 1
    else { return nil }
    return found.ranges.first
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
