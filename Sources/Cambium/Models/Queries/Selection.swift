// Results that are not whole models: some properties, and figures. What a query reads comes as
// values; the types are those that the properties have in the model.

import FoundationEssentials

/// Some properties of the models that answer a query; the rest is never decoded.
///
///     let rows = try query.select(\.number, \.carrier.name, \.scheduled).fetch()
public struct Selection<M: Model, each V: PropertyValue>: Sendable {
  private var query: Query<M>
  private let paths: [PropertyPath]

  init(_ query: Query<M>, _ operands: (repeat Operand<each V>)) {
    var paths: [PropertyPath] = []
    for operand in repeat each operands { paths.append(operand.path) }
    self.paths = paths
    self.query = query
    self.query.description.selection = paths
  }

  /// Results that are the same count once.
  public func distinct() -> Selection {
    var copy = self
    copy.query.description.isDistinct = true
    return copy
  }

  /// All results, in order.
  ///
  /// - Throws: ``QueryError``; ``PropertyError`` where a property that is not optional has no
  ///   value; ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: as the query; about 0.2 µs for each property of each result.
  public func fetch() throws -> [(repeat each V)] {
    // The compiler of Swift 6.3 crashes where a closure makes such a tuple, so the values come
    // first.
    let found = try query.values("select") { _ in }
    var results: [(repeat each V)] = []
    results.reserveCapacity(found.count)
    for values in found { results.append(try result(values)) }
    return results
  }

  /// How it is answered, in words; see ``Query/explain()``.
  ///
  /// - Throws: As ``fetch()``, since it is run.
  public func explain() throws -> String {
    try query.withoutFilters("select").explain(running: { _ in })
  }

  private func result(_ values: [Value]) throws -> (repeat each V) {
    var index = -1
    func next<T: PropertyValue>(_ type: T.Type) throws -> T {
      index += 1
      return try T(selected: values[index], paths[index])
    }
    return (repeat try next((each V).self))
  }

  /// The first result, or nil.
  ///
  /// - Throws: As ``fetch()``.
  public func first() throws -> (repeat each V)? {
    var copy = self
    copy.query.description.limit = min(1, query.description.limit ?? 1)
    return try copy.fetch().first
  }

  /// How many results there are.
  ///
  /// - Throws: As ``fetch()``.
  public func count() throws -> Int { try query.withoutFilters("select").run { _ in }.count() }
}

extension PropertyValue {
  /// A selected value. What a record has none of is nil where the type allows it.
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
  /// - Returns: What can be fetched: tuples of the properties' types.
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

  /// Whether not all that answer are meant; a description with groups would leave out groups.
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
