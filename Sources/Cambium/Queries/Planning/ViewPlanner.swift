/// Finds the views that keep the answer to a query with every write: its groups, its count, or its
/// first records.
struct ViewPlanner {
  private let planner: QueryPlanner
  private let description: QueryDescription
  private let records: QueryRecords
  private let collection: CollectionPlan

  init(_ planner: QueryPlanner, _ collection: CollectionPlan) {
    self.collection = collection
    self.planner = planner
    description = planner.description
    records = planner.records
  }

  /// The view whose groups and aggregates are those that the query asks for; nil where there is
  /// none.
  ///
  /// It must be about the same records: their condition is the query's, test by test; or what is
  /// left of the query's asks for one of its groups.
  func answeringView() throws -> QueryViewAnswer? {
    guard let grouping = description.grouping, description.joins.isEmpty,
      !description.hasFilter, records.snapshot.moment == nil
    else { return nil }
    let own = description.condition?.test.conjuncts ?? []
    for (view, names, plan) in groupViews {
      let isGrouped = grouping.paths == names.map { PropertyPath($0) }
      let aggregates = grouping.aggregates.compactMap { aggregate(for: $0, in: plan) }
      guard isGrouped || grouping.paths.isEmpty, aggregates.count == grouping.aggregates.count
      else {
        continue
      }
      let place = try oneGroup(of: view, by: names, plan, own)
      let needed = view.definition.condition?.test.conjuncts ?? []
      let isWhole = isGrouped && needed.allSatisfy(own.contains) && own.allSatisfy(needed.contains)
      if place == nil && !isWhole { continue }
      return QueryViewAnswer(
        number: view.number, plan: plan.measuring(aggregates), place: place,
        showsValues: isGrouped, name: view.name,
        shownTypes: try GroupedPaths(grouping, in: planner.scope).shownTypes)
    }
    return nil
  }

  /// The group of a view that has as many records as the query has results.
  func countingView() throws -> QueryViewCount? {
    guard description.outcome == .count, description.grouping == nil,
      description.joins.isEmpty, !description.hasFilter, description.limit == nil,
      description.offset == 0, description.after == nil, !description.isDistinct,
      records.snapshot.moment == nil
    else { return nil }
    let own = description.condition?.test.conjuncts ?? []
    for (view, names, plan) in groupViews {
      guard let place = try oneGroup(of: view, by: names, plan, own) else { continue }
      return QueryViewCount(number: view.number, plan: plan, place: place, name: view.name)
    }
    return nil
  }

  /// The group of a view that has just the records that some conjuncts ask for.
  private func oneGroup(
    of view: ViewPlan, by names: [String], _ plan: GroupsPlan, _ own: [Condition.Test]
  ) throws -> GroupPlace? {
    let needed = view.definition.condition?.test.conjuncts ?? []
    let groups = GroupsReader(number: view.number, plan: plan, reader: records.reader)
    guard needed.allSatisfy(own.contains),
      let group = try group(
        of: names, own, exactly: true, isThere: { try groups.count(at: $0) > 0 }),
      own.allSatisfy({ needed.contains($0) || group.tests.contains($0) })
    else { return nil }
    return group.place
  }

  private var groupViews: [(view: ViewPlan, names: [String], plan: GroupsPlan)] {
    let collections = records.catalog.collections
    return collection.views.compactMap { view in
      guard case .groups(let names, _) = view.definition.content,
        case .groups(let plan) = view.content, !collections.isFilling(view.number)
      else { return nil }
      return (view, names, plan)
    }
  }

  /// The aggregate of a view from which an aggregate is read; nil if the view does not hold it.
  private func aggregate(for wanted: QueryAggregate, in plan: GroupsPlan) -> GroupsPlan.Aggregate? {
    guard let path = wanted.path else { return wanted.kind == .count ? .count : nil }
    guard path.hops.isEmpty, path.function == nil, let property = path.property,
      let name = records.catalog.id(of: property)
    else { return nil }
    let sum = plan.sums.firstIndex { $0.name == name }
    let extreme = plan.extremes.firstIndex { $0.name == name }
    return switch wanted.kind {
    case .count: nil
    case .sum: sum.map { .sum($0) }
    case .average: sum.map { .average($0) }
    case .minimum: extreme.map { .minimum($0) }
    case .maximum: extreme.map { .maximum($0) }
    }
  }

  // MARK: The first records

  /// The ways by views that keep records in order: where a few of them are wanted, of one group, in
  /// just that order. A page that continues another is sorted.
  func topWays(_ own: [Condition.Test]) throws -> [QueryPlanner.Way] {
    guard description.grouping == nil, description.after == nil, description.limit != nil,
      !planner.hasMixedKeys
    else { return [] }
    let collections = records.catalog.collections
    return try collection.views.filter { !collections.isFilling($0.number) }
      .compactMap { try topWay($0, own) }
  }

  private func topWay(_ view: ViewPlan, _ own: [Condition.Test]) throws -> QueryPlanner.Way? {
    guard case .top(let by, let terms) = view.definition.content,
      case .top(let plan) = view.content, isOrdered(by: terms, within: by),
      (view.definition.condition?.test.conjuncts ?? []).allSatisfy(own.contains),
      let wanted = try group(of: by, own, isThere: { try has($0, view, plan) })
    else { return nil }
    let order = terms.map { ($0.isDescending ? "-" : "") + ConditionText.name($0.property) }
    let group = by.map { " by " + ConditionText.name($0) }
    let leaves = own.count > by.count + (view.definition.condition?.test.conjuncts.count ?? 0)
    let needed = planner.description.wanted(of: planner.childCount)
    let count = min(planner.childCount, needed * (leaves ? 4 : 1))
    let cost = QueryPlanner.Cost.self
    return QueryPlanner.Way(
      access: .top(
        TopScan(
          number: view.number, plan: plan, place: wanted.place,
          name: "(\(order.joined(separator: ", "))\(group.joined()))")),
      isOrdered: true, count: count, cost: Double(count) * (cost.entry + cost.fetch) + cost.fetch)
  }

  /// True if results are wanted in the order of a view's terms. The properties that make its groups
  /// do not count, since all results have the same values there.
  private func isOrdered(by terms: [IndexDefinition.Term], within by: [String]) -> Bool {
    let orderings = description.orderings.filter { ordering in
      !by.contains { ordering.path == PropertyPath($0) }
    }
    return orderings.count == terms.count
      && zip(orderings, terms).allSatisfy { ordering, term in
        ordering.path == PropertyPath(term.property) && ordering.hasPlainNulls
          && (try? planner.scope.resolve(ordering.path))?.isTextKey == false
          && ordering.isDescending == term.isDescending && ordering.collation == term.collation
      }
  }

  private func has(_ place: GroupPlace, _ view: ViewPlan, _ plan: TopPlan) throws -> Bool {
    var isThere = false
    try TopReader(number: view.number, plan: plan, reader: records.reader).forEach(at: place) { _ in
      isThere = true
      return false
    }
    return isThere
  }

  /// The one group that the conjuncts ask for, and those of them that say so; nil where they may
  /// ask for several.
  ///
  /// Where a constant may be two values, a number and a decimal, the group is taken that is there.
  private func group(
    of by: [String], _ own: [Condition.Test], exactly: Bool = false,
    isThere: (GroupPlace) throws -> Bool
  ) throws -> (place: GroupPlace, tests: [Condition.Test])? {
    let resolver = Resolver(definition: collection.definition, catalog: records.catalog)
    var (orders, tests) = ([[UInt8]()], [Condition.Test]())
    if by.contains(where: { resolver.type($0).isPlural }) { return nil }
    for name in by {
      let term = try IndexPlan.Term(.init(name), resolver)
      var points: [ClosedOpenBytes] = []
      for test in own where points.isEmpty {
        points = try self.points(test, name, term, exactly)
        if !points.isEmpty { tests.append(test) }
      }
      orders = orders.flatMap { order in points.map { order + $0.lower } }
      guard !orders.isEmpty, orders.count <= ViewPlanner.groupsMax else { return nil }
    }
    var places = orders.map { GroupPlace(order: $0) }
    if places.count > 1 { places = try Array(places.filter(isThere).prefix(2)) }
    if places.isEmpty { places = [GroupPlace(order: orders[0])] }
    return places.count == 1 ? (places[0], tests) : nil
  }

  /// More groups are not looked up to find the one that is meant.
  private static let groupsMax = 16

  /// The bytes of the values that a test says a property has one of, since they are equal.
  private func points(
    _ test: Condition.Test, _ name: String, _ term: IndexPlan.Term, _ exactly: Bool
  ) throws -> [ClosedOpenBytes] {
    guard case .compare(let path, .equal, _) = test, path == PropertyPath(name),
      let found = try TermConstraint.of(test, term, isPlural: false), found.isPoints,
      found.isExact || !exactly
    else { return [] }
    return found.ranges
  }
}

/// A group of a view that says how many results a query has.
struct QueryViewCount {
  let number: UInt32
  let plan: GroupsPlan
  let place: GroupPlace
  let name: String

  func count(_ reader: StateReader) throws -> Int {
    try GroupsReader(number: number, plan: plan, reader: reader).count(at: place)
  }
}

/// A view that answers a query.
struct QueryViewAnswer {
  let number: UInt32
  /// With the aggregates that the query asks for.
  let plan: GroupsPlan
  /// The group that answers the query; nil where all do.
  let place: GroupPlace?
  /// True if the query asks for the values that make a group, too.
  let showsValues: Bool
  let name: String
  /// The type of each column whose values may have several forms.
  let shownTypes: [PropertyType?]

  /// Visits the groups in order: each with its values, then its aggregates.
  func forEach(_ reader: StateReader, _ body: ([Value]) throws -> Bool) throws {
    var isEmpty = true
    func visit(_ group: ViewGroup) throws -> Bool {
      isEmpty = false
      let values = (showsValues ? group.values : []) + group.aggregates
      return try body(values.inShownForms(shownTypes))
    }
    let view = GroupsReader(number: number, plan: plan, reader: reader)
    if let place {
      if let group = try view.group(at: place) { _ = try visit(group) }
    } else {
      try view.forEach(visit)
    }
    // All records together are a group even where there are none.
    guard isEmpty, !showsValues || plan.by.isEmpty else { return }
    _ = try body(plan.aggregates.map { if case .count = $0 { .integer(0) } else { .null } })
  }
}

extension ViewPlan {
  /// The groups in words: `by origin`.
  fileprivate var name: String {
    guard case .groups(let names, _) = definition.content, !names.isEmpty else {
      return "of all records"
    }
    return "by " + names.map { ConditionText.name($0) }.joined(separator: ", ")
  }
}
