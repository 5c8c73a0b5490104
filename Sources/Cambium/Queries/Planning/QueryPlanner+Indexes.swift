// The ways of answering a query that indexes offer.

extension QueryPlanner {
  /// The largest number of index ranges that are walked, one for each value of an `in`.
  static let rangesMax = 1000

  /// The range of an index that a condition asks for; nil if the index may lack matching records.
  func scan(_ index: IndexPlan, _ own: [Condition.Test]) throws -> IndexScan? {
    var scan = IndexScan(
      index: index, ranges: [ClosedOpenBytes(prefix: IndexEntry.prefix(index.number))])
    if let condition = index.definition.condition {
      let needed = condition.test.conjuncts
      guard needed.allSatisfy(own.contains) else { return nil }
      scan.consumed = needed
      scan.words = needed.map(\.brief)
    }
    // A record without elements has no entry, so an element must be asked for.
    var needsElement = index.plural != nil
    for place in index.terms.indices {
      guard let constraint = try constraint(index, place, own) else { break }
      if place == index.plural { needsElement = false }
      guard constraint.ranges.count * scan.ranges.count <= QueryPlanner.rangesMax else { break }
      // Empty ranges must go at once: the next term's would be put behind their lower bounds.
      let ranges = try present(constraint.ranges.filter { !$0.isEmpty }, behind: scan.ranges)
      scan.ranges = scan.ranges.flatMap { range in ranges.map { $0.behind(range.lower) } }
      scan.words += constraint.tests.map(\.brief)
      if constraint.isExact { scan.consumed += constraint.tests }
      if constraint.isPoints && scan.ranges.count == 1 { scan.fixedCount = place + 1 }
      if !constraint.isPoints { break }
    }
    if needsElement { return nil }
    scan.ranges.removeAll(where: \.isEmpty)
    (scan.estimate, scan.isGuess) = try estimate(scan)
    scan.isCovering = try isCovering(scan, own, scope)
    let previews = usablePreviews(of: index)
    if !scan.isCovering, !previews.isEmpty {
      var scope = scope
      scope.previews = previews
      scan.isCovering = try isCovering(scan, own, scope)
      if scan.isCovering { scan.previews = previews }
    }
    return scan
  }

  /// The constraint that the conjuncts put on a term; nil where they put none.
  func constraint(
    _ index: IndexPlan, _ place: Int, _ own: [Condition.Test]
  ) throws -> TermConstraint? {
    let name = index.definition.terms[place].property
    var found: TermConstraint?
    for test in own {
      guard let path = test.singlePath, path.function == nil,
        case let resolved = try scope.resolve(path), resolved.hops.isEmpty,
        resolved.property == name, !(resolved.isTextKey && test.isRange),
        let constraint = try TermConstraint.of(
          test, index.terms[place], isPlural: place == index.plural)
      else { continue }
      guard let first = found else {
        found = constraint
        continue
      }
      if place == index.plural { continue }  // another element may have the other value
      found = first.and(constraint)
    }
    return found
  }

  /// The ranges of a term that have entries, where asking costs less than it may save: a number is
  /// looked for among decimals too, of which most indexes have none, and entries of a single range
  /// come in the order of the terms behind it. One range stays at least.
  private func present(
    _ ranges: [ClosedOpenBytes], behind prefixes: [ClosedOpenBytes]
  ) throws -> [ClosedOpenBytes] {
    guard ranges.count > 1, prefixes.count == 1, let prefix = prefixes.first?.lower else {
      return ranges
    }
    var known: [ClosedOpenBytes: Bool] = [:]
    var found: [ClosedOpenBytes] = []
    for range in ranges {
      let asked = ranges.count <= QueryPlanner.lookupsMax ? range : range.kind
      let isThere = try known[asked] ?? hasEntries(asked.behind(prefix))
      known[asked] = isThere
      if isThere { found.append(range) }
    }
    return found.isEmpty ? Array(ranges.prefix(1)) : found
  }

  /// More ranges are not looked up one by one, but by the kind of their values.
  private static let lookupsMax = 4

  private func hasEntries(_ range: ClosedOpenBytes) throws -> Bool {
    try records.countEntries(range.widened, max: 1) > 0
  }

  /// The previews of an index that can be read: not one whose absence alone stands for a value,
  /// since an entry has null for it; nor one that looks like a nested property and may lie behind
  /// one more reference.
  private func usablePreviews(of index: IndexPlan) -> [Preview] {
    index.previews.map(\.preview).filter { preview in
      guard let definition = scope.find(preview.target)?[preview.property] else {
        return !preview.property.contains(".")
      }
      return definition.absence == nil || definition.isNullable == false
    }
  }

  /// True if the entries have all that the query reads, as a scope understands it.
  private func isCovering(
    _ scan: IndexScan, _ own: [Condition.Test], _ scope: ConditionScope
  ) throws -> Bool {
    let copies = Set(scan.index.covered + scan.index.previews.map(\.name))
    guard records.snapshot.moment == nil, description.joins.isEmpty, !description.hasFilter else {
      return false
    }
    let residual = own.filter { !scan.consumed.contains($0) }
    var names = try ConditionProgram(.all(residual), in: scope).names
    if let grouping = description.grouping {
      names += try QueryPaths(grouping.paths + grouping.aggregates.compactMap(\.path), in: scope)
        .names
    } else if description.selection != nil {
      names += try QueryPaths(description.readPaths, in: scope).names
    } else if description.outcome == .list {
      return false
    }
    if !isOrdered(scan).isOrdered {
      names += try QueryOrder(description.orderings, in: scope).names
    }
    return names.allSatisfy(copies.contains)
  }

  // MARK: Order

  /// The order of the entries: `isOrdered` is true if they come in the order that is asked for, and
  /// `isReversed` if they must be walked backwards for it; `cuts` is true if some may be cut.
  func isOrdered(_ scan: IndexScan, cuts: Bool = true) -> (isOrdered: Bool, isReversed: Bool) {
    if description.grouping != nil { return (true, false) }
    if let after = description.after, after.index == nil { return (false, false) }
    var orderings = description.orderings.filter { !isFixed($0, scan) }
    if orderings.isEmpty { return (true, false) }
    // Behind its terms an index goes by the keys as they are stored.
    if hasMixedKeys { return (false, false) }
    let terms = scan.index.definition.terms.dropFirst(scan.fixedCount)
    // Behind all of its terms an index goes by the key.
    var isReversed: Bool?
    if let last = orderings.last, last.path == PropertyPath(nil), last.nulls == nil,
      orderings.count == terms.count + 1
    {
      isReversed = last.isDescending
      orderings.removeLast()
    }
    guard orderings.count <= terms.count, scan.index.plural.map({ $0 < scan.fixedCount }) ?? true
    else { return (false, false) }
    for (place, (ordering, term)) in zip(orderings, terms).enumerated() {
      if isMixed(term, place, scan) { return (false, false) }
      let isTurned = ordering.isDescending != term.isDescending
      guard ordering.path == PropertyPath(term.property), ordering.collation == term.collation,
        ordering.hasPlainNulls, isReversed ?? isTurned == isTurned
      else { return (false, false) }
      isReversed = isTurned
    }
    if isReversed == true && cuts && !scan.index.hasFixedLength { return (false, false) }
    return (true, isReversed ?? false)
  }

  /// True if an index may have the values of a term in another order than is asked for: references
  /// to records whose keys compare as texts, where some read as integers or UUIDs.
  private func isMixed(_ term: IndexDefinition.Term, _ place: Int, _ scan: IndexScan) -> Bool {
    guard let path = try? scope.resolve(PropertyPath(term.property)), path.isTextKey else {
      return false
    }
    guard place == 0, scan.ranges.count == 1, let range = scan.ranges.first else { return true }
    let (tag, first, last) = (OrderedBytes.reference, KeyTag.integer, KeyTag.uuid)
    let lower = term.isDescending ? [~tag, ~last] : [tag, first]
    let upper = ClosedOpenBytes.successor(term.isDescending ? [~tag, ~first] : [tag, last])
    let others = ClosedOpenBytes(
      from: range.lower + lower, upTo: upper.map { range.lower + $0 })
    return (try? records.countEntries(others, max: 1)) != 0
  }

  /// True if all that a scan finds has one value in the property that an ordering goes by.
  private func isFixed(_ ordering: Ordering, _ scan: IndexScan) -> Bool {
    let terms = scan.index.definition.terms.prefix(scan.fixedCount)
    return terms.enumerated().contains { place, term in
      // Of arrays one element is fixed, not all; texts that differ in case may count as one.
      place != scan.index.plural && ordering.path == PropertyPath(term.property)
        && (term.collation == .binary || term.collation == ordering.collation)
    }
  }

  // MARK: Ways

  /// The ways that an index offers.
  ///
  /// - Parameters:
  ///   - scan: The range of it that the condition asks for.
  ///   - own: The tests of the record itself.
  ///   - scans: The scans of all indexes, which say how rare the rest of what is asked for is.
  /// - Returns: None, where it offers nothing that a scan does not.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func indexWays(
    _ scan: IndexScan, _ own: [Condition.Test], among scans: [IndexScan]
  ) throws -> [Way] {
    var scan = scan
    let (isOrdered, isReversed) = isOrdered(scan)
    scan.isReversed = isReversed
    let isWhole = scan.words.isEmpty
    if isWhole && !isOrdered && !scan.isCovering { return [] }
    let each = Cost.entry + (scan.isCovering ? 0 : Cost.fetch)
    let residual = own.filter { !scan.consumed.contains($0) }
    let walk =
      isOrdered
      ? walk(through: scan.estimate, residual, among: scans) : CandidateWalk(all: scan.estimate)
    return [
      Way(
        access: .index(scan), consumed: scan.consumed, isOrdered: isOrdered, count: walk.count,
        cost: walk.weight * each + (isOrdered ? 0 : sortCost(walk.count)) + Cost.fetch)
    ]
  }

  /// Two indexes of which only what is in both need be read.
  func both(_ scans: [IndexScan], _ own: [Condition.Test]) throws -> [Way] {
    let narrow = scans.filter { !$0.words.isEmpty && $0.estimate < 500_000 }
      .sorted { $0.estimate < $1.estimate }
    guard narrow.count > 1, childCount > 0 else { return [] }
    let one = narrow[0]
    let others = narrow.dropFirst().filter { !$0.consumed.allSatisfy(one.consumed.contains) }
    return others.map { other in
      let (a, b) = (Double(one.estimate), Double(other.estimate))
      let count = a * b / Double(childCount)
      let isOrdered = description.orderings.isEmpty
      return Way(
        access: .both(one, other), consumed: one.consumed + other.consumed, isOrdered: isOrdered,
        count: Int(count),
        // Remembering the keys of the first takes as long as reading its entries again.
        cost: (2 * a + b) * Cost.entry + count * Cost.fetch
          + (isOrdered ? 0 : sortCost(Int(count))) + 50)
    }
  }

  /// In the past: the present index, and what has changed since, if that is not too much.
  func correctedWays(_ scans: [IndexScan]) throws -> [Way] {
    let narrow = scans.filter { !$0.words.isEmpty }.min { $0.estimate < $1.estimate }
    guard let narrow, description.after?.index == nil, !narrow.isGuess,
      collection?.hasOtherDefaults(asOf: records.snapshot.moment) == false
    else { return [] }
    let spare = Double(childCount) * Cost.pastRecord - Double(narrow.estimate) * Cost.pastFetch
    let changesMax = Int(spare / (Cost.pastFetch + Cost.loggedChange))
    let changed = try records.changedKeys(in: description.collection, max: changesMax)
    guard let changed else { return [] }
    let count = narrow.estimate + changed.count
    return [
      Way(
        access: .corrected(narrow, changed: changed), isOrdered: description.grouping != nil,
        count: count, cost: Double(count) * Cost.pastFetch + sortCost(count))
    ]
  }

  // MARK: Counting

  /// The number of entries in a scan, and true if that is a guess. Entries are counted until
  /// reading all records would be as cheap, or until the first few are known to be enough.
  private func estimate(_ scan: IndexScan) throws -> (Int, Bool) {
    if scan.words.isEmpty { return (childCount, false) }
    let needed = description.wanted(of: childCount)
    let most =
      isOrdered(scan).isOrdered && needed < childCount
      ? max(256, 16 * needed) : max(1000, childCount / 4)
    var count = 0
    for range in scan.ranges {
      count += try records.countEntries(range, max: most - count)
      if count >= most { return (max(count, childCount / 2), true) }
    }
    return (count, false)
  }
}

extension ClosedOpenBytes {
  /// The range of all values of its kind; itself where it has values of several.
  fileprivate var kind: ClosedOpenBytes {
    let kind = ClosedOpenBytes(prefix: Array(lower.prefix(1)))
    return kind.intersection(self) == self ? kind : self
  }

  /// The same range with some bytes before its bounds.
  func behind(_ prefix: [UInt8]) -> ClosedOpenBytes {
    ClosedOpenBytes(
      from: prefix + lower, upTo: upper.map { prefix + $0 } ?? ClosedOpenBytes.successor(prefix))
  }
}

extension Condition.Test {
  /// True if it compares by order.
  fileprivate var isRange: Bool {
    if case .compare(_, let comparison, _) = self {
      return ![.equal, .notEqual].contains(comparison)
    }
    return false
  }

  /// The path that a test of one property names.
  fileprivate var singlePath: PropertyPath? {
    switch self {
    case .compare(let path, _, _), .oneOf(let path, _), .text(let path, _, _, _),
      .contains(let path, _):
      path
    default: nil
    }
  }
}

extension IndexPlan {
  /// True if no entry can be so long that it is cut.
  var hasFixedLength: Bool { terms.count <= 8 && terms.allSatisfy(\.hasFixedLength) }
}

extension IndexPlan.Term {
  /// The most bytes that a value of fixed length takes in an entry.
  static let fixedBytesMax = 17

  /// True if each value takes the same few bytes.
  var hasFixedLength: Bool {
    switch type {
    case .bool, .integer, .double, .date, .uuid: true
    default: false
    }
  }
}
