// Pages of a query that is text, for lists that go on in another process.

extension DynamicQuery {
  /// The first results, and the query for what follows them; nil behind the last.
  ///
  /// - Parameter count: The largest number of results.
  /// - Returns: The results, and the query for those after them.
  /// - Throws: As ``Walk/fetch()``.
  /// - Complexity: as ``Results/page()``.
  package func page(
    of count: Int
  ) throws -> (results: [DynamicRecord], next: DynamicQuery?) {
    let limit = request.description.limit
    let (results, next) = try limited(to: min(count, limit ?? .max)).page()
    let left = limit.map { $0 - results.count }
    guard let next, left != 0, !results.isEmpty else { return (results, nil) }
    let rest = changed {
      $0.request.description.after = next
      $0.request.description.offset = 0
      $0.request.description.limit = left
    }
    return (results, rest)
  }
}

extension DynamicQuery {
  /// The query, with at most so many results.
  package func atMost(_ count: Int) -> DynamicQuery { limited(to: count) }
}
