// Results that are not whole models: some properties, figures, groups. What a query reads comes as
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
    for operand in repeat each operands { paths.append(operand.comparedPath) }
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
  fileprivate init(selected value: Value, _ path: PropertyPath) throws {
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
  fileprivate func withoutFilters(_ call: String) throws -> Query {
    if filters.isEmpty { return self }
    throw DatabaseError.misuse(
      reason: "\(call) does not see whole models, which the query's filter in Swift needs")
  }

  /// The results' values.
  fileprivate func values(
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
    let path = property(Fields<M>()).comparedPath
    if hasLimit { return try measureOfSome(kind, path) }
    let results = try values(kind.rawValue) { description in
      description.grouping = .init([], [QueryMeasure(kind, path)])
      description.orderings = []
    }
    return results.last?.last ?? .null
  }

  /// Whether not all that answer are meant; a description with groups would leave out groups.
  fileprivate var hasLimit: Bool { description.limit != nil || description.offset > 0 }

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

// MARK: Groups

/// A figure over the models of a group.
public struct Aggregate<V: Sendable>: Sendable {
  let measure: QueryMeasure
  fileprivate let read: @Sendable (Value) throws -> V

  /// The figure as groups are tested and ordered by it.
  fileprivate var path: PropertyPath { PropertyPath(measure.name) }
}

extension Aggregate where V: PropertyValue {
  fileprivate init(_ kind: QueryMeasure.Kind, _ path: PropertyPath? = nil) {
    self.init(measure: QueryMeasure(kind, path)) { try V(storedValue: $0) }
  }

  fileprivate func compare(_ comparison: Condition.Comparison, _ value: V) -> Condition {
    Condition(.compare(path, comparison, value.storedValue))
  }

  // Less favoured than a property's, which the compiler would otherwise not name in its errors.

  /// Whether the figure is a value.
  @_disfavoredOverload
  public static func == (a: Aggregate, b: V) -> Condition { a.compare(.equal, b) }
  /// Whether the figure is less than a value.
  public static func < (a: Aggregate, b: V) -> Condition { a.compare(.less, b) }
  /// Whether the figure is a value or less.
  public static func <= (a: Aggregate, b: V) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the figure is greater than a value.
  public static func > (a: Aggregate, b: V) -> Condition { a.compare(.greater, b) }
  /// Whether the figure is a value or greater.
  public static func >= (a: Aggregate, b: V) -> Condition { a.compare(.greaterOrEqual, b) }
}

extension Aggregate: OrderTerm {
  /// Ascending.
  public var ordering: Ordering { Ordering(path) }
  /// Large figures first.
  public var descending: Ordering { ordering.descending }
}

/// Stands for a group: the figures that can be made of its models.
@dynamicMemberLookup public struct GroupFields<M: Model>: Sendable {
  /// A property, to be made a figure of.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    Fields<M>()[dynamicMember: keyPath]
  }

  /// How many models there are.
  public var count: Aggregate<Int> { Aggregate(.count) }

  /// The sum of a property; nil where none has a value.
  public func sum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?>
  where V.Base: Numeric {
    Aggregate(.sum, property.comparedPath)
  }

  /// The mean of a property over those that have one.
  public func average<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<Double?>
  where V.Base: Numeric {
    Aggregate(.average, property.comparedPath)
  }

  /// The least value of a property.
  public func minimum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    Aggregate(.minimum, property.comparedPath)
  }

  /// The greatest value of a property.
  public func maximum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    Aggregate(.maximum, property.comparedPath)
  }
}

/// The groups that the models which answer a query make.
///
///     let report = try query.group(by: \.carrier.name)
///       .having { $0.count > 10 }
///       .select { ($0.count, $0.average($0.departureDelay)) }
public struct Groups<M: Model, K: Sendable>: Sendable {
  fileprivate let query: Query<M>
  fileprivate let paths: [PropertyPath]
  fileprivate let key: @Sendable ([Value]) throws -> K
  private var conditions: [Condition] = []
  private var orderings: [Ordering] = []
  private var limit: Int?
  private var offset = 0

  fileprivate init(
    _ query: Query<M>, _ paths: [PropertyPath], _ key: @escaping @Sendable ([Value]) throws -> K
  ) {
    self.query = query
    self.paths = paths
    self.key = key
  }

  /// Only groups that pass.
  public func having(@ConditionBuilder _ condition: (GroupFields<M>) -> Condition) -> Groups {
    var copy = self
    copy.conditions.append(condition(GroupFields<M>()))
    return copy
  }

  /// Sorts the groups by figures; by their values where it is not called.
  public func order<each T: OrderTerm>(by terms: repeat (GroupFields<M>) -> each T) -> Groups {
    var copy = self
    for term in repeat each terms { copy.orderings.append(term(GroupFields<M>()).ordering) }
    return copy
  }

  /// Ends after so many groups, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Groups {
    var copy = self
    (copy.limit, copy.offset) = (max(count, 0), max(offset, 0))
    return copy
  }

  /// The figures of each group.
  ///
  /// - Parameter body: Names the figures.
  /// - Returns: The values that make the group, and its figures.
  /// - Throws: As ``Query/fetch()``; ``DatabaseError/misuse(reason:)`` where the query has a limit,
  ///   since groups are made of all models that answer.
  public func select<each V: Sendable>(
    _ body: (GroupFields<M>) -> (repeat Aggregate<each V>)
  ) throws -> [(K, repeat each V)] {
    if query.hasLimit {
      throw DatabaseError.misuse(
        reason: "groups are made of all models that answer; limit the groups: group(…).limit(…)")
    }
    let aggregates = body(GroupFields<M>())
    var measures: [QueryMeasure] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    let chosen = paths.count + measures.count
    measures += needed(besides: measures)
    let found = try query.values("group") { description in
      description.grouping = .init(
        paths, measures,
        having: conditions.isEmpty ? nil : Condition(.all(conditions.map(\.test))))
      description.orderings = orderings
      (description.limit, description.offset) = (limit, offset)
    }
    var results: [(K, repeat each V)] = []
    for values in found {
      precondition(values.count >= chosen, "a group has too few values")
      var index = paths.count - 1
      func next<A>(_ aggregate: Aggregate<A>) throws -> A {
        index += 1
        return try aggregate.read(values[index])
      }
      results.append((try key(values), repeat try next(each aggregates)))
    }
    return results
  }

  /// The figures that are tested or ordered by, but not selected.
  private func needed(besides chosen: [QueryMeasure]) -> [QueryMeasure] {
    let fields = conditions.reduce(into: Set(orderings.compactMap(\.path.property))) {
      $0.formUnion($1.propertyNames)
    }
    let known = Set(chosen.map(\.name))
    return fields.subtracting(known).sorted().compactMap { QueryMeasure(name: $0) }
  }
}

extension QueryMeasure {
  /// Reads a figure's name, as in a condition about groups.
  fileprivate init?(name: String) {
    let parts = name.split(separator: "(", maxSplits: 1)
    guard let first = parts.first, let kind = Kind(rawValue: String(first)) else { return nil }
    guard parts.count == 2 else {
      self.init(kind)
      return
    }
    var hops = parts[1].dropLast().split(separator: ".").map(String.init)
    guard let property = hops.popLast() else { return nil }
    self.init(kind, PropertyPath(hops: hops, property))
  }
}

extension Query {
  /// Groups the models that answer by a property, also through references.
  public func group<K: PropertyValue>(
    by property: (Fields<M>) -> Operand<K>
  ) -> Groups<M, K> {
    let path = property(Fields<M>()).comparedPath
    return Groups(self, [path]) { try K(selected: $0[0], path) }
  }

  /// Groups the models that answer by two properties.
  public func group<A: PropertyValue, B: PropertyValue>(
    by a: (Fields<M>) -> Operand<A>, _ b: (Fields<M>) -> Operand<B>
  ) -> Groups<M, (A, B)> {
    let paths = [a(Fields<M>()).comparedPath, b(Fields<M>()).comparedPath]
    return Groups(self, paths) {
      (try A(selected: $0[0], paths[0]), try B(selected: $0[1], paths[1]))
    }
  }

  /// Groups the models that answer by three properties.
  public func group<A: PropertyValue, B: PropertyValue, C: PropertyValue>(
    by a: (Fields<M>) -> Operand<A>, _ b: (Fields<M>) -> Operand<B>,
    _ c: (Fields<M>) -> Operand<C>
  ) -> Groups<M, (A, B, C)> {
    let fields = Fields<M>()
    let paths = [a(fields).comparedPath, b(fields).comparedPath, c(fields).comparedPath]
    return Groups(self, paths) {
      (
        try A(selected: $0[0], paths[0]), try B(selected: $0[1], paths[1]),
        try C(selected: $0[2], paths[2])
      )
    }
  }
}
