// Results that are not whole models: some properties, and aggregates. The query reads plain values;
// their types are those that the properties have in the model.

import FoundationEssentials

/// Values instead of models: some properties of the models that answer a query, or groups with
/// their aggregates. The rest is never decoded.
///
///     let rows = try query.select(\.number, \.carrier.name, \.scheduled).fetch()
///     let report = query.group(by: \.carrier.name).aggregates { ($0.count, $0.sum($0.distance)) }
///     try report.forEach { carrier, count, distance in … }
///
/// Making a result takes about 0.2 µs for each of its values. Of groups, only those that are being
/// made are in memory, and no more than 64 MB of them.
public struct Selection<Element: Sendable>: Results {
  /// The query with what is selected of it, and where it is asked.
  public var request: QueryRequest
  private let make: @Sendable ([Value]) throws -> Element

  init(_ request: QueryRequest, _ make: @escaping @Sendable ([Value]) throws -> Element) {
    self.request = request
    self.make = make
  }

  /// Results that are the same count once.
  public func distinct() -> Selection { changed { $0.request.description.isDistinct = true } }

  /// Makes the results of a run from its values.
  public func read(_ run: QueryRun, _ body: (Element) throws -> Bool) throws {
    try run.forEachValues { try body(try make($0)) }
  }
}

extension Selection {
  /// Selects properties of the results of a query or a join.
  init<each V: PropertyValue>(_ request: QueryRequest, of operands: (repeat Operand<each V>))
  where Element == (repeat each V) {
    let reader = SelectedValues<repeat each V>(at: 0, (repeat each operands))
    var request = request
    request.description.selection = reader.paths
    self.init(request) { try reader.read($0) }
  }
}

/// Makes a tuple of the values that some paths lead to.
///
/// The compiler of Swift 6.3 crashes where a closure makes such a tuple, so these are methods.
struct SelectedValues<each V: PropertyValue>: Sendable {
  let paths: [PropertyPath]
  /// The index of the first of them among the values.
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

extension QueryDescription {
  /// True if a limit or an offset leaves out records; a description with groups would leave out
  /// groups instead.
  var isLimited: Bool { limit != nil || offset > 0 }
}

extension ModelQuery {
  /// Only some properties of the models that answer.
  ///
  /// - Parameter properties: The properties, also through references: `\.origin.name`.
  /// - Returns: A selection, which fetches tuples of the properties' types.
  public func select<each T: PropertyTerm>(
    _ properties: repeat (Fields<M>) -> each T
  ) -> Selection<(repeat (each T).V)> {
    let fields = Fields<M>()
    return Selection(request, of: (repeat (each properties)(fields).operand))
  }

  // MARK: Aggregates

  private func aggregate<V: PropertyValue>(
    _ kind: QueryAggregate.Kind, _ property: (Fields<M>) -> Operand<V>
  ) throws -> Value {
    let path = property(Fields<M>()).path
    if request.description.isLimited { return try aggregateOfSome(kind, path) }
    var value: Value?
    try request.run {
      $0.grouping = .init([], [QueryAggregate(kind, path)])
      $0.orderings = []
    }.forEachValues {
      value = $0.last
      return true
    }
    return value ?? .null
  }

  /// The aggregate of no more models than the limit lets through.
  private func aggregateOfSome(_ kind: QueryAggregate.Kind, _ path: PropertyPath) throws -> Value {
    let run = try request.run { $0.selection = [path] }
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
  /// - Throws: As ``Walk/fetch()``; an error where the sum does not fit the type.
  public func sum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base where V.Base: Numeric {
    let sum = try aggregate(.sum, property)
    if case .null = sum { return 0 }
    return try V.Base(storedValue: sum)
  }

  /// The mean of a property over those that have one; nil where none has.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func average<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> Double? where V.Base: Numeric {
    try Double?(storedValue: try aggregate(.average, property))
  }

  /// The least value of a property; nil where there is none.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func minimum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try aggregate(.minimum, property)) }

  /// The greatest value of a property; nil where there is none.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func maximum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try aggregate(.maximum, property)) }
}
