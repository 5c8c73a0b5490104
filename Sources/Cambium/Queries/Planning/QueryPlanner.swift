// Decides how a query is answered. Costs are in units of what it takes to read the next record of a
// scan; the others were measured against that.
//
//     condition ──▶ conjuncts ──▶ each index: what do they say about its terms? ──▶ cheapest
//                       │                                                             │
//                       └── tests behind references: use a semijoin instead? ◀────────┘

/// Finds the cheapest way to answer a query.
struct QueryPlanner {
  /// The costs of the steps of an answer, in units of reading the next record of a scan.
  enum Cost {
    static let record = 1.0
    static let entry = 0.6
    static let fetch = 4.0
    static let sort = 1.5
    static let pastRecord = 5.5
    static let pastFetch = 20.0
    static let loggedChange = 12.0
  }

  let description: QueryDescription
  let records: QueryRecords
  let collection: CollectionPlan?
  let scope: ConditionScope
  /// The number of children that the collection's node has at present.
  let childCount: Int
  /// True if keys compare as texts and all of them are stored as texts, so that their order is the
  /// tree's. Keys that read as integers or UUIDs are stored otherwise.
  let hasPlainTextKeys: Bool
  /// True if keys compare as texts, and not all of them are stored as such, so that no range of the
  /// tree or of an index has them in their order.
  let hasMixedKeys: Bool

  init(_ description: QueryDescription, _ records: QueryRecords) throws {
    self.description = description
    self.records = records
    collection = records.catalog.collections[description.collection]
    var scope = records.scope(of: description.collection)
    scope.joined = description.joins.map { ($0.name, $0.collection) }
    self.scope = scope
    childCount = try records.presentCount(description.collection)
    let isMixed =
      collection?.definition.keys == .string
      ? try records.hasMixedKeys(description.collection) : nil
    (hasPlainTextKeys, hasMixedKeys) = (isMixed == false, isMixed == true)
  }

  /// Makes the plan.
  func plan() throws -> QueryPlan {
    var test = description.condition?.test ?? .all([])
    // Compiled first, so that a meaningless condition is refused whatever records are there.
    _ = try ConditionProgram(test, in: scope)
    for path in description.paths { _ = try scope.resolve(path) }
    var preparations: [String] = []
    var previewing: QueryPlan?
    if test.hasFarSide {
      // The continuation of a page is decided once the semijoin is resolved, as for the page before
      // it.
      let first = try cheapest(test, goesOn: false)
      if first?.access.scan?.previews.isEmpty == false { previewing = try cheapest(test) }
      test = try Semijoin(self).replacing(test, count: first?.access.estimate ?? 0, &preparations)
    }
    let asking = try cheapest(test)
    asking?.preparations = preparations
    guard
      let plan = [previewing, asking].compactMap(\.self).min(by: { $0.access.cost < $1.access.cost }
      )
    else {
      throw QueryError("the cursor belongs to an index that is gone; start again")
    }
    if let views {
      plan.view = try views.answeringView()
      plan.counted = try views.countingView()
    }
    return plan
  }

  /// Looks at the views of the collection; nil where it has none.
  private var views: ViewPlanner? {
    guard let collection, !collection.views.isEmpty else { return nil }
    return ViewPlanner(self, collection)
  }

  /// The plan that evaluates records by their keys, which stays valid for later states.
  func planForKeys() throws -> QueryPlan {
    let conjuncts = (description.condition?.test ?? .all([])).conjuncts
    let own = conjuncts.filter { !$0.names(anyOf: description.joins.map(\.name)) }
    let way = Way(access: .keys([]), isOrdered: true, count: 0, cost: 0)
    return try plan(way, own, joined: conjuncts.filter { !own.contains($0) })
  }

  // MARK: Ways

  /// A way to come by the records.
  struct Way {
    var access: QueryAccess
    var consumed: [Condition.Test] = []
    var isOrdered: Bool
    var count: Int
    var cost: Double
  }

  /// The likely cost of an answer, without resolving any semijoin.
  func estimatedCost() throws -> Double {
    try cheapest(description.condition?.test ?? .all([]))?.access.cost ?? .infinity
  }

  /// - Returns: The cheapest plan; nil where no plan can continue at the cursor.
  private func cheapest(_ test: Condition.Test, goesOn: Bool = true) throws -> QueryPlan? {
    let conjuncts = test.conjuncts
    let own = conjuncts.filter { !$0.names(anyOf: description.joins.map(\.name)) }
    let indexes = collection.map(records.catalog.collections.indexes) ?? []
    let scans = try indexes.compactMap { try scan($0, own) }
    var ways = try keyWays(own, among: scans) ?? [scanWay(own, among: scans)]
    if collection != nil {
      if records.snapshot.moment == nil {
        ways += try scans.flatMap { try indexWays($0, own, among: scans) } + both(scans, own)
        ways += try views?.topWays(own) ?? []
      } else {
        ways += try correctedWays(scans)
      }
    }
    if goesOn, let index = description.after?.index {
      ways = try ways.filter { try resumes($0, index) }
    }
    return try ways.min { $0.cost < $1.cost }.map {
      try plan($0, own, joined: conjuncts.filter { !own.contains($0) })
    }
  }

  private func resumes(_ way: Way, _ index: UInt32) throws -> Bool {
    guard case .index(let scan) = way.access else { return false }
    return scan.index.number == index && way.isOrdered
  }

  func plan(
    _ way: Way, _ own: [Condition.Test], joined: [Condition.Test]
  ) throws -> QueryPlan {
    var visited = scope
    if case .index(let scan) = way.access { visited.previews = scan.previews }
    let access = try access(way, own, visited)
    let plan = QueryPlan(description: description, scope: visited, access: access)
    if !way.isOrdered && description.grouping == nil {
      plan.order = try QueryOrder(
        description.orderings, in: visited, comparingKeysAsTexts: hasMixedKeys)
    } else if keepsOrder(way), access.scan == nil {
      plan.placeOrder = try QueryOrder(description.orderings, in: scope)
    }
    plan.joins = try description.joins.map { try QueryJoin($0, records, scope) }
    if !joined.isEmpty { plan.joinedProgram = try ConditionProgram(.all(joined), in: scope) }
    return plan
  }

  private func access(
    _ way: Way, _ own: [Condition.Test], _ visited: ConditionScope
  ) throws -> AccessPlan {
    let residual = own.filter { !way.consumed.contains($0) }
    var cutOrder: QueryOrder?
    if keepsOrder(way), case .index(let scan) = way.access, !scan.index.hasFixedLength {
      cutOrder = try QueryOrder(description.orderings, in: scope)
    }
    // The residual tests read entries where these hold all that is needed, else whole records.
    return AccessPlan(
      path: way.access, program: own.isEmpty ? nil : try ConditionProgram(.all(own), in: scope),
      residual: residual.isEmpty ? nil : try ConditionProgram(.all(residual), in: visited),
      residualTests: residual, cutOrder: cutOrder, cost: way.cost, estimate: way.count)
  }

  /// True if a way finds records in an order that was asked for.
  private func keepsOrder(_ way: Way) -> Bool {
    way.isOrdered && description.grouping == nil && !description.orderings.isEmpty
  }

  /// The order of the keys: `isOrdered` is true if nothing is to be sorted, or by the key alone,
  /// and `isReversed` if the last key comes first.
  private var keyOrder: (isOrdered: Bool, isReversed: Bool) {
    if description.grouping != nil { return (true, false) }
    guard let first = description.orderings.first else { return (true, false) }
    let isKey =
      first.path == PropertyPath(nil) && first.nulls == nil
      // Records that are joined to one record may have another order.
      && (description.joins.isEmpty || description.orderings.count == 1)
    return (isKey && !hasMixedKeys, isKey && !hasMixedKeys && first.isDescending)
  }

  private func scanWay(_ own: [Condition.Test], among scans: [IndexScan]) -> Way {
    let (isOrdered, isReversed) = keyOrder
    let walk =
      isOrdered ? walk(through: childCount, own, among: scans) : CandidateWalk(all: childCount)
    return Way(
      access: .scan(isReversed: isReversed), isOrdered: isOrdered, count: walk.count,
      cost: walk.weight * recordCost + (isOrdered ? 0 : sortCost(walk.count)))
  }

  /// The ways that a condition on the key allows; nil where there is none.
  private func keyWays(
    _ own: [Condition.Test], among scans: [IndexScan]
  ) throws -> [Way]? {
    let (isOrdered, isReversed) = keyOrder
    for test in own {
      if let keys = test.keys {
        let isAlone = keys.count < 2 && description.joins.isEmpty
        return [
          Way(
            access: .keys(keys), consumed: [test],
            isOrdered: isOrdered && !isReversed || isAlone,
            count: keys.count, cost: Double(keys.count) * Cost.fetch)
        ]
      }
    }
    if hasMixedKeys { return nil }
    let ranges = own.compactMap { test in
      (hasPlainTextKeys ? test.textKeyRange : test.keyRange).map { (test, $0) }
    }
    guard let first = ranges.first else { return nil }
    let range = ranges.dropFirst().reduce(first.1) { $0.intersection($1.1) }
    let (count, _) = try records.count(range, in: description.collection)
    let consumed = ranges.map(\.0)
    let residual = own.filter { !consumed.contains($0) }
    let walk = isOrdered ? walk(through: count, residual, among: scans) : CandidateWalk(all: count)
    return [
      Way(
        access: .keyRange(range, isReversed: isReversed), consumed: consumed,
        isOrdered: isOrdered, count: walk.count,
        cost: walk.weight * recordCost + (isOrdered ? 0 : sortCost(walk.count)))
    ]
  }

  // MARK: Estimates

  /// The walk over candidates in the order that is asked for, each of which must pass some tests.
  func walk(
    through candidates: Int, _ tests: [Condition.Test], among scans: [IndexScan]
  ) -> CandidateWalk {
    let wanted = description.wanted(of: candidates)
    let isCertain = tests.isEmpty && !description.hasFilter
    if isCertain || wanted >= candidates { return CandidateWalk(all: wanted) }
    var share = CandidateWalk.share(of: childCount, passing: tests, scans)
    if description.hasFilter { share *= CandidateWalk.unknownShare }
    return CandidateWalk(through: candidates, wanted: wanted, share: share)
  }

  var recordCost: Double { records.snapshot.moment == nil ? Cost.record : Cost.pastRecord }

  func sortCost(_ count: Int) -> Double {
    description.grouping == nil ? Double(count) * Cost.sort : 0
  }
}

extension Condition.Test {
  /// The tests that must all hold.
  var conjuncts: [Condition.Test] {
    if case .all(let tests) = self { return tests.flatMap(\.conjuncts) }
    return [self]
  }

  /// The same test of other paths, outside of related records.
  func mapping(_ path: (PropertyPath) -> PropertyPath) -> Condition.Test {
    switch self {
    case .all(let tests): .all(tests.map { $0.mapping(path) })
    case .any(let tests): .any(tests.map { $0.mapping(path) })
    case .not(let other): .not(other.mapping(path))
    case .compare(let own, let comparison, let value): .compare(path(own), comparison, value)
    case .compareProperties(let one, let comparison, let other):
      .compareProperties(path(one), comparison, path(other))
    case .oneOf(let own, let values): .oneOf(path(own), values)
    case .text(let own, let test, let text, let collation):
      .text(path(own), test, text, collation)
    case .contains(let own, let value): .contains(path(own), value)
    case .related(.elements(let own), let quantifier, let inner):
      .related(.elements(path(own)), quantifier, inner)
    case .related(.inverse, _, _): self
    }
  }

  /// True if it names joined records.
  func names(anyOf joined: [String]) -> Bool {
    !joined.isEmpty
      && paths.contains { path in path.hops.first.map { joined.contains($0) } ?? false }
  }

  /// The keys that it asks for, in their stored form and order; nil where it asks otherwise.
  fileprivate var keys: [[UInt8]]? {
    let values: [Value]
    switch self {
    case .compare(PropertyPath(nil), .equal, let value) where value != .null: values = [value]
    case .oneOf(PropertyPath(nil), let some): values = some
    default: return nil
    }
    let keys = values.compactMap { ConditionScope.ResolvedPath.key($0, target: nil)?.stored }
    var unique: [[UInt8]] = []
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where unique.last != key {
      unique.append(key)
    }
    return unique
  }

  /// The same where all keys are texts.
  fileprivate var textKeyRange: ClosedOpenBytes? {
    guard case .compare(PropertyPath(nil), let comparison, let value) = self else {
      return keyRange
    }
    guard let text = ConditionScope.ResolvedPath(property: nil).keyText(value) else { return nil }
    let (key, kind) = ([KeyTag.text] + Array(text.utf8), ClosedOpenBytes(prefix: [KeyTag.text]))
    return keyRange(comparison, key, within: kind)
  }

  /// The keys that it asks for, as a range of their stored forms.
  fileprivate var keyRange: ClosedOpenBytes? {
    switch self {
    case .text(PropertyPath(nil), .prefix, let text, .binary) where !text.isEmpty:
      return ClosedOpenBytes(prefix: [KeyTag.text] + Array(text.utf8))
    case .compare(PropertyPath(nil), let comparison, let value):
      guard let key = ConditionScope.ResolvedPath.key(value, target: nil)?.stored else {
        return nil
      }
      return keyRange(comparison, key, within: ClosedOpenBytes(prefix: Array(key.prefix(1))))
    default: return nil
    }
  }

  private func keyRange(
    _ comparison: Condition.Comparison, _ key: [UInt8], within kind: ClosedOpenBytes
  ) -> ClosedOpenBytes? {
    switch comparison {
    case .less: ClosedOpenBytes(from: kind.lower, upTo: key)
    case .lessOrEqual: ClosedOpenBytes(from: kind.lower, upTo: key + [0])
    case .greater: ClosedOpenBytes(from: key + [0], upTo: kind.upper)
    case .greaterOrEqual: ClosedOpenBytes(from: key, upTo: kind.upper)
    default: nil
    }
  }
}

extension ClosedOpenBytes {
  /// The range of the bytes that lie in both.
  func intersection(_ other: ClosedOpenBytes) -> ClosedOpenBytes {
    let lower = self.lower.lexicographicallyPrecedes(other.lower) ? other.lower : self.lower
    var upper = self.upper ?? other.upper
    if let a = self.upper, let b = other.upper { upper = a.lexicographicallyPrecedes(b) ? a : b }
    return ClosedOpenBytes(from: lower, upTo: upper)
  }
}
