// The common parts of queries with other results: models with their records, and pages.

extension Query {
  /// Plans a run whose limit counts behind filters in Swift, which ``forEach(_:_:)`` sees to.
  func recordRun() throws -> QueryRun {
    try (filters.isEmpty ? self : unlimited).run(on: try snapshot())
  }

  /// Visits the models that a run finds and that pass the filters, each with its key and record.
  func forEach(
    _ run: QueryRun, _ body: (_ model: M, _ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws {
    let binding = try run.records.snapshot.binding(M.schema.core)
    var (skipped, left) = filters.isEmpty ? (0, .max) : bounds
    if left == 0 { return }
    try run.forEach { key, record in
      let model = try M.schema.decode(record, key: key, binding)
      for filter in filters where try !filter(model) { return true }
      if skipped > 0 {
        skipped -= 1
        return true
      }
      left -= 1
      return try body(model, key, record) && left > 0
    }
  }

  /// Throws where the query has no place to go on from.
  func checkPages() throws {
    if filters.isEmpty { return }
    throw DatabaseError.misuse(reason: "a query with a filter in Swift has no pages")
  }
}

/// The pages of a walk in batches: how many results each has, and from where.
struct Pages {
  private var left: Int
  private var offset: Int
  private let most: Int
  private var cursor: QueryCursor?
  private var isOver = false

  /// - Parameters:
  ///   - bounds: The numbers of results that the query as a whole skips and has.
  ///   - most: The number of results in a page.
  init(_ bounds: (skipped: Int, left: Int), of most: Int) {
    (offset, left) = bounds
    self.most = most
  }

  /// How many results the next page has at most, and how many are skipped before; nil behind the
  /// last.
  func next() -> (count: Int, offset: Int)? {
    isOver || left <= 0 || most <= 0 ? nil : (min(most, left), offset)
  }

  /// Where the next page begins.
  func cursor<M: Model>(_ query: Query<M>) -> QueryCursor? { cursor ?? query.description.after }

  /// Takes what a page had into account.
  mutating func took(_ count: Int, _ next: QueryCursor?) {
    left -= count
    (offset, cursor, isOver) = (0, next, next == nil)
  }
}

extension PropertyPath {
  /// The names of the record's own properties that it may begin with.
  var ownNames: Set<String> { Condition.Test.names(in: self) }
}
