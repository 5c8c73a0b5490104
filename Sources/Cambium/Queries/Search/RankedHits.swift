/// A search by relevance that is part of a question.
struct RankedSearch: Hashable, Sendable {
  let query: TextQuery
  /// The properties of the index of texts that is meant; nil for the first.
  let properties: [String]?
}

/// The records that a search finds, for one run of a question.
final class RankedHits {
  let search: TextSearch
  private let snapshot: Snapshot
  /// The filter in Swift that the question has besides.
  private let filter: QueryRun.Filter?
  private lazy var found = Result { try Set(search.best(limit: .max, snapshot).map(\.key)) }

  init(
    _ ranked: RankedSearch, in collection: NodePath, _ snapshot: Snapshot,
    _ filter: QueryRun.Filter?
  ) throws {
    search = try TextSearch(ranked.query, in: collection, ranked.properties, snapshot)
    (self.snapshot, self.filter) = (snapshot, filter)
  }

  /// True if a record is among those that are found, and passes the filter: for runs that have no
  /// order, such as counts.
  func accepts(_ key: RawSpan, _ record: RawSpan) throws -> Bool {
    guard try found.get().contains(key.array()) else { return false }
    return try filter?(key, record) ?? true
  }

  /// Visits the records that pass a run's conditions, the best first, as many as its window has,
  /// until `body` returns false.
  func forEach(_ run: QueryRun, _ body: (TextHit, RawSpan) throws -> Bool) throws {
    let description = run.plan.description
    guard description.orderings.isEmpty, description.after == nil else {
      throw DatabaseError.misuse(reason: "a search has the best first; leave out order and after")
    }
    var window = description.window()
    // Without conditions nothing that is found is skipped.
    let takesAll = run.plan.access.program == nil && filter == nil
    let (most, overflow) = window.skipped.addingReportingOverflow(window.left)
    for hit in try search.best(limit: takesAll && !overflow ? most : .max, snapshot) {
      if !window.goesOn { break }
      try run.work.check?()
      let goesOn = try hit.key.lend { key in
        try run.records.lend(description.collection, key) { record in
          guard try passes(key, record, run), !window.skips() else { return true }
          return try body(hit, record)
        }
      }
      if goesOn == false { break }
    }
    // It comes as one part.
    run.parts?.isOver = true
  }

  private func passes(_ key: RawSpan, _ record: RawSpan, _ run: QueryRun) throws -> Bool {
    if let program = run.plan.access.program, try !program.accepts(record, key: key, run.records) {
      return false
    }
    return try filter?(key, record) ?? true
  }
}
