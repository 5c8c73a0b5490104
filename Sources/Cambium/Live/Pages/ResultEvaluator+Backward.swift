// The rows before a row: those behind it in the opposite order.
//
//     order          a  b  c  d | e        the rows before e
//     opposite       e | d  c  b  a        are behind it here

extension ResultEvaluator {
  /// The rows before a row, in order: one fetch in the opposite order, which an index gives as well
  /// if it gives the order.
  ///
  /// - Parameters:
  ///   - first: The row before which they end, which is as the state at hand has it; nil for the
  ///     last rows.
  ///   - most: The number of rows that are wanted.
  ///   - reading: The state.
  /// - Returns: The rows, ascending; fewer than wanted if there are no more.
  /// - Throws: As ``Walk/fetch()``.
  func rows(
    before first: PlacedResult?, most: Int, _ reading: LiveReading
  ) throws -> [PlacedResult] {
    let backward = try ResultEvaluator(description.inOppositeOrder, reading.records)
    var (beside, start) = ([PlacedResult](), PlacedResult?.none)
    if let first {
      beside = try backward.rows(of: SortedKeys([first.key]), reading)
      start = beside.first { $0.identity == first.identity }
      if start == nil {
        throw DatabaseError.corrupt(reason: "a row that was found could not be read")
      }
    }
    // Records that are joined to one record come by their keys in either order. So those beside the
    // first are looked at as well, and all of each record that was reached.
    let found = try backward.rows(behind: start, most: most + beside.count) {
      try reading.run($0)
    }
    let ordered = try rows(of: SortedKeys((found + beside).map(\.key)), reading)
      .filter { row in first.map { row.precedes($0) } ?? true }
      .sorted { $0.precedes($1) }
    return ordered.suffix(most)
  }
}

extension QueryDescription {
  /// The query with its last result first, as long as nothing is joined.
  fileprivate var inOppositeOrder: QueryDescription {
    var description = self
    for index in orderings.indices {
      description.orderings[index].isDescending.toggle()
      switch orderings[index].nulls {
      case .first?: description.orderings[index].nulls = .last
      case .last?: description.orderings[index].nulls = .first
      case nil: break
      }
    }
    return description
  }
}
