/// Puts the records of other collections beside each record: a loop within a loop for each join.
///
/// The records that are beside one another at the moment are kept in ``QueryRecords/joined``, where
/// conditions, orders and decoders find them.
final class JoinLoop {
  private let joins: [QueryJoin]
  /// The condition on the joined records; nil where there is none.
  private let program: ConditionProgram?
  private let records: QueryRecords
  private let work: QueryWork
  /// The tables in memory of the joins that need one, as soon as they were made.
  private var tables: [JoinTable?]
  /// The cursor behind which results that are not sorted go on.
  var after: QueryCursor?

  /// For a plan that has joins.
  init(_ plan: QueryPlan, _ records: QueryRecords, _ work: QueryWork) {
    joins = plan.joins
    program = plan.joinedProgram
    self.records = records
    self.work = work
    tables = Array(repeating: nil, count: joins.count)
  }

  /// Visits a record once for each group of records that are joined to it.
  func forEach(
    beside record: RawSpan, key: RawSpan, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws -> Bool {
    records.joined = Array(repeating: nil, count: joins.count)
    return try join(0, key, record, body)
  }

  private func join(
    _ index: Int, _ key: RawSpan, _ record: RawSpan, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws -> Bool {
    if index == joins.count {
      if wasHandedOut(key) { return true }
      if let program, try !program.accepts(record, key: key, records) { return true }
      work.countAccepted()
      return try body(key, record)
    }
    let join = joins[index]
    var isAlone = true
    for other in try join.keys(record, key: key, records, &tables[index]) {
      let copy = try other.lend { other in
        try records.lend(join.description.collection, other) { record in
          try join.accepts(record, key: other, records) ? record.array() : nil
        }
      }
      guard let copy = copy.flatMap(\.self) else { continue }
      isAlone = false
      work.countJoined()
      records.joined[index] = (other, copy)
      if try !self.join(index + 1, key, record, body) { return false }
    }
    records.joined[index] = nil
    return isAlone && join.description.isLeft ? try self.join(index + 1, key, record, body) : true
  }

  /// True if the page before had the records that are joined to the one at which it ended. Sorted
  /// results are recognized by their place instead.
  private func wasHandedOut(_ key: RawSpan) -> Bool {
    guard let after, !after.joined.isEmpty, after.key.lend({ $0.equals(key) }) else {
      return false
    }
    let joined = records.joinedKeys
    return !after.joined.lexicographicallyPrecedes(joined) { $0.lexicographicallyPrecedes($1) }
  }
}
