// Answers a query as its plan says.
//
//     access ─▶ condition ─▶ filter ─▶ joins ─▶ their condition ─▶ sort ─▶ skip, limit ─▶ body
//
// Records are lent to the caller where they lie; nothing is kept but what sorting and joins need.

import LMDB

/// One answer to a query, on one thread. Outside of the engine it is a token: shapes of results
/// hand it to the shape that they are made of.
public final class QueryRun {
  /// A filter in Swift: takes the key's stored form and the whole stored record.
  @usableFromInline typealias Filter = (_ key: RawSpan, _ record: RawSpan) throws -> Bool

  /// The number of entries and records between two checks for cancellation.
  private static let cancellationInterval = 256

  var plan: QueryPlan
  let records: QueryRecords
  private var ownCounts = QueryCounts()
  /// The number of related records that had been read before it ran.
  private let relatedBefore: Int
  private var untilCheck = QueryRun.cancellationInterval
  /// Asked now and then; throws to end the run.
  var check: (() throws -> Void)?
  /// The filter in Swift, where the description says that there is one.
  var filter: Filter?
  /// The model that the filter decoded and accepted last, for a shape that reads it again.
  @usableFromInline var accepted: AnyObject?
  /// The lines that a shape adds to the explanation.
  var words: () -> [String] = { [] }
  /// The state of a run that is read part by part; nil where it is read at once.
  var parts: QueryParts?
  private var tables: [JoinTable?]
  /// True if the filter is evaluated before joins. Where single records are sorted, it is evaluated
  /// only for those that may be among the first.
  private let isFilteredFirst: Bool
  private let tracer: QueryTracer?
  /// The entry of an index at which the run was ended; of those that are sorted, since one of them
  /// is cut, what they all begin with.
  var lastEntry: [UInt8] = []
  /// The result at which the run was ended, and its place without the key where it was sorted.
  var last: (place: [UInt8], key: [UInt8], joined: [[UInt8]])?
  /// The number of computed results up to the one at which the run was ended.
  var computed: Int?

  convenience init(_ description: QueryDescription, on snapshot: Snapshot) throws {
    try self.init(description, QueryRecords(snapshot))
  }

  init(_ description: QueryDescription, _ records: QueryRecords) throws {
    if let after = description.after, after.query != description.cursorHash {
      throw QueryError("the cursor belongs to another query")
    }
    tracer = QueryTracer(records.snapshot.directory)
    self.records = records
    // Also of what does not count in the end, such as the order of what is only counted.
    if let problem = description.paths.lazy.compactMap(\.problem).first {
      throw QueryError(problem)
    }
    var description = description
    if description.outcome == .exists { description.limit = min(1, description.limit ?? 1) }
    if description.isComputed, let after = description.after {
      // Computed results are counted; the records that they are made of are read from the start.
      let (skipped, overflow) = description.offset.addingReportingOverflow(after.computed ?? 0)
      (description.offset, description.after) = (overflow ? .max : skipped, nil)
    }
    let countsAll = description.outcome != .list && description.outcome != .ids
    if countsAll && description.limit == nil { description.orderings = [] }
    plan = try QueryPlanner(description, records).plan()
    // The queries that planning asked of other collections are runs of their own.
    relatedBefore = records.relatedCount
    tables = Array(repeating: nil, count: description.joins.count)
    isFilteredFirst = plan.order == nil || !plan.joins.isEmpty
  }

  // A run has many ways to end, and this is behind all of them.
  deinit { tracer?.tell(plan, counts, on: records.snapshot) }

  /// The plan in words, with what running it did.
  var explanation: String { ([plan.explained(counts)] + words()).joined(separator: "\n") }

  /// True if results are handed out only after all of them were found.
  @usableFromInline
  var isSorted: Bool { plan.order != nil }

  /// The counts of its work so far.
  var counts: QueryCounts {
    var counts = ownCounts
    counts.related = records.relatedCount - relatedBefore
    return counts
  }

  /// Takes what happened in accesses into account.
  func count(entries: Int = 0, records: Int = 0) throws {
    ownCounts.entries += entries
    ownCounts.records += records
    untilCheck -= 1
    if untilCheck == 0 {
      untilCheck = QueryRun.cancellationInterval
      try check?()
    }
  }

  // MARK: Results

  /// Hands out the results in order, until `body` says that it is enough. The query's groups and
  /// selection are not applied here.
  ///
  /// - Parameter body: Takes the key's stored form and the stored record, of which an index may
  ///   have only what the query reads. It must not write to the transaction whose records are read.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``;
  ///   ``DatabaseError/misuse(reason:)`` where `body` wrote.
  @usableFromInline
  func forEach(_ body: (_ key: RawSpan, _ record: RawSpan) throws -> Bool) throws {
    try holding { try forEachUnguarded(body) }
  }

  /// Refuses writing to the transaction whose records `body` reads.
  func holding(_ body: () throws -> Void) rethrows {
    let transaction = records.snapshot.transaction
    transaction?.openRuns += 1
    defer { transaction?.openRuns -= 1 }
    try body()
  }

  private func forEachUnguarded(_ body: (RawSpan, RawSpan) throws -> Bool) throws {
    // The offset and limit of computed results are applied where these are made.
    var window = parts?.window ?? plan.description.window(ofRecords: true)
    if parts?.isOver ?? (window.left == 0) { return }
    window.handed = 0
    window.most = parts?.most ?? .max
    var isOver = true
    defer {
      ownCounts.results += window.handed
      parts?.window = window
      parts?.isOver = isOver || window.left == 0
    }
    if let order = plan.order {
      return try sorting(order) { key, record in
        if window.skips() { return true }
        isOver = try body(key, record) && window.goesOn
        return isOver
      }
    }
    if let parts, parts.window.handed > 0 { plan.description.after = cursor }
    try forEachAccepted { key, record in
      if window.skips() { return true }
      isOver = try body(key, record) && window.goesOn
      if !isOver { last = (try place(of: record, key), key.array(), records.joinedKeys) }
      return isOver
    }
  }

  /// The sort key that a cursor stores for a result, besides its key.
  private func place(of record: RawSpan, _ key: RawSpan) throws -> [UInt8] {
    guard let order = plan.placeOrder else { return [] }
    var place = ByteBuffer()
    try order.write(record, key: key, records, to: &place)
    return Array(place.array().dropLast(key.byteCount))
  }

  /// The cursor where the last run stopped at its limit; nil if it came to the end.
  @usableFromInline
  var cursor: QueryCursor? {
    let hash = plan.description.cursorHash
    if let computed { return QueryCursor(query: hash, computed: computed) }
    return last.map { last in
      QueryCursor(
        index: plan.usesIndexOrder ? plan.indexNumber : nil, query: hash,
        entry: plan.usesIndexOrder ? lastEntry : [], order: last.place, key: last.key,
        joined: last.joined)
    }
  }

  // MARK: Conditions and joins

  /// Visits what the condition accepts, in the order of the access.
  func forEachAccepted(_ body: (RawSpan, RawSpan) throws -> Bool) throws {
    // Taken once: a program is copied wherever it is unwrapped.
    let (program, filter) = (plan.program, isFilteredFirst ? filter : nil)
    let isJoined = !plan.joins.isEmpty
    try forEachCandidate { key, record, isTested in
      if !isTested, let program {
        guard try program.accepts(record, key: key, records) else { return true }
      }
      if let filter, try !filter(key, record) { return true }
      if isJoined { return try join(0, key, record, body) }
      ownCounts.accepted += 1
      return try body(key, record)
    }
  }

  private func join(
    _ index: Int, _ key: RawSpan, _ record: RawSpan, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws -> Bool {
    if index == plan.joins.count {
      if wasHandedOut(key) { return true }
      if let program = plan.joinedProgram {
        guard try program.accepts(record, key: key, records) else { return true }
      }
      ownCounts.accepted += 1
      return try body(key, record)
    }
    if index == 0 { records.joined = Array(repeating: nil, count: plan.joins.count) }
    let join = plan.joins[index]
    var isAlone = true
    for other in try join.keys(record, key: key, records, &tables[index]) {
      let copy = try other.lend { other in
        try records.lend(join.description.collection, other) { record in
          try join.accepts(record, key: other, records) ? record.array() : nil
        }
      }
      guard let copy = copy.flatMap(\.self) else { continue }
      isAlone = false
      ownCounts.records += 1
      records.joined[index] = (other, copy)
      if try !self.join(index + 1, key, record, body) { return false }
    }
    records.joined[index] = nil
    return isAlone && join.description.isLeft ? try self.join(index + 1, key, record, body) : true
  }

  /// True if the page before had the records that are joined to the one at which it ended. Sorted
  /// results are recognized by their place instead.
  private func wasHandedOut(_ key: RawSpan) -> Bool {
    guard plan.order == nil, let after = plan.description.after, !after.joined.isEmpty,
      after.key.lend({ $0.equals(key) })
    else { return false }
    let joined = records.joinedKeys
    return !after.joined.lexicographicallyPrecedes(joined) { $0.lexicographicallyPrecedes($1) }
  }
}

extension QueryPlan {
  /// The range of an index that results are found by.
  var scan: IndexScan? { if case .index(let scan) = access { scan } else { nil } }

  var indexNumber: UInt32? { scan?.index.number }

  /// True if results come in the order of an index's entries.
  var usesIndexOrder: Bool { order == nil && indexNumber != nil }
}
