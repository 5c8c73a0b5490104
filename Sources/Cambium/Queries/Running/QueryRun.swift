// Answers a query as its plan says.
//
//     access ─▶ condition ─▶ filter ─▶ joins ─▶ their condition ─▶ sort ─▶ skip, limit ─▶ body
//
// Records are lent to the caller where they lie; nothing is kept but what sorting and joins need.

import LMDB

/// Results that were found before, and are only to be handed out.
enum GivenResults {
  /// Selected or computed values.
  case values([[Value]])
  /// Records that the query accepts.
  case records([GivenRecord], ShapeMemory)

  /// The place where the shape keeps what later runs of the same plan can use.
  var memory: ShapeMemory? { if case .records(_, let memory) = self { memory } else { nil } }

  /// The single answer of a query that has one.
  var answer: Value? { if case .values(let values) = self { values.first?.first } else { nil } }
}

/// A record that a query accepts.
struct GivenRecord {
  /// The key in its stored form.
  let key: [UInt8]
  /// The record; nil where it is to be looked up.
  let record: StoredRecord?
}

/// A place where a shape of results keeps what it has compiled, for as long as the catalog stays
/// what it is. Whoever runs a plan again and again, as a live query does, has one.
final class ShapeMemory {
  var compiled: AnyObject?
}

/// One answer to a query, on one thread. Outside of the engine it is a token: shapes of results
/// hand it to the shape that they are made of.
public final class QueryRun {
  /// A filter in Swift: takes the key's stored form and the whole stored record.
  @usableFromInline typealias Filter = (_ key: RawSpan, _ record: RawSpan) throws -> Bool

  let plan: QueryPlan
  let records: QueryRecords
  let work: QueryWork
  /// The filter in Swift, where the description says that there is one.
  var filter: Filter?
  /// The model that the filter decoded and accepted last, for a shape that reads it again.
  @usableFromInline var accepted: AnyObject?
  /// The results of a run that only hands out what was found elsewhere; nil for any other.
  var given: GivenResults?
  /// The lines that a shape adds to the explanation.
  var words: () -> [String] = { [] }
  /// The state of a run that is read part by part; nil where it is read at once.
  var parts: QueryParts?
  private let joins: JoinLoop?
  /// The condition on a record, which accepts everything where there is none. A program that a
  /// closure holds, or that is optional, is copied for each record.
  private let program: ConditionProgram
  /// True if the filter is evaluated before joins. Where single records are sorted, it is evaluated
  /// only for those that may be among the first.
  private var isFilteredFirst: Bool { plan.order == nil || !plan.joins.isEmpty }
  private let tracer: QueryTracer?
  /// The place of the result at which the run was ended, as a cursor that names no query yet.
  var end: QueryCursor?

  convenience init(_ description: QueryDescription, on snapshot: Snapshot) throws {
    try self.init(description, QueryRecords(snapshot))
  }

  convenience init(_ description: QueryDescription, _ records: QueryRecords) throws {
    if let after = description.after, after.query != description.cursorHash {
      throw QueryError("the cursor belongs to another query")
    }
    let tracer = QueryTracer(records.snapshot.directory)
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
    self.init(try QueryPlanner(description, records).plan(), records, tracer)
  }

  /// A run of a plan that was made before, for a state with the same catalog.
  init(_ plan: QueryPlan, _ records: QueryRecords, _ tracer: QueryTracer? = nil) {
    self.tracer = tracer
    self.records = records
    self.plan = plan
    // The queries that planning asked of other collections are runs of their own.
    work = QueryWork(records)
    joins = plan.joins.isEmpty ? nil : JoinLoop(plan, records, work)
    program = plan.access.program ?? .everything
  }

  // A run has many ways to end, and this is behind all of them.
  deinit { tracer?.tell(plan, work.counts, on: records.snapshot) }

  /// The plan in words, with what running it did.
  var explanation: String {
    let counts = records.countWords(plan.description)
    return ([plan.explained(work.counts)] + counts + words()).joined(separator: "\n")
  }

  /// True if results are handed out only after all of them were found.
  @usableFromInline
  var isSorted: Bool { plan.order != nil }

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
  func holding(_ body: () throws -> Void) throws {
    let transaction = records.snapshot.transaction
    if let transaction { try OpenRun.begin(in: transaction) }
    defer { transaction?.openRuns -= 1 }
    try body()
  }

  private func forEachUnguarded(_ body: (RawSpan, RawSpan) throws -> Bool) throws {
    if case .records(let records, _) = given { return try forEach(of: records, body) }
    // The offset and limit of computed results are applied where these are made.
    var window = parts?.window ?? plan.description.window(ofRecords: true)
    if parts?.isOver ?? (window.left == 0) { return }
    window.handed = 0
    window.most = parts?.most ?? .max
    var isOver = true
    defer {
      work.count(results: window.handed)
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
    guard hasBatches else {
      return try forEachAccepted { key, record in
        if window.skips() { return true }
        isOver = try body(key, record) && window.goesOn
        if !isOver { end = ended(at: key, try place(of: record, key)) }
        return isOver
      }
    }
    try forEachAcceptedBatch { batch in
      for index in 0..<batch.count {
        if window.skips() { continue }
        let goesOn = try batch.lend(index, body) && window.goesOn
        if goesOn { continue }
        isOver = false
        end = try batch.lend(index) { ended(at: $0, try place(of: $1, $0)) }
        return index
      }
      return nil
    }
  }

  /// Hands out the results that are made of some records, which the query accepts.
  private func forEach(
    of some: [GivenRecord], _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var goesOn = true
    for given in some where goesOn {
      try given.key.lend { key in
        func visit(_ record: RawSpan) throws {
          goesOn = try joins?.forEach(beside: record, key: key, body) ?? body(key, record)
        }
        if let record = given.record { return try record.lend(visit) }
        _ = try records.lend(plan.description.collection, key, visit)
      }
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
    end.map { end in
      var cursor = end
      cursor.query = plan.description.cursorHash
      return cursor
    }
  }

  /// The place of a result, with the records that are joined to it now.
  func ended(at key: RawSpan, _ place: [UInt8]) -> QueryCursor {
    QueryCursor(
      index: plan.usesIndexOrder ? plan.access.scan?.index.number : nil, query: 0, order: place,
      key: key.array(), joined: records.joinedKeys)
  }

  // MARK: Conditions

  /// True if the results are found by one scan of the present, are made of one record each, and
  /// testing one takes so little that some may be tested in vain.
  private var hasBatches: Bool {
    joins == nil && filter == nil && plan.access.path.isScan && records.snapshot.moment == nil
      && plan.access.program?.isQuick ?? true
  }

  private func candidates() -> CandidateReader {
    let after = plan.order == nil ? plan.description.after : nil
    return CandidateReader(plan.access, after: after, records, work)
  }

  /// Visits what the condition accepts, batch by batch, where ``hasBatches``.
  private func forEachAcceptedBatch(_ visit: CandidateReader.VisitBatch) throws {
    let isTested = plan.access.program == nil
    try candidates().forEachBatch(in: plan.description.collection) { batch in
      if !isTested { batch.keep { try program.accepts($1, key: $0, records) ? (0, 0) : nil } }
      work.countAccepted(batch.count)
      let end = try visit(&batch)
      if let end { work.uncount(accepted: batch.count - end - 1) }
      return end
    }
  }

  /// Visits all records that the condition accepts, batch by batch, for results that are made of
  /// all of them together.
  ///
  /// - Returns: False where they cannot be visited that way, or some are left out.
  func forEachBatch(_ visit: (borrowing EntryBatch) throws -> Void) throws -> Bool {
    guard hasBatches, plan.order == nil, given == nil, parts == nil,
      plan.description.isComputed || plan.description.window().isAll
    else { return false }
    try holding {
      try forEachAcceptedBatch { batch in
        try visit(batch)
        work.count(results: batch.count)
        return nil
      }
    }
    return true
  }

  /// Visits what the condition accepts, in the order of the access.
  func forEachAccepted(_ body: (RawSpan, RawSpan) throws -> Bool) throws {
    let filter = isFilteredFirst ? filter : nil
    let (joins, candidates) = (joins, candidates())
    joins?.after = plan.order == nil ? plan.description.after : nil
    try candidates.forEach(in: plan.description.collection) { key, record, isTested in
      if !isTested, try !program.accepts(record, key: key, records) { return true }
      if let filter, try !filter(key, record) { return true }
      if let joins { return try joins.forEach(beside: record, key: key, body) }
      work.countAccepted()
      return try body(key, record)
    }
    guard let last = candidates.lastEntry, plan.usesIndexOrder else { return }
    end?.entry = last.entry
    if let place = last.place { end?.order = place }
  }

}
