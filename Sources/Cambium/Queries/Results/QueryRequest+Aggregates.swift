// One figure about all results of a query.

extension QueryRequest {
  /// The aggregate of a property of all results; null where there is none.
  func aggregate(_ kind: QueryAggregate.Kind, of path: PropertyPath) throws -> Value {
    if description.isLimited { return try aggregateOfSome(kind, path) }
    var value: Value?
    try run {
      $0.grouping = .init([], [QueryAggregate(kind, path)])
      $0.orderings = []
    }.forEachValues {
      value = $0.last
      return true
    }
    return value ?? .null
  }

  /// The aggregate of no more results than the limit lets through.
  private func aggregateOfSome(_ kind: QueryAggregate.Kind, _ path: PropertyPath) throws -> Value {
    let run = try run { $0.selection = [path] }
    let type = try run.scope.resolve(path).orderedType
    var accumulator = QueryAccumulator(kind)
    var scratch = ByteBuffer(capacity: 64)
    try run.forEachValues { values in
      try values[0].stored().lend { try accumulator.add($0, as: type, &scratch) }
      return true
    }
    let result = try accumulator.result()
    return kind.isExtreme && path.function == nil ? type.shownForm(of: result) : result
  }
}

extension QueryDescription {
  /// True if a limit or an offset leaves out records; a description with groups would leave out
  /// groups instead.
  var isLimited: Bool { limit != nil || offset > 0 }
}
