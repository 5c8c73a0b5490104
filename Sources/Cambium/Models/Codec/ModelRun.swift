// Running a query for whole models: this part is the same code for every model. The thin generic
// one, `Query.walk`, is inlined into the app, where the model's type is known; see Loading.swift.

/// One run of a query, and how its records become models.
@usableFromInline
final class ModelRun {
  private let run: QueryRun
  private let binding: Binding

  init(_ run: QueryRun, _ binding: Binding) {
    self.run = run
    self.binding = binding
  }

  /// Where the run stopped; see ``QueryRun/cursor``.
  @usableFromInline
  var cursor: QueryCursor? { run.cursor }

  /// Visits the results' keys and records; see ``QueryRun/forEach(_:)``.
  @usableFromInline
  func forEach(_ body: (_ key: RawSpan, _ record: RawSpan) throws -> Bool) throws {
    try run.forEach(body)
  }

  /// Puts a record into the model at `base`, which must hold a value of the schema's type.
  @usableFromInline
  func decode(
    _ record: RawSpan, key: RawSpan, into base: UnsafeMutableRawPointer
  ) throws {
    try unsafe binding.decode(record, key: key, into: base)
  }
}

extension Query {
  /// Plans a run for whole models.
  @usableFromInline
  func modelRun() throws -> ModelRun {
    let snapshot = try snapshot()
    return ModelRun(try run(on: snapshot), try snapshot.binding(M.schema.core))
  }

  /// Visits the models that a run finds, until `body` says that it is enough; filters in Swift are
  /// left to the caller.
  @inlinable
  func forEach(_ run: ModelRun, _ body: (M) throws -> Bool) throws {
    let template = M.schema.template
    try run.forEach { key, record in
      var model = template
      try unsafe withUnsafeMutablePointer(to: &model) {
        try unsafe run.decode(record, key: key, into: UnsafeMutableRawPointer($0))
      }
      return try body(model)
    }
  }

  /// Visits the models that answer until `body` says that it is enough.
  @inlinable
  func walk(_ body: (M) throws -> Bool) throws {
    if filters.isEmpty { return try forEach(try modelRun(), body) }
    // Offset and limit count the models that pass the filters.
    var (skipped, left) = bounds
    if left == 0 { return }
    try forEach(try unlimited.modelRun()) { model in
      for filter in filters where try !filter(model) { return true }
      if skipped > 0 {
        skipped -= 1
        return true
      }
      left -= 1
      return try body(model) && left > 0
    }
  }

  /// How many results are skipped, and how many are wanted.
  @usableFromInline
  var bounds: (skipped: Int, left: Int) { (description.offset, description.limit ?? .max) }

  /// The query without limit and offset.
  @usableFromInline
  var unlimited: Query {
    var query = self
    (query.description.offset, query.description.limit) = (0, nil)
    return query
  }
}
