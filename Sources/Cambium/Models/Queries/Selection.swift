// Results that are not whole models: some properties, and aggregates. The query reads plain values;
// their types are those that the properties have in the model.

import FoundationEssentials

/// Some properties of the models that answer a query; the rest is never decoded.
///
///     let rows = try query.select(\.number, \.carrier.name, \.scheduled).fetch()
public struct Selection<M: Model, each V: PropertyValue>: Sendable {
  private var query: Query<M>
  private let reader: SelectedValues<repeat each V>

  init(_ query: Query<M>, _ operands: (repeat Operand<each V>)) {
    reader = SelectedValues(at: 0, (repeat each operands))
    self.query = query
    self.query.description.selection = reader.paths
  }

  private func changed(_ change: (inout Query<M>) -> Void) -> Selection {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Results that are the same count once.
  public func distinct() -> Selection { changed { $0.description.isDistinct = true } }

  /// All results, in order.
  ///
  /// - Throws: ``QueryError``; ``PropertyError`` where a property that is not optional has no
  ///   value; ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: as the query; about 0.2 µs for each property of each result.
  public func fetch() throws -> [(repeat each V)] { try results().0 }

  private func results() throws -> ([(repeat each V)], QueryCursor?) {
    let run = try query.withoutFilters("select").run { _ in }
    var results: [(repeat each V)] = []
    try run.forEachValues { values in
      results.append(try reader.read(values))
      return true
    }
    return (results, run.cursor)
  }

  /// Visits the results, in order, with memory that does not depend on how many there are, unless
  /// they must be sorted or told apart.
  ///
  /// - Parameter body: Takes the properties. It must not write to the transaction that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  public func forEach(_ body: (repeat each V) throws -> Void) throws {
    try query.withoutFilters("select").run { _ in }.forEachValues { values in
      try reader.hand(values, to: body)
      return true
    }
  }

  /// Some results, and where the next ones begin.
  ///
  ///     let page = try query.limit(50).after(cursor).select(\.number, \.carrier.name).page()
  ///
  /// - Returns: As many results as the query's limit says; `next` is nil behind the last.
  /// - Throws: As ``fetch()``; ``DatabaseError/misuse(reason:)`` for results that are
  ///   ``distinct()``, which have no place to go on from.
  public func page() throws -> (results: [(repeat each V)], next: QueryCursor?) {
    if query.description.isDistinct {
      throw DatabaseError.misuse(reason: "distinct results have no pages; use forEach")
    }
    let (results, next) = try results()
    return (results, next)
  }

  /// Visits the results in batches, each read from a moment of its own; see
  /// ``Query/batches(of:_:)``.
  ///
  /// - Parameters:
  ///   - count: How many results a batch has.
  ///   - body: Takes a batch; it may write.
  /// - Throws: Any error that `body` throws; otherwise as ``page()``.
  public func batches(of count: Int, _ body: ([(repeat each V)]) throws -> Void) throws {
    var pages = Pages(query.bounds, of: count)
    while let bounds = pages.next() {
      let cursor = pages.cursor(query)
      let page = try changed {
        $0 = $0.limit(bounds.count, offset: bounds.offset).after(cursor)
      }.page()
      if !page.results.isEmpty { try body(page.results) }
      pages.took(page.results.count, page.next)
    }
  }

  /// How it is answered, in words; see ``Query/explain()``.
  ///
  /// - Throws: As ``fetch()``, since it is run.
  public func explain() throws -> String {
    try query.withoutFilters("select").explain(running: { _ in })
  }

  /// The first result, or nil.
  ///
  /// - Throws: As ``fetch()``.
  public func first() throws -> (repeat each V)? {
    try changed { $0.description.limit = min(1, $0.description.limit ?? 1) }.fetch().first
  }

  /// How many results there are.
  ///
  /// - Throws: As ``fetch()``.
  public func count() throws -> Int { try query.withoutFilters("select").run { _ in }.count() }
}

/// Makes a tuple of the values that some paths lead to.
///
/// The compiler of Swift 6.3 crashes where a closure makes such a tuple, so these are methods.
struct SelectedValues<each V: PropertyValue>: Sendable {
  let paths: [PropertyPath]
  /// Where they stand among the values.
  private let start: Int

  init(at start: Int, _ operands: (repeat Operand<each V>)) {
    self.start = start
    var paths: [PropertyPath] = []
    for operand in repeat each operands { paths.append(operand.path) }
    self.paths = paths
  }

  private func value<T: PropertyValue>(
    _ type: T.Type, _ values: [Value], _ index: inout Int
  ) throws -> T {
    defer { index += 1 }
    guard start + index < values.count else {
      throw DatabaseError.corrupt(reason: "a result has too few values")
    }
    return try T(selected: values[start + index], paths[index])
  }

  func read(_ values: [Value]) throws -> (repeat each V) {
    var index = 0
    return (repeat try value((each V).self, values, &index))
  }

  func hand(_ values: [Value], to body: (repeat each V) throws -> Void) throws {
    var index = 0
    try body(repeat try value((each V).self, values, &index))
  }
}

extension PropertyValue {
  /// A selected value; nil, where the type allows it, if the record has none.
  init(selected value: Value, _ path: PropertyPath) throws {
    do { self = try Self(storedValue: value) } catch let error as ValueMismatch {
      throw PropertyError(
        path: .root, property: (path.hops + [path.property ?? "id"]).joined(separator: "."),
        reason: error.reason)
    }
  }
}

extension Query {
  /// Only some properties of the models that answer.
  ///
  /// - Parameter properties: The properties, also through references: `\.origin.name`.
  /// - Returns: A selection, which fetches tuples of the properties' types.
  public func select<each T: PropertyTerm>(
    _ properties: repeat (Fields<M>) -> each T
  ) -> Selection<M, repeat (each T).V> {
    let fields = Fields<M>()
    return Selection(self, (repeat (each properties)(fields).operand))
  }

  /// The query, where it has no filter in Swift.
  func withoutFilters(_ call: String) throws -> Query {
    if filters.isEmpty { return self }
    throw DatabaseError.misuse(
      reason: "\(call) does not see whole models, which the query's filter in Swift needs")
  }

  /// The results' values.
  func values(
    _ call: String, _ change: (inout QueryDescription) -> Void
  ) throws -> [[Value]] {
    var found: [[Value]] = []
    try withoutFilters(call).run(change).forEachValues { values in
      found.append(values)
      return true
    }
    return found
  }

  // MARK: Figures

  private func measure<V: PropertyValue>(
    _ kind: QueryMeasure.Kind, _ property: (Fields<M>) -> Operand<V>
  ) throws -> Value {
    let path = property(Fields<M>()).path
    if hasLimit { return try measureOfSome(kind, path) }
    let results = try values(kind.rawValue) { description in
      description.grouping = .init([], [QueryMeasure(kind, path)])
      description.orderings = []
    }
    return results.last?.last ?? .null
  }

  /// True if a limit or an offset leaves out models; a description with groups would leave out
  /// groups instead.
  var hasLimit: Bool { description.limit != nil || description.offset > 0 }

  /// The figure over no more models than the limit lets through.
  private func measureOfSome(_ kind: QueryMeasure.Kind, _ path: PropertyPath) throws -> Value {
    let run = try withoutFilters(kind.rawValue).run { $0.selection = [path] }
    let type = try run.scope.resolve(path).orderedType
    var accumulator = QueryAccumulator(kind)
    var scratch = ByteBuffer(capacity: 64)
    try run.forEachValues { values in
      try values[0].stored().lend { try accumulator.add($0, as: type, &scratch) }
      return true
    }
    return try accumulator.result()
  }

  /// The sum of a property; zero where there is none.
  ///
  /// - Throws: As ``fetch()``; an error where the sum does not fit the type.
  public func sum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base where V.Base: Numeric {
    let sum = try measure(.sum, property)
    if case .null = sum { return 0 }
    return try V.Base(storedValue: sum)
  }

  /// The mean of a property over those that have one; nil where none has.
  ///
  /// - Throws: As ``fetch()``.
  public func average<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> Double? where V.Base: Numeric {
    try Double?(storedValue: try measure(.average, property))
  }

  /// The least value of a property; nil where there is none.
  ///
  /// - Throws: As ``fetch()``.
  public func minimum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try measure(.minimum, property)) }

  /// The greatest value of a property; nil where there is none.
  ///
  /// - Throws: As ``fetch()``.
  public func maximum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try measure(.maximum, property)) }
}
