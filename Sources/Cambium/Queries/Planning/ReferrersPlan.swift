// The plan for records that refer to a key, made once for all keys: by an index that begins with
// the reference, so that one key's entries differ from another's in their first bytes alone.
//
//     comments by issue where spam = false sort -posted limit 3, index (issue, spam, posted)
//
//     number | issue 7 | false | … last posted      the same ranges behind each issue
//     number | issue 9 | false | … last posted

/// The plan for records that refer to a key.
struct ReferrersPlan {
  /// The scan, whose ranges lack the bytes of the index and the reference.
  let scan: IndexScan
  /// The plan that reads the entries of a reference and sorts what is read; its ranges are to be
  /// set.
  let sorting: QueryPlan
  /// The plan that reads them in order and ends after the wanted ones; nil where the index does
  /// not have the order.
  let inOrder: QueryPlan?
  /// The room that each entry has for its terms: a longer reference may be cut.
  let room: Int
  /// The most bytes that an entry may begin with, up to the reference, to be read in order.
  let prefixMax: Int

  /// The ranges of a reference.
  func ranges(behind prefix: [UInt8]) -> [ClosedOpenBytes] {
    scan.ranges.map { $0.behind(prefix) }
  }
}

/// Plans the search for records that refer.
struct ReferrersPlanner {
  private let planner: QueryPlanner
  private let own: [Condition.Test]

  /// - Parameter planner: A planner of the condition, the order and the limit for each key.
  init(_ planner: QueryPlanner) {
    self.planner = planner
    own = planner.description.condition?.test.conjuncts ?? []
  }

  /// Plans the search for records that refer to keys by a property.
  ///
  /// - Returns: The plan; nil where no index has the reference, as at a past moment.
  /// - Throws: ``QueryError`` for a condition or an order without a meaning.
  func plan(by property: String) throws -> ReferrersPlan? {
    var best: (scan: IndexScan, isOrdered: Bool)?
    for index in referringIndexes(property) {
      guard var scan = try scan(index) else { continue }
      let order = planner.isOrdered(scan.withoutRanges, cuts: false)
      let isOrdered = order.isOrdered && (!order.isReversed || index.hasFixedRest)
      scan.isReversed = isOrdered && order.isReversed
      if best.map({ isBetter((scan, isOrdered), than: $0) }) ?? true { best = (scan, isOrdered) }
    }
    return try best.map { try plan($0.scan, $0.isOrdered) }
  }

  private func isBetter(
    _ one: (scan: IndexScan, isOrdered: Bool), than other: (scan: IndexScan, isOrdered: Bool)
  ) -> Bool {
    if one.isOrdered != other.isOrdered { return one.isOrdered }
    return one.scan.consumed.count > other.scan.consumed.count
  }

  private func plan(_ scan: IndexScan, _ isOrdered: Bool) throws -> ReferrersPlan {
    var way = QueryPlanner.Way(
      access: .index(scan), consumed: scan.consumed, isOrdered: true, count: 0, cost: 0)
    let inOrder = isOrdered ? try planner.plan(way, own, joined: []) : nil
    var unordered = scan
    unordered.isReversed = false
    (way.access, way.isOrdered) = (.index(unordered), false)
    let rest = scan.isReversed ? (scan.index.terms.count - 1) * IndexPlan.Term.fixedBytesMax : 0
    let room = planner.records.leastRoom(planner.description.collection)
    return ReferrersPlan(
      scan: scan, sorting: try planner.plan(way, own, joined: []), inOrder: inOrder, room: room,
      prefixMax: room - rest)
  }

  /// The indexes that begin with a reference.
  private func referringIndexes(_ property: String) -> [IndexPlan] {
    guard planner.records.snapshot.moment == nil, let collection = planner.collection else {
      return []
    }
    return planner.records.catalog.collections.indexes(of: collection).filter { index in
      guard index.definition.terms.first?.property == property, (index.plural ?? 0) == 0,
        case .reference = index.terms[0].type
      else { return false }
      return true
    }
  }

  /// The ranges behind the reference; nil if the index may lack records that pass.
  private func scan(_ index: IndexPlan) throws -> IndexScan? {
    let whole = ClosedOpenBytes(from: [], upTo: nil)
    var scan = IndexScan(index: index, ranges: [whole], fixedCount: 1)
    if let condition = index.definition.condition {
      let needed = condition.test.conjuncts
      guard needed.allSatisfy(own.contains) else { return nil }
      scan.consumed = needed
    }
    for place in index.terms.indices.dropFirst() {
      guard let constraint = try planner.constraint(index, place, own) else { break }
      let ranges = constraint.ranges.filter { !$0.isEmpty }
      guard ranges.count * scan.ranges.count <= QueryPlanner.rangesMax else { break }
      scan.ranges = scan.ranges.flatMap { range in ranges.map { $0.behind(range.lower) } }
      if constraint.isExact { scan.consumed += constraint.tests }
      if !constraint.isPoints { break }
      if ranges.count == 1 && scan.fixedCount == place { scan.fixedCount = place + 1 }
    }
    return scan
  }
}

extension IndexScan {
  /// The scan as a question for the order of entries, whatever reference they are of.
  fileprivate var withoutRanges: IndexScan {
    var scan = self
    scan.ranges = []
    return scan
  }
}

extension IndexPlan {
  /// True if all terms behind the first take few bytes.
  fileprivate var hasFixedRest: Bool { terms.dropFirst().allSatisfy(\.hasFixedLength) }
}
