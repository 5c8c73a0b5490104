// Finds the records that are related to one record after another: those that pass a condition, in
// an order, up to a limit for each. It is planned once.
//
//     index (issue, posted)   issue 7 ──▶ one ordered read that ends after 3 entries
//     index (issue)           issue 7 ──▶ all of its comments, of which a heap keeps 3
//     no index, or the past   one walk for a batch of issues ──▶ the keys of their comments

/// The plan of a search for related records, made once for states with the same catalog.
struct RelatedPlan {
  fileprivate let description: QueryDescription
  let property: String?
  fileprivate let referrers: ReferrersPlan?
  /// The plan for keys, or to sort what refers.
  fileprivate let sorting: QueryPlan
  private let hasMixedKeys: Bool

  /// - Parameters:
  ///   - description: The condition, the order and the limit for each record. Without an order they
  ///     come by their keys.
  ///   - property: The property by which they refer; nil where their keys are known.
  ///   - records: The records at the moment.
  /// - Throws: ``QueryError`` for a condition or an order without a meaning.
  init(_ description: QueryDescription, by property: String?, _ records: QueryRecords) throws {
    (self.description, self.property) = (description, property)
    var ordered = description
    let isAsTheyCome = property == nil && description.orderings.isEmpty
    if description.orderings.isEmpty { ordered.orderings = [Ordering(PropertyPath(nil))] }
    let planner = try QueryPlanner(ordered, records)
    hasMixedKeys = planner.hasMixedKeys
    referrers = try property.flatMap { try ReferrersPlanner(planner).plan(by: $0) }
    sorting = try referrers?.sorting ?? planner.planForKeys()
    if referrers == nil && !isAsTheyCome {
      sorting.order = try QueryOrder(
        ordered.orderings, in: planner.scope, comparingKeysAsTexts: hasMixedKeys)
    }
  }

  /// True if it holds for a state with the same catalog: keys of another kind sort otherwise.
  func isValid(for records: QueryRecords) throws -> Bool {
    let keys = records.definition(of: description.collection)?.keys
    return try keys != .string || records.hasMixedKeys(description.collection) == hasMixedKeys
  }
}

/// One search for related records, for many records that they are related to.
final class RelatedRun {
  private let records: QueryRecords
  private let description: QueryDescription
  private let property: String?
  private let plan: ReferrersPlan?
  /// Runs whose access is set for each record.
  private let inOrder: QueryRun?
  private let sorting: QueryRun
  /// The keys of referring records by the key that they refer to, where no index has them.
  private var walked: [[UInt8]: [[UInt8]]] = [:]

  init(_ plan: RelatedPlan, _ records: QueryRecords) {
    (description, property, self.plan) = (plan.description, plan.property, plan.referrers)
    self.records = records
    inOrder = plan.referrers?.inOrder.map { QueryRun($0, records) }
    sorting = QueryRun(plan.sorting, records)
  }

  /// True if finding records takes a walk over all.
  var walks: Bool { property != nil && plan == nil }

  /// The work that was done so far.
  var recordsRead: Int { sorting.work.counts.records + (inOrder?.work.counts.records ?? 0) }

  /// The way in words: `by the index (issue, posted), backwards`.
  var words: String {
    guard let plan else { return "" }
    let way = plan.scan.isReversed ? ", backwards" : ""
    return ", by the index \(plan.scan.name)\(way)\(inOrder == nil ? ", sorted" : "")"
  }

  // MARK: Running

  /// Prepares for some keys: one walk finds all that refer to them, where no index does.
  func prepare(for keys: [[UInt8]]) throws {
    guard walks, let property else { return }
    let wanted = Set(keys)
    walked.removeAll(keepingCapacity: true)
    try records.forEachReference(in: description.collection, by: property) { key, _, named in
      for target in named where wanted.contains(target) {
        walked[target, default: []].append(key.array())
      }
    }
  }

  /// Visits the records that refer to a key, for which it was prepared.
  func forEach(
    refersTo key: [UInt8], _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    guard let plan else { return try forEach(of: walked[key] ?? [], body) }
    let prefix = try key.lend { try plan.scan.index.prefix(of: $0) }
    let isShort = prefix.count <= plan.prefixMax
    let run = isShort ? inOrder ?? sorting : sorting
    var scan = plan.scan
    scan.ranges = plan.ranges(behind: prefix)
    scan.isReversed = run !== sorting && scan.isReversed
    run.plan.access.path = .index(scan)
    // Entries that are cut may be of another reference.
    run.filter = prefix.count > plan.room ? { try self.refers($1, to: key) } : nil
    defer { run.filter = nil }
    try visit(run, body)
  }

  /// Visits the records with some keys, of which one may be there twice; without an order as they
  /// come.
  func forEach(
    of keys: [[UInt8]], _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    sorting.plan.access.path = .keys(keys)
    try visit(sorting, body)
  }

  private func visit(_ run: QueryRun, _ body: (RawSpan, RawSpan) throws -> Void) throws {
    // Records that the surrounding query has joined are not joined to these.
    let joined = records.joined
    records.joined = []
    defer { records.joined = joined }
    try run.forEach { key, record in
      try body(key, record)
      return true
    }
  }

  private func refers(_ record: RawSpan, to key: [UInt8]) throws -> Bool {
    guard let term = plan?.scan.index.terms[0] else { return false }
    return try key.lend { try QueryRecords.refers(record, term.name, term.standIn, to: $0) }
  }
}
